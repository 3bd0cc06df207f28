// Asks hwloc for this machine's cores and for those that the process may use.
#include "host/machine.hpp"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "host/cpu_quota.hpp"

namespace heddle::host {

namespace {

struct DestroyTopology {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
struct FreeBitmap {
    void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

/// The machine, and the usable cores as they were when the process first asked (before it bound a thread).
struct Machine {
    std::unique_ptr<hwloc_topology, DestroyTopology> topology;
    std::vector<unsigned> processors;  ///< one hardware thread of each usable core; empty: unknown

    Machine() {
        // Hides what hwloc cannot find out (in a container without /sys): the user can do nothing about it.
        ::setenv("HWLOC_HIDE_ERRORS", "2", 0);
        hwloc_topology_t raw = nullptr;
        if (hwloc_topology_init(&raw)) return;
        topology.reset(raw);
        if (hwloc_topology_load(raw)) return;
        const Bitmap usable(hwloc_bitmap_alloc());
        if (hwloc_get_cpubind(raw, usable.get(), HWLOC_CPUBIND_PROCESS))
            hwloc_bitmap_copy(usable.get(), hwloc_topology_get_allowed_cpuset(raw));
        for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_CORE, core));) {
            const Bitmap here(hwloc_bitmap_dup(core->cpuset));
            hwloc_bitmap_and(here.get(), here.get(), usable.get());
            if (const int first = hwloc_bitmap_first(here.get()); first >= 0)
                processors.push_back(static_cast<unsigned>(first));
        }
    }
};

const Machine& machine() {
    static const Machine the;
    return the;
}

}  // namespace

unsigned machine_cores() {
    static const auto allowed = static_cast<std::size_t>(cpu_quota().value_or(1e6));
    return static_cast<unsigned>(std::max<std::size_t>(std::min(machine().processors.size(), allowed), 1));
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

bool bind_to_core(unsigned index) {
    const Machine& the = machine();
    if (index >= the.processors.size()) return false;
    const Bitmap place(hwloc_bitmap_alloc());
    hwloc_bitmap_only(place.get(), the.processors[index]);
    return hwloc_set_cpubind(the.topology.get(), place.get(), HWLOC_CPUBIND_THREAD) == 0;
}

}  // namespace heddle::host
