// Writes the report's section that compares simulated times with native ones of the same configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "report/sections.hpp"
#include "report/words.hpp"
#include "report/world_pairs.hpp"
#include "results/validation.hpp"

namespace heddle::report {

namespace {

std::vector<double> makespans_of(const Subject& subject, std::size_t combination) {
    std::vector<double> makespans;
    for (const std::size_t run : subject.design.combinations[combination].runs) {
        const Run& of = subject.runs.all[run];
        if (of.ok()) makespans.push_back(of.number("makespan_seconds"));
    }
    return makespans;
}

/// Then simulated times cannot vary, or have not.
bool all_equal(const std::vector<double>& times) {
    return times.size() > 1 &&
           std::adjacent_find(times.begin(), times.end(), std::not_equal_to<>()) == times.end();
}

}  // namespace

void add_worlds(Page& page, const Subject& subject) {
    const WorldPairs worlds = world_pairs(subject.runs, subject.design);
    HtmlTable table("worlds-table",
                    "Medians of both worlds. The interval is the ratio's, with 95% confidence.",
                    {"configuration", "simulated", "native", "simulated / native", "from", "to", "within 5%",
                     "within 15%"},
                    {"configuration", "simulated_seconds", "native_seconds", "ratio", "low", "high",
                     "within_5_percent", "within_15_percent"});
    Figure figure;
    figure.id = "worlds-figure";
    figure.caption = "Simulated makespan over the native one. On the line the simulator is right.";
    Json trace = {{"type", "scatter"},
                  {"mode", "markers"},
                  {"x", Json::array()},
                  {"y", Json::array()},
                  {"showlegend", false},
                  {"marker", {{"size", 9}, {"color", line_colours[0]}}},
                  {"hovertemplate", "%{y}: %{x:.3f}<extra></extra>"}};
    std::vector<double> errors;
    std::size_t within = 0;
    Json plus = Json::array(), minus = Json::array();
    for (const WorldPair& pair : worlds.pairs) {
        const std::vector<double> simulated = makespans_of(subject, pair.simulated);
        const std::vector<double> native = makespans_of(subject, pair.native);
        const auto positive = [](double value) { return value > 0; };
        if (simulated.empty() || native.empty() || !std::all_of(native.begin(), native.end(), positive))
            continue;
        const std::string name = name_of(pair, subject.design);
        const results::RatioVerdict verdict =
            results::ratio_verdict({simulated, all_equal(simulated)}, {native});
        const double ratio = verdict.ratio.value;
        // Few runs have no interval.
        const bool known = verdict.ratio.interval.has_value();
        const results::Interval interval = verdict.ratio.interval.value_or(results::Interval{ratio, ratio});
        table.add({text_value(name), seconds_value(results::median(simulated)),
                   seconds_value(results::median(native)), decimal_value(ratio, 3),
                   known ? decimal_value(interval.low, 3) : no_value(),
                   known ? decimal_value(interval.high, 3) : no_value(),
                   text_value(results::name(verdict.within_narrow)),
                   text_value(results::name(verdict.within_wide))});
        errors.push_back(std::abs(ratio - 1));
        within += verdict.within_wide == results::Equivalence::within ? 1 : 0;
        trace["x"].push_back(ratio);
        trace["y"].push_back(figure_label(name.empty() ? "all" : name));
        plus.push_back(interval.high - ratio);
        minus.push_back(ratio - interval.low);
    }
    if (table.rows() == 0 && worlds.apart == 0) return;
    page.section("worlds", "Simulated against real");
    if (worlds.apart > 0)
        page.paragraph(
            fmt::format("{} ran natively, and in simulation only by another program or with other input "
                        "files: no time is compared.",
                        counted_things(worlds.apart, "configuration")));
    if (table.rows() == 0) return;
    trace["error_x"] = {{"type", "data"}, {"symmetric", false}, {"array", plus}, {"arrayminus", minus}};
    figure.traces.push_back(std::move(trace));
    figure.height = 90 + 30 * static_cast<int>(table.rows());
    figure.layout = {{"xaxis", {{"title", "simulated / native"}, {"rangemode", "tozero"}}},
                     {"yaxis", {{"type", "category"}, {"autorange", "reversed"}}},
                     {"shapes", Json::array({{{"type", "line"},
                                              {"x0", 1},
                                              {"x1", 1},
                                              {"y0", 0},
                                              {"y1", 1},
                                              {"yref", "paper"},
                                              {"line", {{"color", "#5a6570"}, {"dash", "dot"}}}}})}};
    page.paragraph(
        fmt::format("The simulated time is shown to be within 15% of the native one in {} of {}. The "
                    "median error is {:.1f}%, the largest {:.1f}%.",
                    within, counted_things(errors.size(), "configuration"), 100 * results::median(errors),
                    100 * *std::max_element(errors.begin(), errors.end())));
    page.figure(figure);
    page.table(table);
}

}  // namespace heddle::report
