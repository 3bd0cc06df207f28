// Writes a validation as the table results.csv and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/csv_table.hpp"
#include "results/record.hpp"
#include "results/validation.hpp"

namespace heddle::results {

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson number_or_null(std::optional<double> value) {
    return value ? OrderedJson(*value) : OrderedJson();
}

std::string number_or_empty(std::optional<double> value) {
    return value ? OrderedJson(*value).dump() : std::string();
}

OrderedJson json_of_replays(const std::optional<ReplayMedians>& found) {
    const ReplayMedians replays = found.value_or(ReplayMedians{});
    const auto known = [&found](double value) { return found ? OrderedJson(value) : OrderedJson(); };
    return {{"runs", replays.runs},
            {"median_seconds", known(replays.replayed)},
            {"native_median_seconds", known(replays.native)},
            {"simulated_median_seconds", number_or_null(replays.simulated)},
            {"timing_error", known(replays.timing_error())},
            {"scheduling_error", number_or_null(replays.scheduling_error())}};
}

OrderedJson json_of_line(const ValidationLine& line, const std::vector<std::string>& keys) {
    OrderedJson values = OrderedJson::object(), counted = OrderedJson::object(),
                parts = OrderedJson::object();
    for (std::size_t i = 0; i < keys.size(); ++i) values[keys[i]] = line.values[i];
    for (const WorldMedians& medians : line.counted)
        counted[medians.what] = {{"native", number_or_null(medians.native)},
                                 {"simulated", number_or_null(medians.simulated)}};
    for (const auto& [state, part] : line.parts) parts[state] = part;
    const auto& interval = line.ratio ? line.ratio->interval : std::nullopt;
    return {{"values", std::move(values)},
            {"native", {{"runs", line.native_runs}, {"median_seconds", number_or_null(line.native_seconds)}}},
            {"simulated",
             {{"runs", line.simulated_runs}, {"median_seconds", number_or_null(line.simulated_seconds)}}},
            {"failed", line.bad},
            {"repeated", line.repeated},
            {"disturbed", line.disturbed},
            {"ratio",
             {{"value", line.ratio ? OrderedJson(line.ratio->value) : OrderedJson()},
              {"low", interval ? OrderedJson(interval->low) : OrderedJson()},
              {"high", interval ? OrderedJson(interval->high) : OrderedJson()}}},
            {"error", number_or_null(line.error())},
            {"replayed", json_of_replays(line.replays)},
            {"within_5_percent", name(line.within_narrow)},
            {"within_15_percent", name(line.within_wide)},
            {"same_tasks", line.same_tasks ? OrderedJson(*line.same_tasks) : OrderedJson()},
            {"error_by_state", std::move(parts)},
            {"counted", std::move(counted)}};
}

void put_replays(Row& row, const std::optional<ReplayMedians>& replays) {
    row.emplace_back("replayed_runs", std::to_string(replays ? replays->runs : 0));
    row.emplace_back("replayed_seconds", replays ? number_or_empty(replays->replayed) : "");
    row.emplace_back("replayed_native_seconds", replays ? number_or_empty(replays->native) : "");
    row.emplace_back("replayed_simulated_seconds", replays ? number_or_empty(replays->simulated) : "");
    row.emplace_back("timing_error", replays ? number_or_empty(replays->timing_error()) : "");
    row.emplace_back("scheduling_error", replays ? number_or_empty(replays->scheduling_error()) : "");
}

}  // namespace

std::string validation_csv(const Validation& validation) {
    std::vector<Row> rows;
    const bool any_replays = std::ranges::any_of(
        validation.lines, [](const ValidationLine& line) { return line.replays.has_value(); });
    for (const ValidationLine& line : validation.lines) {
        Row& row = rows.emplace_back();
        for (std::size_t i = 0; i < line.values.size(); ++i)
            row.emplace_back(column(validation.keys[i]), line.values[i]);
        const auto& interval = line.ratio ? line.ratio->interval : std::nullopt;
        row.emplace_back("native_runs", std::to_string(line.native_runs));
        row.emplace_back("simulated_runs", std::to_string(line.simulated_runs));
        row.emplace_back("failed", std::to_string(line.bad));
        row.emplace_back("repeated", std::to_string(line.repeated));
        row.emplace_back("disturbed", std::to_string(line.disturbed));
        row.emplace_back("native_seconds", number_or_empty(line.native_seconds));
        row.emplace_back("simulated_seconds", number_or_empty(line.simulated_seconds));
        row.emplace_back("ratio", line.ratio ? number_or_empty(line.ratio->value) : "");
        row.emplace_back("ratio_low", interval ? number_or_empty(interval->low) : "");
        row.emplace_back("ratio_high", interval ? number_or_empty(interval->high) : "");
        row.emplace_back("error", number_or_empty(line.error()));
        if (any_replays) put_replays(row, line.replays);
        row.emplace_back("within_5_percent", name(line.within_narrow));
        row.emplace_back("within_15_percent", name(line.within_wide));
        row.emplace_back("same_tasks", !line.same_tasks ? "" : *line.same_tasks ? "true" : "false");
        for (const auto& [state, part] : line.parts)
            row.emplace_back("error_" + state, number_or_empty(part));
        for (const WorldMedians& medians : line.counted) {
            row.emplace_back("native_" + medians.what, number_or_empty(medians.native));
            row.emplace_back("simulated_" + medians.what, number_or_empty(medians.simulated));
        }
    }
    return CsvTable::of(rows).csv();
}

std::string validation_json(const Validation& validation) {
    OrderedJson lines = OrderedJson::array();
    for (const ValidationLine& line : validation.lines) lines.push_back(json_of_line(line, validation.keys));
    const OrderedJson json = {
        {"name", validation.name},
        {"keys", validation.keys},
        {"competing_keys", validation.competing},
        {"confidence", interval_confidence},
        {"level", level},
        {"configurations", validation.lines.size()},
        {"within", validation.passed()},
        {"outside", validation.outside()},
        {"failed", validation.failed() - validation.outside()},
        {"median_error", number_or_null(validation.median_error)},
        {"largest_error", number_or_null(validation.largest_error)},
        {"ranking", {{"pairs", validation.ranking.pairs}, {"alike", validation.ranking.alike}}},
        {"lines", std::move(lines)}};
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace heddle::results
