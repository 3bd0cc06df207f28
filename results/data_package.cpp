// Reads the headers of a folder's tables, and writes datapackage.json, which describes their columns.
#include "results/data_package.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/csv_table.hpp"
#include "results/columns.hpp"
#include "results/store.hpp"

namespace heddle::results {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array tables = {"runs.csv",   "timings.csv", "failures.csv", "comparison.csv", "results.csv",
                               "steals.csv", "tasks.csv",   "workers.csv",  "timeline.csv"};

/// The header, and the row after it: enough to know the columns and the workload.
CsvTable beginning_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text;
    std::string line;
    for (int lines = 0; lines < 2 && std::getline(file, line); ++lines) text += line + "\n";
    // A value in quotes may hold a line break, which ends the second line early: its row is short, not wrong.
    return CsvTable::parse(text);
}

/// The workload of the first run, which decides what its settings mean.
std::string workload_in(const CsvTable& table) {
    const auto& columns = table.columns();
    const auto place = std::find(columns.begin(), columns.end(), "workload_name") - columns.begin();
    const bool known = static_cast<std::size_t>(place) < columns.size() && !table.rows().empty();
    return known ? table.rows().front()[static_cast<std::size_t>(place)] : std::string();
}

Json fields_of(const std::string& name, const CsvTable& table) {
    const std::string workload = workload_in(table);
    Json fields = Json::array();
    for (const std::string& column : table.columns()) {
        ColumnInfo info = describe_column(name, column, workload);
        // Another workload of the same table may have the setting.
        if (info.kind == ColumnKind::configuration && info.type == "any")
            info = describe_column(name, column);
        Json field = {{"name", column}, {"type", info.type}, {"description", info.meaning}};
        if (!info.unit.empty()) field["unit"] = info.unit;
        fields.push_back(std::move(field));
    }
    return fields;
}

}  // namespace

void write_data_package(const std::string& directory) {
    Json resources = Json::array();
    for (const std::string file : tables) {
        const std::string path = directory + "/" + file;
        if (!std::filesystem::exists(path)) continue;
        Json schema = {{"fields", fields_of(file, beginning_of(path))}};
        if (file == "runs.csv" || file == "timings.csv" || file == "failures.csv")
            schema["primaryKey"] = "cell";
        resources.push_back({{"name", file.substr(0, file.size() - 4)},
                             {"path", file},
                             {"profile", "tabular-data-resource"},
                             {"encoding", "utf-8"},
                             {"schema", std::move(schema)}});
    }
    if (resources.empty()) return;
    const Json package = {
        {"profile", "tabular-data-package"}, {"name", "heddle-results"}, {"resources", std::move(resources)}};
    write_atomically(directory + "/datapackage.json",
                     package.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace heddle::results
