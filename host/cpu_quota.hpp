// Reads how much processor time Linux lets this process's control groups have: the limit that `docker run
// --cpus` sets.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace heddle::host {

/// In processors: 1.5 is the time of one and a half. The least of the process's control group and all above
/// it, in version 1 or 2 of control groups; nothing where none is limited. `membership`: the text of
/// /proc/self/cgroup; `mounted`: the directory where control groups are.
std::optional<double> cpu_quota(const std::string& membership, const std::filesystem::path& mounted);

/// That of this process.
std::optional<double> cpu_quota();

}  // namespace heddle::host
