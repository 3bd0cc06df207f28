// Walks from each control group of this process up to the root, and returns the least limit that the caller's
// function reads on the way.
#include "host/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace heddle::host {

namespace {

namespace fs = std::filesystem;

bool has(const std::string& controllers, const std::string& controller) {
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');)
        if (name == controller) return true;
    return false;
}

}  // namespace

std::string own_control_groups() {
    std::ifstream file("/proc/self/cgroup");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::optional<double> least_limit(const std::string& membership, const fs::path& mounted,
                                  const std::string& controller, const GroupLimit& version_1,
                                  const GroupLimit& version_2) {
    std::optional<double> least;
    std::istringstream lines(membership);
    for (std::string line; std::getline(lines, line);) {
        // NUMBER:CONTROLLERS:PATH, without controllers in version 2
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (!controllers.empty() && !has(controllers, controller)) continue;
        const fs::path top = controllers.empty() ? mounted : mounted / controller;
        const GroupLimit& limit_of = controllers.empty() ? version_2 : version_1;
        // Inside a container the path may be one outside; the limit that counts is then at the top.
        for (fs::path path = fs::path(line.substr(second + 1)).relative_path();; path = path.parent_path()) {
            if (const auto limit = limit_of(top / path)) least = std::min(least.value_or(*limit), *limit);
            if (path.empty()) break;
        }
    }
    return least;
}

}  // namespace heddle::host
