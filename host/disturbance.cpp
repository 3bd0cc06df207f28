// Compares the time that the usable processors were busy, from /proc/stat, with the processor time of this
// process and its children. What other processors do disturbs neither.
#include "host/disturbance.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include "host/machine.hpp"
#include "host/wall_clock.hpp"

namespace heddle::host {

namespace {

double seconds_in(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double processor_seconds(int whose) {
    rusage usage{};
    getrusage(whose, &usage);
    return seconds_in(usage.ru_utime) + seconds_in(usage.ru_stime);
}

double tick_seconds() {
    return 1.0 / static_cast<double>(std::max(1L, sysconf(_SC_CLK_TCK)));
}

}  // namespace

ProcessorUse processor_use(std::istream& text, const std::vector<unsigned>& processors) {
    ProcessorUse use;
    for (std::string line; std::getline(text, line) && line.starts_with("cpu");) {
        std::istringstream words(line.substr(3));
        unsigned number = 0;
        if (line.starts_with("cpu ") || !(words >> number)) continue;  // all of them together
        if (!processors.empty() && std::ranges::find(processors, number) == processors.end()) continue;
        std::array<double, 8> ticks{};  // user nice system idle iowait irq softirq steal
        for (double& one : ticks) words >> one;
        for (const std::size_t busy : {0U, 1U, 2U, 5U, 6U, 7U}) use.busy_ticks += ticks[busy];
        ++use.processors;
    }
    return use;
}

DisturbanceWatch::DisturbanceWatch() {
    shortest_spin_ = spin();
    for (int i = 0; i < 9; ++i) shortest_spin_ = std::min(shortest_spin_, spin());
}

double DisturbanceWatch::spin() {
    constexpr std::uint32_t steps = 1'000'000;
    const double begin = wall_seconds();
    volatile std::uint64_t value = 1;
    std::uint64_t x = value;
    // Each step waits for the one before: no compiler and no core can skip or overlap them.
    for (std::uint32_t i = 0; i < steps; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
    value = x;
    return wall_seconds() - begin;
}

DisturbanceWatch::Times DisturbanceWatch::now() {
    Times times;
    std::ifstream file("/proc/stat");
    const ProcessorUse use = processor_use(file, usable_processors());
    times.busy_seconds = use.busy_ticks * tick_seconds();
    times.processors = use.processors;
    times.own_seconds = processor_seconds(RUSAGE_SELF) + processor_seconds(RUSAGE_CHILDREN);
    times.wall_seconds = wall_seconds();
    return times;
}

void DisturbanceWatch::begin() {
    spin_before_ = spin();
    begin_ = now();
}

Disturbance DisturbanceWatch::end() {
    const Times end = now();
    const double spin_after = spin();
    Disturbance disturbance;
    const double other = end.busy_seconds - begin_.busy_seconds - (end.own_seconds - begin_.own_seconds);
    const double all = (end.wall_seconds - begin_.wall_seconds) * end.processors;
    if (other > 2 * tick_seconds() && all > 0) disturbance.other_share = other / all;
    shortest_spin_ = std::min({shortest_spin_, spin_before_, spin_after});
    disturbance.slowdown = std::max(spin_before_, spin_after) / shortest_spin_ - 1;
    return disturbance;
}

}  // namespace heddle::host
