// Writes the report's section of what workers did with their time, for each combination: shares of the five
// states.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/sections.hpp"
#include "report/words.hpp"

namespace heddle::report {

namespace {

constexpr std::array five_states = {"working", "overhead", "stealing", "waiting", "idle"};
constexpr std::size_t state_bars_max = 40;

double seconds_in(const Entry& entry, const char* state) {
    return counted(entry, fmt::format("time_seconds_{}", state));
}

double sum_of(const Entry& entry) {
    double sum = 0;
    for (const char* state : five_states) sum += seconds_in(entry, state);
    return sum;
}

}  // namespace

void add_states(Page& page, const Subject& subject) {
    std::vector<std::pair<const Competition*, const Entry*>> bars;
    for (const Competition& group : subject.findings.groups)
        for (const Entry& entry : group.entries)
            if (sum_of(entry) > 0) bars.emplace_back(&group, &entry);
    if (bars.empty()) return;
    page.section("states", "What workers did with their time");
    std::vector<std::string> titles = {"combination"}, fields = {"combination"};
    for (const char* state : five_states) {
        titles.emplace_back(state);
        fields.push_back(fmt::format("time_seconds_{}", state));
    }
    HtmlTable table("states-table", "Time in each state, summed over all workers: medians over the runs.",
                    titles, fields);
    Figure figure;
    figure.id = "states-figure";
    figure.caption = "Shares of the time of all workers, until the end of the last task.";
    for (const char* state : five_states)
        figure.traces.push_back(
            {{"type", "bar"},
             {"orientation", "h"},
             {"name", state},
             {"x", Json::array()},
             {"y", Json::array()},
             {"marker", {{"color", state_colour(state)}}},
             {"hovertemplate", "%{y}<br>" + std::string(state) + ": %{x:.1%}<extra></extra>"}});
    const std::size_t shown = std::min(bars.size(), state_bars_max);
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const auto& [group, entry] = bars[i];
        std::vector<Value> row = {text_value(group->name_of(*entry))};
        for (std::size_t k = 0; k < five_states.size(); ++k) {
            const double seconds = seconds_in(*entry, five_states[k]);
            row.push_back(seconds_value(seconds));
            row.back().shown += fmt::format(" ({})", percent(seconds / sum_of(*entry)));
            if (i >= shown) continue;
            figure.traces[k]["x"].push_back(seconds / sum_of(*entry));
            figure.traces[k]["y"].push_back(figure_label(group->name_of(*entry)));
        }
        table.add(std::move(row));
    }
    if (bars.size() > shown)
        figure.caption +=
            fmt::format(" The first {} of {} combinations; the table has all.", shown, bars.size());
    figure.height = 110 + 26 * static_cast<int>(shown);
    figure.layout = {{"barmode", "stack"},
                     {"bargap", 0.25},
                     {"xaxis", {{"tickformat", ".0%"}, {"range", {0, 1}}}},
                     {"yaxis", {{"type", "category"}, {"autorange", "reversed"}}}};
    if (shown == 1) figure.layout["yaxis"]["showticklabels"] = !bars.front().second->competitor.empty();
    page.figure(figure);
    page.table(table);
}

}  // namespace heddle::report
