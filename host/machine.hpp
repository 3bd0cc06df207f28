// The machine that this process runs on: its name, the usable cores, and binding a thread to a core.
#pragma once

#include <string>

namespace heddle::host {

/// Cores that this process may use: respects taskset, cpusets and what a container may have (cpu_quota.hpp).
/// A core with several hardware threads counts once. At least 1.
unsigned machine_cores();

/// The machine's name, for results.
std::string host_name();

/// Binds the calling thread to the `index`th usable core. False where there is no such core or the system
/// refuses.
bool bind_to_core(unsigned index);

}  // namespace heddle::host
