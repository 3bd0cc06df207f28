// Reads the processor quota of this process's control groups, versions 1 and 2.
#include "host/cpu_quota.hpp"

#include <fstream>

#include "host/control_groups.hpp"

namespace heddle::host {

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

}  // namespace

std::optional<double> cpu_quota(const std::string& membership, const fs::path& mounted) {
    return least_limit(membership, mounted, "cpu", of_version_1, of_version_2);
}

std::optional<double> cpu_quota() {
    return cpu_quota(own_control_groups(), "/sys/fs/cgroup");
}

}  // namespace heddle::host
