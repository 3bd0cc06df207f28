// Reads the processor quota of this process's control groups, versions 1 and 2.
#include "runtime/native/cpu_quota.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace heddle::native {

namespace {

namespace fs = std::filesystem;

std::optional<double> of_version_2(const fs::path& group) {
    std::ifstream file(group / "cpu.max");
    double quota = 0;  // or the word "max", which is no number
    double period = 0;
    if (!(file >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
    return quota / period;
}

std::optional<double> of_version_1(const fs::path& group) {
    std::ifstream quota_file(group / "cpu.cfs_quota_us");
    std::ifstream period_file(group / "cpu.cfs_period_us");
    double quota = 0;  // or -1
    double period = 0;
    if (!(quota_file >> quota) || !(period_file >> period) || quota <= 0 || period <= 0) return std::nullopt;
    return quota / period;
}

bool has_cpu(const std::string& controllers) {
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');)
        if (name == "cpu") return true;
    return false;
}

}  // namespace

std::optional<double> cpu_quota(const std::string& membership, const fs::path& mounted) {
    std::optional<double> least;
    std::istringstream lines(membership);
    for (std::string line; std::getline(lines, line);) {
        // NUMBER:CONTROLLERS:PATH, without controllers in version 2
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (!controllers.empty() && !has_cpu(controllers)) continue;
        const fs::path top = controllers.empty() ? mounted : mounted / "cpu";
        // Inside a container the path may be one outside, and what counts is at the top.
        for (fs::path path = fs::path(line.substr(second + 1)).relative_path();; path = path.parent_path()) {
            const auto quota = controllers.empty() ? of_version_2(top / path) : of_version_1(top / path);
            if (quota) least = std::min(least.value_or(*quota), *quota);
            if (path.empty()) break;
        }
    }
    return least;
}

std::optional<double> cpu_quota() {
    std::ifstream file("/proc/self/cgroup");
    const std::string membership{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    return cpu_quota(membership, "/sys/fs/cgroup");
}

}  // namespace heddle::native
