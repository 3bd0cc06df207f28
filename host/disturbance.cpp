// Compares the time that the usable processors were busy, from /proc/stat, with the processor time of this
// process and its children. What other processors do disturbs neither.
#include "host/disturbance.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "base/busy_arithmetic.hpp"
#include "host/line_exchange.hpp"
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

double spin() {
    constexpr std::uint32_t steps = 200'000;
    const double begin = wall_seconds();
    busy_arithmetic(steps);
    return wall_seconds() - begin;
}

/// How long the loop takes on each usable core now: the shortest of some, because an interrupt is no
/// disturbance.
std::vector<double> spin_on_each_core() {
    std::vector<double> seconds(machine_cores());
    std::thread visitor([&] {
        for (unsigned core = 0; core < seconds.size(); ++core) {
            bind_to_core(core);
            seconds[core] = std::min({spin(), spin(), spin()});
        }
    });
    visitor.join();
    return seconds;
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

DisturbanceWatch::DisturbanceWatch(double line_seconds)
    : line_seconds_(line_seconds > 0 ? line_seconds : line_exchange_seconds()),
      shortest_spins_(spin_on_each_core()) {
    for (int i = 0; i < 9; ++i) note_shortest(spin_on_each_core());
}

void DisturbanceWatch::note_shortest(const std::vector<double>& spins) {
    for (std::size_t core = 0; core < spins.size(); ++core)
        shortest_spins_[core] = std::min(shortest_spins_[core], spins[core]);
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

bool DisturbanceWatch::wait_for_cores(double seconds_max) const {
    constexpr std::chrono::milliseconds pause{500};
    const double end = wall_seconds() + seconds_max;
    while (are_other_cores(line_exchange_seconds(), line_seconds_)) {
        if (wall_seconds() >= end) return false;
        std::this_thread::sleep_for(pause);
    }
    return true;
}

void DisturbanceWatch::accept_cores() {
    if (const double now = line_exchange_seconds(); now > 0) line_seconds_ = now;
}

void DisturbanceWatch::begin() {
    line_before_ = line_exchange_seconds();
    spins_before_ = spin_on_each_core();
    begin_ = now();
}

Disturbance DisturbanceWatch::end() {
    const Times end = now();
    const std::vector<double> spins_after = spin_on_each_core();
    Disturbance disturbance;
    disturbance.on_other_cores = are_other_cores(line_before_, line_seconds_) ||
                                 are_other_cores(line_exchange_seconds(), line_seconds_);
    const double other = end.busy_seconds - begin_.busy_seconds - (end.own_seconds - begin_.own_seconds);
    const double all = (end.wall_seconds - begin_.wall_seconds) * end.processors;
    if (other > 2 * tick_seconds() && all > 0) disturbance.other_share = other / all;
    note_shortest(spins_before_);
    note_shortest(spins_after);
    for (std::size_t core = 0; core < shortest_spins_.size(); ++core) {
        const double longest = std::max(spins_before_[core], spins_after[core]);
        disturbance.slowdown = std::max(disturbance.slowdown, longest / shortest_spins_[core] - 1);
    }
    return disturbance;
}

}  // namespace heddle::host
