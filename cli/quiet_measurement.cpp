// Repeats disturbed probes, and follows a virtual machine to other cores.
#include "cli/quiet_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "host/wall_clock.hpp"

namespace heddle::cli {

namespace {

using calibration::Probe;
using calibration::Readings;

/// A machine that moves to other cores comes back, or stays there: then `follow_cores` helps.
constexpr int repeats_max = 3, repeats_when_moved = 8;

/// So long the machine may be on other cores before it counts as moved, and so often.
constexpr double patience_seconds = 5;
constexpr unsigned moves_max = 3;

/// What it measures depends on how long a line of the cache takes from core to core.
bool exchanges_lines(const Probe& probe) {
    return probe.nodes > 1 || probe.cores > 1;
}

}  // namespace

std::vector<ProbeReadings> QuietMeasurement::measure(const std::vector<Probe>& probes, const Run& run) {
    std::vector<ProbeReadings> all(probes.size());
    std::vector<std::size_t> due(probes.size());
    std::iota(due.begin(), due.end(), std::size_t{0});
    for (std::size_t next = 0; next < due.size(); ++next) {
        const Probe& probe = probes[due[next]];
        say_(fmt::format("{} of {}: {}", next + 1, due.size(), probe.what));
        all[due[next]] = {probe.name, repeated(probe, run)};
        if (!std::exchange(moved_, false)) continue;
        for (std::size_t i = 0; i < next; ++i) {
            const auto rest = due.begin() + static_cast<std::ptrdiff_t>(next);
            if (exchanges_lines(probes[due[i]]) && std::find(rest, due.end(), due[i]) == due.end())
                due.push_back(due[i]);
        }
    }
    if (repeated_ + disturbed_ != 0)
        say_(fmt::format(
            "{} of {} were measured again, because others used the cores or the machine was moved; {} count "
            "although it was so",
            repeated_, due.size(), disturbed_));
    return all;
}

Readings QuietMeasurement::repeated(const Probe& probe, const Run& run) {
    for (int repeats = 0;; ++repeats) {
        if (exchanges_lines(probe)) follow_cores();
        const double begin = host::wall_seconds();
        watch_.begin();
        Readings readings = run(probe);
        host::Disturbance seen = watch_.end();
        if (!exchanges_lines(probe)) seen.on_other_cores = false;
        (repeats == 0 ? first_seconds_ : repeat_seconds_) += host::wall_seconds() - begin;
        const int most = seen.on_other_cores ? repeats_when_moved : repeats_max;
        if (seen.matters() && repeats < most && repeat_seconds_ < first_seconds_) continue;
        if (repeats != 0) ++repeated_;
        if (seen.matters()) ++disturbed_;
        return readings;
    }
}

void QuietMeasurement::follow_cores() {
    if (moves_ == moves_max || watch_.wait_for_cores(patience_seconds)) return;
    ++moves_;
    moved_ = true;
    const double before = watch_.line_seconds();
    watch_.accept_cores();
    say_(fmt::format(
        "lines of the cache take {:.0f} ns from core to core, and took {:.0f}: what several cores "
        "have measured is measured again",
        1e9 * watch_.line_seconds(), 1e9 * before));
}

}  // namespace heddle::cli
