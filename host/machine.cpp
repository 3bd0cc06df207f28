// Asks hwloc for this machine's cores and for those that the process may use.
#include "host/machine.hpp"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
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
    std::vector<unsigned> by_memory;   ///< as `cores_by_memory`
    std::vector<unsigned> threads;     ///< as `usable_processors`

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
        for (hwloc_obj_t one = nullptr; (one = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_PU, one));)
            if (hwloc_bitmap_isset(usable.get(), one->os_index)) threads.push_back(one->os_index);
        hwloc_obj_t last = nullptr;
        for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_CORE, core));) {
            const Bitmap here(hwloc_bitmap_dup(core->cpuset));
            hwloc_bitmap_and(here.get(), here.get(), usable.get());
            const int first = hwloc_bitmap_first(here.get());
            if (first < 0) continue;
            processors.push_back(static_cast<unsigned>(first));
            auto* const memory = memory_of(core);
            if (by_memory.empty() || memory != last) by_memory.push_back(0);
            ++by_memory.back();
            last = memory;
        }
    }

    /// The NUMA node nearest to `core`.
    hwloc_obj_t memory_of(hwloc_obj_t core) const {
        for (hwloc_obj_t node = nullptr;
             (node = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, node));)
            if (hwloc_bitmap_isincluded(core->cpuset, node->cpuset)) return node;
        return nullptr;
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

const std::vector<unsigned>& usable_processors() {
    return machine().threads;
}

ProcessorSet usable_processor_set() {
    ProcessorSet set;
    for (const unsigned processor : usable_processors()) {
        if (processor >= set.size()) return {};
        set.set(processor);
    }
    return set;
}

std::optional<CoreShare> core_share(std::span<const ProcessorSet> sets, std::size_t process) {
    const ProcessorSet& own = sets[process];
    CoreShare share{0, 0};
    for (std::size_t other = 0; other < sets.size(); ++other) {
        const ProcessorSet& set = sets[other];
        if (set.none() || (set != own && (set & own).any())) return std::nullopt;
        if (set != own) continue;
        if (other < process) ++share.rank;
        ++share.count;
    }
    return share;
}

std::vector<unsigned> cores_by_memory() {
    return machine().by_memory;
}

std::vector<Cache> caches() {
    const Machine& the = machine();
    std::vector<Cache> found;
    if (the.processors.empty()) return found;
    hwloc_obj_t object = hwloc_get_pu_obj_by_os_index(the.topology.get(), the.processors.front());
    for (; object; object = object->parent) {
        if (!hwloc_obj_type_is_dcache(object->type)) continue;
        const int cores =
            hwloc_get_nbobjs_inside_cpuset_by_type(the.topology.get(), object->cpuset, HWLOC_OBJ_CORE);
        found.push_back(
            {object->attr->cache.depth, object->attr->cache.size, static_cast<unsigned>(std::max(cores, 1))});
    }
    return found;
}

unsigned first_core_of(unsigned process, unsigned processes, unsigned workers,
                       const std::vector<unsigned>& groups) {
    unsigned before = 0;  // processes in the groups so far
    unsigned begin = 0;   // of the present group
    unsigned found = process * workers;
    for (const unsigned cores : groups) {
        const unsigned here = workers > 0 ? cores / workers : 0;
        if (process >= before && process - before < here) found = begin + (process - before) * workers;
        before += here;
        begin += cores;
    }
    return before >= processes ? found : process * workers;
}

std::vector<unsigned> cores_beside(unsigned process, unsigned processes, unsigned workers,
                                   const std::vector<unsigned>& groups, unsigned cores) {
    std::vector<unsigned> found(cores);
    std::iota(found.begin(), found.end(), 0U);
    for (unsigned other = 0; other < processes; ++other) {
        if (other == process) continue;
        const unsigned first = first_core_of(other, processes, workers, groups);
        std::erase_if(found, [&](unsigned core) { return core >= first && core - first < workers; });
    }
    return found;
}

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

bool bind_to_core(unsigned index) {
    return bind_to_cores({index});
}

bool bind_to_cores(const std::vector<unsigned>& indices) {
    if (indices.empty()) return true;
    const Machine& the = machine();
    const Bitmap place(hwloc_bitmap_alloc());
    for (const unsigned index : indices) {
        if (index >= the.processors.size()) return false;
        hwloc_bitmap_set(place.get(), the.processors[index]);
    }
    return hwloc_set_cpubind(the.topology.get(), place.get(), HWLOC_CPUBIND_THREAD) == 0;
}

bool bind_to_all_cores() {
    const Bitmap place(hwloc_bitmap_alloc());
    for (const unsigned processor : usable_processors()) hwloc_bitmap_set(place.get(), processor);
    return hwloc_set_cpubind(machine().topology.get(), place.get(), HWLOC_CPUBIND_THREAD) == 0;
}

}  // namespace heddle::host
