// How much memory this process may still take. The machine, Linux's control groups and the limit of the
// address space each set a bound.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace heddle::host {

/// In bytes: what is left of the narrowest limit of the process's control group and all above it, in version
/// 1 or 2 of control groups; nothing where none is limited. `membership`: the text of /proc/self/cgroup;
/// `mounted`: the directory where control groups are.
std::optional<double> memory_left_in_group(const std::string& membership,
                                           const std::filesystem::path& mounted);

/// The least of the machine's available memory, the control group's and `ulimit -v`; nothing if none is
/// known.
std::optional<double> available_memory_bytes();

}  // namespace heddle::host
