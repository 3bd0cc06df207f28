// Prints the result of a benchmark program as one line of JSON, which compare.py reads. Programs of other
// libraries use it too, so it includes nothing of Heddle.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::bench {

inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor time of all threads of this process.
inline double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Sets `seconds` and `cpu` of what it is given to the wall and processor time of its life.
template <class Measured>
class Clock {
public:
    explicit Clock(Measured& into) : into_(into) {}
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    ~Clock() {
        into_.seconds = seconds_now() - begin_;
        into_.cpu = cpu_seconds() - cpu_begin_;
    }

private:
    Measured& into_;
    double begin_ = seconds_now();
    double cpu_begin_ = cpu_seconds();
};

/// The most memory that this process has had, in MB (10^6 bytes); 0 where the system does not say. Not
/// getrusage: that counts the process which started this one.
inline double peak_mb() {
    std::FILE* file = std::fopen("/proc/self/status", "r");
    if (!file) return 0;
    char line[256];
    unsigned long kilobytes = 0;
    while (std::fgets(line, sizeof line, file))
        if (std::sscanf(line, "VmHWM: %lu", &kilobytes) == 1) break;
    std::fclose(file);
    return static_cast<double>(kilobytes) * 1024 / 1e6;
}

/// The value below which a share `part` of all lie.
inline double quantile(std::vector<double> values, double part) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

/// Collects names and numbers, and prints them.
class Outcome {
public:
    Outcome& add(std::string_view name, double value) {
        char number[64];
        std::snprintf(number, sizeof number, "%.17g", value);
        text_ += (text_.empty() ? "{\"" : ", \"") + std::string(name) + "\": " + number;
        return *this;
    }
    void print() const {
        std::printf("%s}\n", text_.c_str());
        std::fflush(stdout);
    }

private:
    std::string text_;
};

}  // namespace heddle::bench
