// Reads a scheduling problem on unequal processors from its tables. They state the data from task to task,
// each task's time on each processor, and the speeds of links.
#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "graphs/readers.hpp"

namespace heddle::graphs {

namespace {

struct Table {
    std::vector<std::string> columns;
    std::vector<std::string> names;  ///< of the rows
    std::vector<std::vector<double>> rows;
    std::vector<int> lines;
    int header_line = 0;
};

/// A corner, the names of the columns; then a line for each row: its name, its numbers.
Table read_table(const SourceText& source) {
    Table table;
    Lines lines(source);
    if (!lines.next_filled('#')) source.refuse(0, "the file is empty");
    table.header_line = lines.line();
    Words header = lines.words(",");
    header.word("the corner of the table");
    while (!header.at_end()) table.columns.emplace_back(header.word("a column"));
    while (lines.next_filled('#')) {
        Words words = lines.words(",");
        std::string name(words.word("the name of the row"));
        std::vector<double> row;
        while (!words.at_end()) row.push_back(words.weight(fmt::format("value {} of {}", row.size(), name)));
        if (row.size() != table.columns.size()) {
            source.refuse(lines.line(), fmt::format("{} has {} values", name, row.size()),
                          fmt::format("the table has {} columns", table.columns.size()));
        }
        table.names.push_back(std::move(name));
        table.rows.push_back(std::move(row));
        table.lines.push_back(lines.line());
    }
    return table;
}

/// The numbers of tasks by their names. Published tables of one problem say T_0 in one and T0 in another, so
/// that a name that no task has is compared without underscores.
class TaskNames {
public:
    TaskNames(const std::vector<std::string>& names, const SourceText& source, int line) {
        for (std::size_t task = 0; task < names.size(); ++task) {
            if (!exact_.emplace(names[task], task).second) {
                source.refuse(line, fmt::format("two columns are called {}", names[task]),
                              "the name of a task is its own");
            }
            const auto [found, is_new] = similar_.emplace(without_underscores(names[task]), task);
            if (!is_new) found->second = none;
        }
    }

    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    std::size_t find(const std::string& name) const {
        if (const auto found = exact_.find(name); found != exact_.end()) return found->second;
        const auto found = similar_.find(without_underscores(name));
        return found == similar_.end() ? none : found->second;
    }

private:
    static std::string without_underscores(std::string name) {
        std::erase(name, '_');
        return name;
    }

    std::unordered_map<std::string, std::size_t> exact_;
    std::unordered_map<std::string, std::size_t> similar_;  ///< `none` where several are
};

/// For each task the row of `table` that has its name: rows may be in any order. There are as many rows as
/// tasks, so that each has one.
std::vector<std::size_t> rows_of_tasks(const Table& table, const TaskNames& tasks, const SourceText& source) {
    std::vector<std::size_t> row_of(table.rows.size(), TaskNames::none);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const std::size_t task = tasks.find(table.names[row]);
        if (task == TaskNames::none) {
            source.refuse(table.lines[row], fmt::format("no task is called {}", table.names[row]),
                          "a row has the name of a column of the table of edges");
        }
        if (row_of[task] != TaskNames::none) {
            source.refuse(table.lines[row], fmt::format("{} is a second row of its task", table.names[row]),
                          fmt::format("the first is in line {}", table.lines[row_of[task]]));
        }
        row_of[task] = row;
    }
    return row_of;
}

/// All links must be equally fast: a graph has no place for links.
double bandwidth_in(const SourceText& source) {
    const Table table = read_table(source);
    double bandwidth = 0;
    for (std::size_t from = 0; from < table.rows.size(); ++from) {
        for (std::size_t to = 0; to < table.columns.size(); ++to) {
            if (table.names[from] == table.columns[to]) continue;
            const double one = table.rows[from][to];
            if (one == 0 || (bandwidth != 0 && one != bandwidth)) {
                source.refuse(table.lines[from],
                              fmt::format("the link from {} to {} has a bandwidth of {}", table.names[from],
                                          table.columns[to], one),
                              "only equal links, faster than 0, can be read");
            }
            bandwidth = one;
        }
    }
    return bandwidth == 0 ? 1 : bandwidth;
}

}  // namespace

GraphFile read_heft_csv(const SourceText& source, const ReadOptions& options) {
    constexpr std::string_view ending = "_task_connectivity.csv";
    if (!source.path.ends_with(ending)) {
        source.refuse(0, "this table does not say which task sends to which",
                      fmt::format("name the file that ends in {}", ending));
    }
    const std::string stem = source.path.substr(0, source.path.size() - ending.size());
    const SourceText costs_source = SourceText::read(stem + "_task_exe_time.csv");
    const Table costs = read_table(costs_source);
    const Table edges = read_table(source);
    const std::size_t tasks = edges.columns.size();
    if (edges.rows.size() != tasks) {
        source.refuse(0, fmt::format("{} rows and {} columns", edges.rows.size(), tasks),
                      "the table is square");
    }
    if (costs.rows.size() != tasks || costs.columns.empty()) {
        costs_source.refuse(0, fmt::format("costs of {} tasks", costs.rows.size()),
                            fmt::format("there are {} tasks", tasks));
    }
    const TaskNames names(edges.columns, source, edges.header_line);
    const std::vector<std::size_t> edge_rows = rows_of_tasks(edges, names, source);
    const std::vector<std::size_t> cost_rows = rows_of_tasks(costs, names, costs_source);
    const std::string bandwidth_path = stem + "_resource_BW.csv";
    const double bandwidth =
        std::filesystem::exists(bandwidth_path) ? bandwidth_in(SourceText::read(bandwidth_path)) : 1;

    GraphFile result;
    TaskGraphBuilder builder;
    for (std::size_t task = 0; task < tasks; ++task) {
        std::vector<double> row = costs.rows[cost_rows[task]];
        for (double& cost : row) cost *= options.flops_per_time_unit.value_or(1);
        builder.add_task(std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size()),
                         edges.columns[task], costs_source.at(costs.lines[cost_rows[task]]));
        result.costs.push_back(std::move(row));
    }
    for (std::size_t from = 0; from < tasks; ++from) {
        const std::vector<double>& row = edges.rows[edge_rows[from]];
        for (std::size_t to = 0; to < tasks; ++to) {
            if (row[to] == 0) continue;
            builder.add_edge(static_cast<TaskIndex>(from), static_cast<TaskIndex>(to),
                             row[to] / bandwidth * options.bytes_per_weight_unit,
                             source.at(edges.lines[edge_rows[from]]));
        }
    }
    result.graph = builder.build();
    result.unit = WorkUnit::abstract;
    return result;
}

}  // namespace heddle::graphs
