// Draws the report's heat maps of placement by stealing policy: the median makespan of each pair over that of
// the fastest pair.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/sections.hpp"

namespace heddle::report {

namespace {

constexpr std::size_t heat_maps_max = 4;

/// The best median of each pair of values, of all combinations that have it.
using Medians = std::map<std::pair<std::string, std::string>, double>;

Figure heat_map_of(const Factor& placement, const Factor& stealing, const Medians& medians, double best,
                   const std::string& where, const std::string& id) {
    Figure figure;
    figure.id = id;
    figure.height = 130 + 44 * static_cast<int>(placement.values.size());
    figure.caption = fmt::format("Median makespan over the least{}: 1.00 is the fastest pair, dark is slow.",
                                 where.empty() ? "" : " at " + where);
    Json z = Json::array(), x = Json::array(), y = Json::array();
    for (const std::string& value : stealing.values) x.push_back(figure_label(stealing.shown(value)));
    for (const std::string& row : placement.values) {
        y.push_back(figure_label(placement.shown(row)));
        Json ratios = Json::array();
        for (const std::string& column : stealing.values) {
            const auto median = medians.find({row, column});
            const bool known = median != medians.end() && best > 0;
            ratios.push_back(known ? Json(median->second / best) : Json());
        }
        z.push_back(std::move(ratios));
    }
    figure.traces.push_back({{"type", "heatmap"},
                             {"x", x},
                             {"y", y},
                             {"z", z},
                             {"colorscale", "Cividis"},
                             {"reversescale", true},
                             {"xgap", 2},
                             {"ygap", 2},
                             {"zmin", 1},
                             {"showscale", false},
                             {"hovertemplate", "%{y}, %{x}: %{z:.3f}<extra></extra>"}});
    Json notes = Json::array();
    double most = 1;
    for (const auto& [pair, median] : medians) most = std::max(most, median / best);
    for (std::size_t row = 0; row < placement.values.size(); ++row) {
        for (std::size_t column = 0; column < stealing.values.size(); ++column) {
            const auto median = medians.find({placement.values[row], stealing.values[column]});
            if (median == medians.end() || best <= 0) continue;
            const double ratio = median->second / best;
            const bool dark = most > 1 && (ratio - 1) / (most - 1) > 0.5;
            notes.push_back({{"x", column},
                             {"y", row},
                             {"text", fmt::format("{:.2f}", ratio)},
                             {"showarrow", false},
                             {"font", {{"color", dark ? "#ffffff" : "#1d2329"}, {"size", 13}}}});
        }
    }
    figure.layout = {
        {"xaxis", {{"title", figure_label(stealing.key)}, {"type", "category"}, {"showgrid", false}}},
        {"yaxis",
         {{"title", figure_label(placement.key)},
          {"type", "category"},
          {"autorange", "reversed"},
          {"showgrid", false}}},
        {"annotations", notes}};
    return figure;
}

}  // namespace

void add_heat_maps(Page& page, const Subject& subject) {
    const Design& design = subject.design;
    const std::size_t placement = design.find("schedule_placement");
    const std::size_t stealing = design.find("schedule_stealing_victim");
    if (placement == design.factors.size() || stealing == design.factors.size()) return;
    page.section("placement-by-stealing", "Placement and stealing together");
    HtmlTable table("placement-by-stealing-table", "Median makespans of each pair.",
                    {"where", "placement", "stealing", "median", "over the least"},
                    {"where", "schedule_placement", "schedule_stealing_victim", "median_seconds", "ratio"});
    std::size_t figures = 0;
    for (const Competition& group : subject.findings.groups) {
        Medians medians;
        double best = 0;
        for (const Entry& entry : group.entries) {
            if (entry.line.runs == 0) continue;
            const auto& values = subject.combination_of(entry).values;
            const double median = entry.line.median_seconds;
            const auto [place, is_new] = medians.try_emplace({values[placement], values[stealing]}, median);
            if (!is_new) place->second = std::min(place->second, median);
            best = best == 0 ? median : std::min(best, median);
        }
        if (best <= 0) continue;
        for (const auto& [pair, median] : medians)
            table.add({text_value(group.name), text_value(pair.first), text_value(pair.second),
                       seconds_value(median), decimal_value(median / best, 3)});
        if (figures++ < heat_maps_max)
            page.figure(heat_map_of(design.factors[placement], design.factors[stealing], medians, best,
                                    group.name, fmt::format("heat-{}", figures)));
    }
    if (figures > heat_maps_max)
        page.paragraph(fmt::format("These are {} of {} groups; the table has all.", heat_maps_max, figures));
    page.table(table);
}

}  // namespace heddle::report
