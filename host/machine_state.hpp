// Collects what this machine lets a process have at this moment, for `heddle doctor`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::host {

struct MachineState {
    std::string kernel;                ///< its release
    double load = 0;                   ///< processes that ran or wanted to, on average of the last minute
    std::optional<double> quota;       ///< cpu_quota
    std::uint64_t open_files_max = 0;  ///< to which a process may raise its limit
    std::uint64_t processes_max = 0;   ///< of this user
    std::uint64_t memory_bytes = 0;    ///< of the machine
};

MachineState machine_state();

}  // namespace heddle::host
