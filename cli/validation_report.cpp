// Puts a validation into words: times and verdicts, counts of both worlds, and the total.
#include "cli/validation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.hpp"
#include "cli/text_table.hpp"

namespace heddle::cli {

namespace {

using results::Validation;
using results::ValidationLine;
using results::WorldMedians;

std::string line_name(const ValidationLine& line, const std::vector<std::string>& keys) {
    std::string words;
    for (std::size_t i = 0; i < keys.size(); ++i)
        words += fmt::format("{}{}={}", i == 0 ? "" : " ", keys[i], line.values[i]);
    return words.empty() ? "all" : words;
}

std::string seconds_or_dash(std::optional<double> seconds) {
    return seconds ? show_seconds(*seconds) : "-";
}

/// The state that most of the error is in: `idle +12%`.
std::string blame(const ValidationLine& line) {
    const auto most = std::max_element(
        line.parts.begin(), line.parts.end(),
        [](const auto& a, const auto& b) { return std::abs(a.second) < std::abs(b.second); });
    if (most == line.parts.end() || std::abs(most->second) < 0.005) return "-";
    return fmt::format("{} {:+.0f}%", most->first, 100 * most->second);
}

std::string percent_or_dash(std::optional<double> part) {
    return part ? fmt::format("{:+.1f}%", 100 * *part) : "-";
}

/// What the errors are made of; nothing without replays.
std::string replays_table(const Validation& validation) {
    std::vector<std::vector<std::string>> rows = {
        {"", "replayed runs", "native", "replayed", "simulated", "timing", "scheduling"}};
    for (const ValidationLine& line : validation.lines) {
        if (!line.replays) continue;
        const results::ReplayMedians& replays = *line.replays;
        rows.push_back({line_name(line, validation.keys), std::to_string(replays.runs),
                        show_seconds(replays.native), show_seconds(replays.replayed),
                        seconds_or_dash(replays.simulated), percent_or_dash(replays.timing_error()),
                        percent_or_dash(replays.scheduling_error())});
    }
    return rows.size() == 1 ? std::string() : columns(rows, 1) + "\n";
}

std::string times_table(const Validation& validation) {
    std::vector<std::vector<std::string>> rows = {
        {"", "runs", "native", "simulated", "ratio", "from", "to", "within 5%", "within 15%", "mostly"}};
    for (const ValidationLine& line : validation.lines) {
        const auto& interval = line.ratio ? line.ratio->interval : std::nullopt;
        rows.push_back({line_name(line, validation.keys),
                        fmt::format("{}+{}", line.native_runs, line.simulated_runs),
                        seconds_or_dash(line.native_seconds), seconds_or_dash(line.simulated_seconds),
                        line.ratio ? fmt::format("{:.3f}", line.ratio->value) : "-",
                        interval ? fmt::format("{:.3f}", interval->low) : "-",
                        interval ? fmt::format("{:.3f}", interval->high) : "-", name(line.within_narrow),
                        name(line.within_wide), blame(line)});
    }
    return columns(rows, 1);
}

/// As a person reads it: times and bytes with units.
std::string counted_text(const std::string& what, std::optional<double> value) {
    if (!value) return "-";
    if (what.starts_with("time_")) return show_seconds(*value);
    if (what.ends_with("bytes")) return show_bytes(*value);
    return grouped(static_cast<std::uint64_t>(std::llround(*value)));
}

/// Counts that are zero in both worlds everywhere tell nothing.
std::string counts_table(const Validation& validation) {
    constexpr std::array shown = {"tasks",
                                  "steals_within_node",
                                  "steals_between_nodes",
                                  "messages",
                                  "bytes",
                                  "time_seconds_working",
                                  "time_seconds_overhead",
                                  "time_seconds_stealing",
                                  "time_seconds_waiting",
                                  "time_seconds_idle"};
    std::vector<std::vector<std::string>> rows = {{"", "median of", "native", "simulated"}};
    for (const ValidationLine& line : validation.lines) {
        std::string title = line_name(line, validation.keys);
        for (const WorldMedians& medians : line.counted) {
            if (std::find(shown.begin(), shown.end(), medians.what) == shown.end()) continue;
            if (medians.native.value_or(0) == 0 && medians.simulated.value_or(0) == 0) continue;
            rows.push_back({std::exchange(title, ""), medians.what,
                            counted_text(medians.what, medians.native),
                            counted_text(medians.what, medians.simulated)});
        }
    }
    return columns(rows, 2);
}

std::string total_of(const Validation& validation) {
    const std::size_t undecided = validation.lines.size() - validation.passed() - validation.failed();
    std::string text =
        fmt::format("{} of {} configurations within 15%, {} not, {} undecided", validation.passed(),
                    validation.lines.size(), validation.outside(), undecided);
    if (const std::size_t failed = validation.failed() - validation.outside())
        text += fmt::format(", {} failed", failed);
    if (validation.median_error)
        text += fmt::format("; error: median {:.1f}%, largest {:.1f}%", 100 * *validation.median_error,
                            100 * *validation.largest_error);
    text += "\n";
    const results::Ranking& ranking = validation.ranking;
    if (ranking.pairs > 0)
        text += fmt::format(
            "of {} pairs that differ significantly natively, the simulator has the same winner in {}\n",
            ranking.pairs, ranking.alike);
    std::size_t repeated = 0, disturbed = 0, runs = 0, other_tasks = 0, bad = 0;
    bool too_few = false;
    for (const ValidationLine& line : validation.lines) {
        too_few = too_few || (line.ratio && !line.ratio->interval);
        repeated += line.repeated;
        disturbed += line.disturbed;
        runs += line.native_runs;
        bad += line.bad;
        other_tasks += line.same_tasks == false ? 1 : 0;
    }
    text += fmt::format(
        "{} disturbed runs were repeated; {} of {} native runs count although they were disturbed\n",
        repeated, disturbed, runs);
    if (too_few)
        text += fmt::format("too few runs for an interval of each ratio: it takes {} in each world\n",
                            results::interval_values(results::interval_confidence));
    if (other_tasks > 0)
        text += fmt::format("{} configurations run other numbers of tasks in simulation than natively\n",
                            other_tasks);
    if (bad > 0) text += fmt::format("{} runs failed or were wrong\n", bad);
    return text;
}

}  // namespace

std::string validation_text(const Validation& validation) {
    return times_table(validation) + "\n" + replays_table(validation) + counts_table(validation) + "\n" +
           total_of(validation);
}

}  // namespace heddle::cli
