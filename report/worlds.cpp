// Writes the report's section that compares simulated times with native ones of the same configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "report/sections.hpp"
#include "report/words.hpp"
#include "results/validation.hpp"

namespace heddle::report {

namespace {

struct Both {
    std::vector<double> simulated, native;
};

using Cases = std::vector<std::pair<std::string, Both>>;

/// Makespans of both worlds by what the combinations have in common but the backend.
Cases cases_of(const Subject& subject, std::size_t backend) {
    const Design& design = subject.design;
    Cases cases;
    std::map<std::string, std::size_t> places;
    for (const Combination& combination : design.combinations) {
        std::string name;
        for (std::size_t i = 0; i < design.factors.size(); ++i) {
            if (i == backend) continue;
            name += fmt::format("{}{} {}", name.empty() ? "" : ", ", design.factors[i].key,
                                design.factors[i].shown(combination.values[i]));
        }
        const auto [place, is_new] = places.try_emplace(name, cases.size());
        if (is_new) cases.emplace_back(name, Both{});
        Both& both = cases[place->second].second;
        for (const std::size_t run : combination.runs) {
            const Run& of = subject.runs.all[run];
            if (!of.ok()) continue;
            if (combination.values[backend] == "native") both.native.push_back(of.number("makespan_seconds"));
            if (combination.values[backend] == "sim") both.simulated.push_back(of.number("makespan_seconds"));
        }
    }
    return cases;
}

/// Then simulated times cannot vary, or have not.
bool all_equal(const std::vector<double>& times) {
    return times.size() > 1 &&
           std::adjacent_find(times.begin(), times.end(), std::not_equal_to<>()) == times.end();
}

}  // namespace

void add_worlds(Page& page, const Subject& subject) {
    const Design& design = subject.design;
    const std::size_t backend = design.find("backend");
    if (backend == design.factors.size()) return;
    const Cases cases = cases_of(subject, backend);
    HtmlTable table("worlds-table", "Medians of both worlds. The interval is a 95% bootstrap of the ratio.",
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
    for (const auto& [name, both] : cases) {
        const auto positive = [](double value) { return value > 0; };
        if (both.simulated.empty() || both.native.empty() ||
            !std::all_of(both.native.begin(), both.native.end(), positive))
            continue;
        const results::RatioVerdict verdict =
            results::ratio_verdict(both.simulated, both.native, all_equal(both.simulated));
        const double ratio = verdict.ratio.value;
        // A single native run has no interval.
        const bool known = verdict.ratio.interval.has_value();
        const results::Interval interval = verdict.ratio.interval.value_or(results::Interval{ratio, ratio});
        table.add({text_value(name), seconds_value(results::median(both.simulated)),
                   seconds_value(results::median(both.native)), decimal_value(ratio, 3),
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
    page.section("worlds", "Simulated against real");
    page.paragraph(
        fmt::format("The simulated time is shown to be within 15% of the native one in {} of {}. The "
                    "median error is {:.1f}%, the largest {:.1f}%.",
                    within, counted_things(errors.size(), "configuration"), 100 * results::median(errors),
                    100 * *std::max_element(errors.begin(), errors.end())));
    page.figure(figure);
    page.table(table);
}

}  // namespace heddle::report
