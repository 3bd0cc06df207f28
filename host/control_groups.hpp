// The control groups that Linux counts this process in, versions 1 and 2. It finds their folders; the limits
// in them are for callers to read.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace heddle::host {

/// The text of /proc/self/cgroup.
std::string own_control_groups();

/// What a control group allows: `group` is its folder. Nothing if it sets no limit.
using GroupLimit = std::function<std::optional<double>(const std::filesystem::path& group)>;

/// The least limit of the process's control groups and all groups above them; nothing if none is set.
/// `membership`: the text of /proc/self/cgroup; `mounted`: the folder where control groups are; `controller`:
/// "cpu" or "memory"; `version_1` and `version_2` read the limit of a group of that version.
std::optional<double> least_limit(const std::string& membership, const std::filesystem::path& mounted,
                                  const std::string& controller, const GroupLimit& version_1,
                                  const GroupLimit& version_2);

}  // namespace heddle::host
