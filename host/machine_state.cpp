// Reads from /proc, /sys and system calls what Linux grants this process now: cores, load, memory, limits.
#include "host/machine_state.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>

#include "host/cpu_quota.hpp"

namespace heddle::host {

namespace {

std::uint64_t hard_limit(decltype(RLIMIT_NOFILE) what) {
    rlimit limit{};
    return getrlimit(what, &limit) == 0 ? limit.rlim_max : 0;
}

}  // namespace

MachineState machine_state() {
    MachineState state;
    utsname names{};
    if (uname(&names) == 0) state.kernel = names.release;
    double load = 0;
    if (getloadavg(&load, 1) == 1) state.load = load;
    state.quota = cpu_quota();
    state.open_files_max = hard_limit(RLIMIT_NOFILE);
    state.processes_max = hard_limit(RLIMIT_NPROC);
    state.memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return state;
}

}  // namespace heddle::host
