// Draws efficiency by the size of tasks, and computes METG from it, the smallest task size of 50% efficiency
// (Slaughter et al., "Task Bench", SC 2020: minimum effective task granularity).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/units.hpp"
#include "report/sections.hpp"
#include "report/words.hpp"

namespace heddle::report {

namespace {

constexpr double wanted_efficiency = 0.5;

struct SizePoint {
    double granularity_seconds = 0;  ///< time of all workers for each task
    double efficiency = 0;           ///< share of that time in user work
};

/// The least granularity from which on the efficiency is at least 50%, between two points by the logarithm of
/// granularity. Nothing if no point is below or none above.
std::optional<double> metg(const std::vector<SizePoint>& points) {
    for (std::size_t i = points.size(); i-- > 1;) {
        const SizePoint& small = points[i - 1];
        const SizePoint& large = points[i];
        if (large.efficiency < wanted_efficiency) return std::nullopt;
        if (small.efficiency >= wanted_efficiency) continue;
        const double share = (wanted_efficiency - small.efficiency) / (large.efficiency - small.efficiency);
        return small.granularity_seconds *
               std::pow(large.granularity_seconds / small.granularity_seconds, share);
    }
    return std::nullopt;
}

/// The key that makes tasks larger: a number of the workload's, over which time for each task grows.
std::size_t size_axis_of(const Design& design) {
    for (std::size_t i = 0; i < design.factors.size(); ++i) {
        const Factor& factor = design.factors[i];
        if (factor.is_number && factor.column.starts_with("workload_") && factor.values.size() > 2) return i;
    }
    return design.factors.size();
}

using SizeSeries = std::map<std::string, std::vector<SizePoint>>;

/// Points by the values of the other factors.
SizeSeries series_of(const Subject& subject, std::size_t axis) {
    SizeSeries series;
    for (const Competition& group : subject.findings.groups) {
        for (const Entry& entry : group.entries) {
            double all = 0;
            for (const char* state : {"working", "overhead", "stealing", "waiting", "idle"})
                all += counted(entry, fmt::format("time_seconds_{}", state));
            const double tasks = counted(entry, "tasks");
            if (all <= 0 || tasks <= 0) continue;
            std::string name;
            for (std::size_t i = 0; i < subject.design.factors.size(); ++i) {
                const Factor& factor = subject.design.factors[i];
                if (i == axis) continue;
                name += (name.empty() ? "" : ", ") + factor.shown(subject.combination_of(entry).values[i]);
            }
            series[name].push_back({all / tasks, counted(entry, "time_seconds_working") / all});
        }
    }
    return series;
}

}  // namespace

void add_granularity(Page& page, const Subject& subject) {
    const std::size_t axis = size_axis_of(subject.design);
    if (axis == subject.design.factors.size()) return;
    SizeSeries series = series_of(subject, axis);
    std::set<double> sizes;
    for (auto& [name, points] : series) {
        std::sort(points.begin(), points.end(), [](const SizePoint& a, const SizePoint& b) {
            return a.granularity_seconds < b.granularity_seconds;
        });
        for (const SizePoint& point : points) sizes.insert(point.granularity_seconds);
    }
    if (sizes.size() < 3 || *sizes.rbegin() < 4 * *sizes.begin()) return;
    page.section("granularity", "How small tasks may be");
    HtmlTable table(
        "granularity-table",
        "METG(50%): tasks of this size keep workers at work half of their time; smaller ones do not.",
        {"combination", "METG(50%)", "least size run", "its efficiency"},
        {"combination", "metg_seconds", "granularity_seconds", "efficiency"});
    Figure figure;
    figure.id = "granularity-figure";
    figure.caption = "Share of the workers' time in user work, over the time of all workers for each task.";
    std::size_t number = 0;
    for (const auto& [name, points] : series) {
        const auto least = metg(points);
        table.add({text_value(name), least ? seconds_value(*least) : no_value(),
                   seconds_value(points.front().granularity_seconds),
                   decimal_value(points.front().efficiency, 3)});
        if (number >= line_colours.size()) continue;
        Json x = Json::array(), y = Json::array();
        for (const SizePoint& point : points) {
            x.push_back(point.granularity_seconds);
            y.push_back(point.efficiency);
        }
        figure.traces.push_back({{"type", "scatter"},
                                 {"mode", "lines+markers"},
                                 {"name", figure_label(name.empty() ? "efficiency" : name)},
                                 {"x", x},
                                 {"y", y},
                                 {"line", {{"color", line_colours[number]}}},
                                 {"hovertemplate", "%{x:.3s}s for each task: %{y:.1%}<extra></extra>"}});
        ++number;
    }
    figure.layout = {{"xaxis",
                      {{"title", "time for each task"},
                       {"type", "log"},
                       {"tickformat", "~s"},
                       {"ticksuffix", "s"},
                       {"dtick", log_ticks(*sizes.begin(), *sizes.rbegin())}}},
                     {"yaxis", {{"title", "efficiency"}, {"tickformat", ".0%"}, {"range", {0, 1.02}}}}};
    page.figure(figure);
    page.table(table);
}

}  // namespace heddle::report
