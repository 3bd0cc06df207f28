// Reads runs.csv and each cell's JSON. runs.csv says which runs count; if both have a run, the JSON says what
// it did.
#include "report/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/csv_table.hpp"
#include "base/error.hpp"
#include "base/platform.hpp"
#include "report/words.hpp"
#include "results/columns.hpp"
#include "results/record.hpp"
#include "results/result_json.hpp"
#include "results/store.hpp"

namespace heddle::report {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::vector<fs::path> folders_in(const fs::path& directory) {
    std::vector<fs::path> found;
    for (const std::string& name : results::folders_in(directory)) found.push_back(directory / name);
    return found;
}

/// Names come from tables that may be damaged: a name that no file may have has no file.
bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

bool is_cell(const fs::path& folder) {
    return is_there(folder / "result.json") || is_there(folder / "failure.json");
}

bool has_results(const fs::path& directory) {
    if (is_there(directory / "runs.csv") || is_there(directory / "failures.csv")) return true;
    const std::vector<fs::path> folders = folders_in(directory);
    return std::any_of(folders.begin(), folders.end(), is_cell);
}

class Reader {
public:
    void read(const std::string& directory) {
        const std::size_t before = runs_.all.size() + runs_.failed.size();
        std::set<std::string> cells;
        for (const fs::path& folder : folders_in(directory))
            if (is_cell(folder)) cells.insert(folder.filename());
        const std::optional<CsvTable> table = table_in(directory, "runs.csv");
        const std::optional<CsvTable> failures = table_in(directory, "failures.csv");
        if (table) {
            for (const auto& row : table->rows()) {
                add(directory, row.front(), table->columns(), row);
                cells.erase(row.front());
            }
        }
        std::set<std::string> failed;
        if (failures)
            for (const auto& row : failures->rows()) failed.insert(row.front());
        // `compare` names in its tables what its file asks for, and leaves the rest in the directory.
        std::uint64_t unnamed_results = 0, unnamed_failures = 0;
        for (const std::string& cell : cells) {
            const bool has_result = is_there(fs::path(directory) / cell / "result.json");
            if (has_result && (table || failures))
                ++unnamed_results;
            else if (!has_result && failures && !failed.contains(cell))
                ++unnamed_failures;
            else
                add(directory, cell, {}, {});
        }
        remark_unnamed(directory, counted_things(unnamed_results, "result"), unnamed_results, "runs.csv");
        remark_unnamed(directory, counted_things(unnamed_failures, "failure"), unnamed_failures,
                       "failures.csv");
        if (runs_.all.size() + runs_.failed.size() == before)
            runs_.remarks.push_back(fmt::format("{} has no results.", directory));
    }

    void remark(std::string sentence) { runs_.remarks.push_back(std::move(sentence)); }

    Runs take() && { return std::move(runs_); }

private:
    /// Nothing if there is no such table, or if it is damaged, which is said.
    std::optional<CsvTable> table_in(const std::string& directory, const std::string& name) {
        const std::string path = fmt::format("{}/{}", directory, name);
        std::error_code ignored;
        if (!fs::exists(fs::symlink_status(path, ignored))) return std::nullopt;
        try {
            CsvTable table = CsvTable::parse(results::read_stored(path));
            if (!table.columns().empty() && table.columns().front() == "cell") return table;
            throw Error("its first column is not `cell`");
        } catch (const Error& error) {
            runs_.remarks.push_back(fmt::format("{} is left out: {}.", path, error.message()));
        }
        return std::nullopt;
    }

    void remark_unnamed(const std::string& directory, const std::string& what, std::uint64_t count,
                        const char* table) {
        if (count == 0) return;
        runs_.remarks.push_back(
            fmt::format("{} has {} that {} does not name. They are left out: the comparison, its files or "
                        "the program have changed since, or the command that ran them was cut off.",
                        directory, what, table));
    }

    void add(const std::string& directory, const std::string& cell, const std::vector<std::string>& columns,
             const std::vector<std::string>& row) {
        Run run{directory, cell, {}, {}, {}, {}, {}, {}};
        for (std::size_t i = 0; i < row.size(); ++i) put(run, columns[i], row[i]);
        const fs::path folder = fs::path(directory) / cell;
        if (is_there(folder / "result.json")) {
            try {
                Run whole = run;
                read_cell(whole, folder);
                run = std::move(whole);
            } catch (const std::exception&) {
                runs_.remarks.push_back(
                    fmt::format("{}/{}/result.json cannot be read{}.", directory, cell,
                                row.empty() ? "" : "; its row of runs.csv is used instead"));
                if (row.empty()) return;
            }
        } else if (is_there(folder / "failure.json")) {
            results::Outcome outcome = results::read_outcome(directory, cell);
            runs_.failed.push_back({directory, cell, std::move(outcome.failure)});
            return;
        }
        runs_.all.push_back(std::move(run));
    }

    void put(Run& run, const std::string& column, const std::string& value) {
        run.values[column] = value;
        if (known_.insert(column).second) runs_.columns.push_back(column);
    }

    static void read_groups(Run& run, const Json& result, std::uint64_t nodes) {
        if (!result.contains("node_groups")) return;
        std::vector<std::uint64_t> groups;
        std::map<std::uint64_t, std::uint32_t> dense;  // a number in a file may be any
        for (const Json& some : result.at("node_groups")) {
            const auto count = some.at(1).get<std::uint64_t>();
            if (count > nodes - groups.size()) return;  // damaged: the report does without
            groups.insert(groups.end(), count, some.at(0).get<std::uint64_t>());
            if (count > 0) dense.try_emplace(groups.back());
        }
        if (groups.size() != nodes) return;
        std::uint32_t next = 0;
        for (auto& [group, number] : dense) number = next++;
        for (const std::uint64_t group : groups) run.groups.push_back(dense.at(group));
    }

    static std::uint64_t count_of_nodes(const Json& result) {
        const auto nodes = result.at("nodes").get<double>();
        if (!(nodes >= 1 && nodes <= Platform::nodes_max)) throw Error("no machine has so many nodes");
        return static_cast<std::uint64_t>(nodes);
    }

    static std::uint32_t node_in(const Json& number, std::uint64_t nodes) {
        const auto node = number.get<std::uint64_t>();
        if (node >= nodes) throw Error("a steal names a node that there is not");
        return static_cast<std::uint32_t>(node);
    }

    /// Throws an exception if the result is damaged.
    void read_cell(Run& run, const fs::path& folder) {
        const std::string text = results::read_stored(folder / "result.json");
        const results::Row row = results::run_row(text);
        const Json result = results::parse_result(text);
        const std::uint64_t nodes = count_of_nodes(result);
        for (const auto& [name, version] : result.at("versions").items())
            run.versions[name] = version.get<std::string>();
        const Json& determinants = result.at("determinants");
        run.program = determinants.at("program").get<std::map<std::string, std::string>>();
        run.files = determinants.at("files").get<std::map<std::string, std::string>>();
        run.check = result.at("check").at("reason").get<std::string>();
        run.warnings = result.value("warnings", std::vector<std::string>());
        for (const Json& count : result.at("steals").at("matrix"))
            run.steals.push_back({node_in(count.at(0), nodes), node_in(count.at(1), nodes), count.at(2)});
        read_groups(run, result, nodes);
        const Json timing = results::parse_result(results::read_stored(folder / "timing.json"));
        if (timing.is_object()) run.host = timing.value("host", std::string());
        for (const auto& [column, value] : row) put(run, column, value);
    }

    Runs runs_;
    std::set<std::string> known_;
};

}  // namespace

const std::string& Run::value(const std::string& column) const {
    static const std::string nothing;
    const auto found = values.find(column);
    return found == values.end() ? nothing : found->second;
}

double Run::number(const std::string& column) const {
    const std::string& text = value(column);
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

std::string Run::recorded(const std::string& table) const {
    return results::recorded_table(folder(), table);
}

Runs read_runs(const std::vector<std::string>& directories) {
    Reader reader;
    std::set<fs::path> read_before;
    for (const std::string& directory : directories) {
        std::vector<std::string> inside;
        const std::vector<fs::path> folders = folders_in(directory);
        if (std::error_code ignored; !fs::is_directory(directory, ignored))
            throw Error(fmt::format("{} is not a directory of results", directory),
                        "name one that `heddle run --out` or `heddle compare` has written");
        if (!has_results(directory)) {
            for (const fs::path& folder : folders) {
                try {
                    if (has_results(folder)) inside.push_back(folder.string());
                } catch (const Error& error) {
                    reader.remark(fmt::format("{} is left out: {}.", folder.string(), error.message()));
                }
            }
        }
        if (inside.empty()) inside.push_back(directory);
        for (const std::string& one : inside) {
            if (read_before.insert(fs::canonical(one)).second)
                reader.read(one);
            else
                reader.remark(fmt::format("{} is named twice, and was read once.", one));
        }
    }
    Runs runs = std::move(reader).take();
    for (const std::string& column : runs.columns) {
        const bool names_run = column == "seed" || column == "name";
        const results::ColumnInfo info = results::describe_column("runs.csv", column);
        if (!names_run && info.kind == results::ColumnKind::configuration) runs.configuration.insert(column);
    }
    return runs;
}

}  // namespace heddle::report
