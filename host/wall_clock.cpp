// Reads the steady clock and the peak memory of this process.
#include "host/wall_clock.hpp"

#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <string>

namespace heddle::host {

double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t peak_memory_bytes() {
    // Not getrusage alone: its figure survives an exec, and then tells of the program that started this one.
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::uint64_t peak_memory_of_helpers_bytes() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace heddle::host
