// Draws the report's curves over a numeric key, such as the number of nodes: medians with intervals, an ideal
// machine's time, and the lower bound.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "report/sections.hpp"
#include "report/words.hpp"

namespace heddle::report {

namespace {

constexpr std::size_t curve_figures_max = 6;
constexpr std::size_t series_max = 8;

double axis_number(const std::string& text) {
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// The key to draw over: nodes or cores if they vary, else the one with most values. factors.size() if none.
std::size_t curve_axis_of(const Design& design) {
    for (const char* column : {"platform_nodes", "platform_cores"}) {
        const std::size_t place = design.find(column);
        if (place < design.factors.size() && design.factors[place].is_number) return place;
    }
    std::size_t best = design.factors.size();
    for (std::size_t i = 0; i < design.factors.size(); ++i) {
        const Factor& factor = design.factors[i];
        if (factor.is_number &&
            (best == design.factors.size() || factor.values.size() > design.factors[best].values.size()))
            best = i;
    }
    return best;
}

struct CurvePoint {
    double x = 0;
    const Entry* entry = nullptr;
};
using Series = std::map<std::string, std::vector<CurvePoint>>;

/// Values of the factors in words, without that of the axis.
std::string values_without_axis(const Subject& subject, const Entry& entry,
                                const std::vector<std::size_t>& factors, std::size_t axis, bool with_keys) {
    std::string words;
    for (const std::size_t i : factors) {
        if (i == axis) continue;
        const Factor& factor = subject.design.factors[i];
        words += words.empty() ? "" : ", ";
        if (with_keys) words += factor.key + " ";
        words += factor.shown(subject.combination_of(entry).values[i]);
    }
    return words;
}

Json curve_of(const std::string& name, const std::vector<CurvePoint>& points, const std::string& colour,
              std::size_t number) {
    Json x = Json::array(), y = Json::array(), plus = Json::array(), minus = Json::array();
    for (const CurvePoint& point : points) {
        const results::Line& line = point.entry->line;
        x.push_back(point.x);
        y.push_back(line.median_seconds);
        const results::Interval around =
            line.interval_seconds.value_or(results::Interval{line.median_seconds, line.median_seconds});
        plus.push_back(around.high - line.median_seconds);
        minus.push_back(line.median_seconds - around.low);
    }
    static const std::vector<std::string> symbols = {"circle", "square",        "diamond",  "triangle-up",
                                                     "x",      "triangle-down", "pentagon", "star"};
    return {{"type", "scatter"},
            {"mode", "lines+markers"},
            {"name", figure_label(name.empty() ? "makespan" : name)},
            {"x", x},
            {"y", y},
            {"line", {{"color", colour}, {"width", 2}}},
            {"marker", {{"size", 8}, {"symbol", symbols[number % symbols.size()]}}},
            {"error_y",
             {{"type", "data"},
              {"symmetric", false},
              {"array", plus},
              {"arrayminus", minus},
              {"thickness", 1.5}}},
            {"hovertemplate", "%{fullData.name}<br>%{x}: %{y:.4s}s<extra></extra>"}};
}

Json reference_line(const std::string& name, const std::map<double, double>& points,
                    const std::string& dash) {
    Json x = Json::array(), y = Json::array();
    for (const auto& [at, value] : points) {
        x.push_back(at);
        y.push_back(value);
    }
    return {{"type", "scatter"},
            {"mode", "lines"},
            {"name", name},
            {"x", x},
            {"y", y},
            {"hoverinfo", "skip"},
            {"line", {{"color", "#5a6570"}, {"width", 1.5}, {"dash", dash}}}};
}

bool wide(double least, double most) {
    return least > 0 && most / least >= 4;
}

/// Of the fastest at the least number of nodes or cores: its time, divided by how many times as many there
/// are, and multiplied by how many times as much work there is.
std::map<double, double> ideal_of(const Subject& subject, const std::vector<CurvePoint>& points) {
    const CurvePoint* first = nullptr;
    for (const CurvePoint& point : points) {
        if (!first || point.x < first->x ||
            (point.x == first->x && point.entry->line.median_seconds < first->entry->line.median_seconds))
            first = &point;
    }
    const auto run_of = [&](const CurvePoint& point) -> const Run& {
        return subject.runs.all[subject.combination_of(*point.entry).runs.front()];
    };
    const auto workers_of = [&](const CurvePoint& point) {
        return run_of(point).number("nodes") * run_of(point).number("cores");
    };
    std::map<double, double> ideal;
    if (!first || workers_of(*first) <= 0) return ideal;
    const double work = run_of(*first).number("declared_flops");
    for (const CurvePoint& point : points) {
        const double own = run_of(point).number("declared_flops");
        const double more = work > 0 && own > 0 ? own / work : 1;
        if (workers_of(point) > 0)
            ideal[point.x] =
                first->entry->line.median_seconds * more * workers_of(*first) / workers_of(point);
    }
    return ideal;
}

Figure curve_figure_of(const Subject& subject, std::size_t axis, const std::string& where,
                       const Series& series, const std::string& id) {
    const Factor& factor = subject.design.factors[axis];
    Figure figure;
    figure.id = id;
    figure.height = 420;
    figure.caption = fmt::format("Median makespan over {}{}, with 95% intervals.", factor.key,
                                 where.empty() ? "" : " at " + where);
    std::vector<CurvePoint> all;
    std::size_t number = 0;
    for (const auto& [name, points] : series) {
        if (number < series_max)
            figure.traces.push_back(
                curve_of(name, points, line_colours[number % line_colours.size()], number));
        ++number;
        all.insert(all.end(), points.begin(), points.end());
    }
    if (number > series_max)
        figure.caption += fmt::format(" The first {} of {} series; the tables have all.", series_max, number);
    const bool machine = factor.column == "platform_nodes" || factor.column == "platform_cores";
    if (machine) {
        figure.traces.push_back(reference_line("ideal", ideal_of(subject, all), "dash"));
        figure.caption += " Ideal: the fastest at the left, if every worker did an equal share.";
    }
    std::map<double, double> bounds;
    double least_x = 1e300, most_x = 0, least_y = 1e300, most_y = 0;
    for (const CurvePoint& point : all) {
        const results::Line& line = point.entry->line;
        least_x = std::min(least_x, point.x);
        most_x = std::max(most_x, point.x);
        least_y = std::min(least_y, line.median_seconds);
        most_y = std::max(most_y, line.median_seconds);
        if (!line.lower_bound_seconds) continue;
        const auto [place, is_new] = bounds.try_emplace(point.x, *line.lower_bound_seconds);
        if (!is_new) place->second = std::min(place->second, *line.lower_bound_seconds);
    }
    if (bounds.size() > 1) {
        figure.traces.push_back(reference_line("lower bound", bounds, "dot"));
        figure.caption += " Lower bound: no schedule can be shorter.";
    }
    figure.layout = {
        {"xaxis", {{"title", figure_label(factor.key + (factor.unit.empty() ? "" : ", " + factor.unit))}}},
        {"yaxis", {{"title", "makespan"}, {"tickformat", "~s"}, {"ticksuffix", "s"}}}};
    if (wide(least_x, most_x)) {
        figure.layout["xaxis"]["type"] = "log";
        Json ticks = Json::array();
        for (const std::string& value : factor.values) ticks.push_back(axis_number(value));
        if (ticks.size() <= 12) figure.layout["xaxis"]["tickvals"] = ticks;
        figure.layout["xaxis"]["ticktext"] = Json::array();
        for (const std::string& value : factor.values)
            figure.layout["xaxis"]["ticktext"].push_back(figure_label(factor.shown(value)));
        if (ticks.size() > 12) {
            figure.layout["xaxis"].erase("ticktext");
            figure.layout["xaxis"]["dtick"] = log_ticks(least_x, most_x);
        }
    }
    if (wide(least_y, most_y)) {
        figure.layout["yaxis"]["type"] = "log";
        figure.layout["yaxis"]["dtick"] = log_ticks(least_y, most_y);
    } else {
        figure.layout["yaxis"]["rangemode"] = "tozero";
    }
    return figure;
}

}  // namespace

void add_curves(Page& page, const Subject& subject) {
    const std::size_t axis = curve_axis_of(subject.design);
    if (axis == subject.design.factors.size()) return;
    // A figure for each value of the other common keys; a curve for each competitor.
    std::vector<std::string> places;
    std::map<std::string, Series> figures;
    for (const Competition& group : subject.findings.groups) {
        for (const Entry& entry : group.entries) {
            if (entry.line.runs == 0) continue;
            const std::string where =
                values_without_axis(subject, entry, subject.findings.common, axis, true);
            if (!figures.contains(where)) places.push_back(where);
            figures[where][values_without_axis(subject, entry, subject.findings.competing, axis, false)]
                .push_back({axis_number(subject.combination_of(entry).values[axis]), &entry});
        }
    }
    if (figures.empty()) return;
    page.section("curves", fmt::format("Over {}", subject.design.factors[axis].key));
    for (std::size_t i = 0; i < std::min(places.size(), curve_figures_max); ++i) {
        Series& series = figures[places[i]];
        for (auto& [name, points] : series)
            std::stable_sort(points.begin(), points.end(),
                             [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
        page.figure(curve_figure_of(subject, axis, places[i], series, fmt::format("curve-{}", i + 1)));
    }
    if (places.size() > curve_figures_max)
        page.paragraph(fmt::format("These are the first {} of {} such figures; the tables have all numbers.",
                                   curve_figures_max, places.size()));
    page.paragraph("The numbers are in the tables of <a href=\"#comparison\">the comparison</a>.");
}

}  // namespace heddle::report
