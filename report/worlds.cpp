// Simulated times beside native ones of the same configuration.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/sections.hpp"
#include "report/words.hpp"
#include "results/statistics.hpp"

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

}  // namespace

void add_worlds(Page& page, const Subject& subject) {
    const Design& design = subject.design;
    const std::size_t backend = design.find("backend");
    if (backend == design.factors.size()) return;
    const Cases cases = cases_of(subject, backend);
    HtmlTable table("worlds-table", "Medians of both worlds. The interval is a 95% bootstrap of the ratio.",
                    {"configuration", "simulated", "native", "simulated / native", "from", "to"},
                    {"configuration", "simulated_seconds", "native_seconds", "ratio", "low", "high"});
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
    Json plus = Json::array(), minus = Json::array();
    for (const auto& [name, both] : cases) {
        const auto positive = [](double value) { return value > 0; };
        if (both.simulated.empty() || both.native.empty() ||
            !std::all_of(both.native.begin(), both.native.end(), positive))
            continue;
        const double simulated = results::median(both.simulated), native = results::median(both.native);
        const double ratio = simulated / native;
        const results::Interval interval = results::bootstrap_ratio_of_medians(
            both.simulated, both.native, results::confidence, results::bootstrap_resamples,
            Random(results::bootstrap_seed));
        table.add({text_value(name), seconds_value(simulated), seconds_value(native), decimal_value(ratio, 3),
                   decimal_value(interval.low, 3), decimal_value(interval.high, 3)});
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
    page.figure(figure);
    page.table(table);
}

}  // namespace heddle::report
