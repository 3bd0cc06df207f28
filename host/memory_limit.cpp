// Computes how much memory this process may still take: the least of what the machine, the control groups and
// the address space leave.
#include "host/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "host/control_groups.hpp"

namespace heddle::host {

namespace {

namespace fs = std::filesystem;

/// The number that is all of a file.
std::optional<double> number_in(const fs::path& path) {
    std::ifstream file(path);
    double number = 0;  // or the word "max", which is none
    return file >> number ? std::optional(number) : std::nullopt;
}

/// The number that follows `key` in a file of such lines, or 0.
double value_of(const std::string& key, const fs::path& path) {
    std::ifstream file(path);
    for (std::string word; file >> word;) {
        double number = 0;
        if (word == key && file >> number) return number;
    }
    return 0;
}

/// Cached pages of files count as used, and are given up where memory is wanted.
std::optional<double> left_in(const fs::path& limit, const fs::path& used, const fs::path& group) {
    const auto most = number_in(group / limit);
    const auto now = number_in(group / used);
    if (!most || !now) return std::nullopt;
    const double cached = value_of("inactive_file", group / "memory.stat");
    return std::max(0.0, *most - *now + cached);
}

std::optional<double> least(std::optional<double> a, std::optional<double> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

std::optional<double> left_of_machine() {
    constexpr double kibibyte = 1024;
    const double available = value_of("MemAvailable:", "/proc/meminfo");
    return available > 0 ? std::optional(available * kibibyte) : std::nullopt;
}

std::optional<double> left_of_address_space() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    const double pages = number_in("/proc/self/statm").value_or(0);
    const double used = pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
    return std::max(0.0, static_cast<double>(limit.rlim_cur) - used);
}

}  // namespace

std::optional<double> memory_left_in_group(const std::string& membership, const fs::path& mounted) {
    return least_limit(
        membership, mounted, "memory",
        [](const fs::path& group) {
            return left_in("memory.limit_in_bytes", "memory.usage_in_bytes", group);
        },
        [](const fs::path& group) { return left_in("memory.max", "memory.current", group); });
}

std::optional<double> available_memory_bytes() {
    return least(least(left_of_machine(), memory_left_in_group(own_control_groups(), "/sys/fs/cgroup")),
                 left_of_address_space());
}

}  // namespace heddle::host
