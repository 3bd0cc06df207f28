// Reads a placement from a table of tasks, and finds an order of all tasks that keeps each worker's.
#include "partitioners/placement_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "base/csv_table.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"

namespace heddle::partitioners {

namespace {

constexpr const char* columns_advice =
    "a placement is a CSV table with a row for each task and the columns task, node and worker, such as "
    "`heddle run --tasks` writes";

template <class Number>
std::optional<Number> number_in(const std::string& text) {
    Number number{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// One task's row.
struct Row {
    TaskIndex task = 0;
    WorkerId worker;
    double start = 0;
    int line = 0;
};

class Reader {
public:
    Reader(const std::string& path, const TaskGraph& graph, const WorkerGrid& grid)
        : path_(path), graph_(graph), grid_(grid), table_(parsed()) {
        for (TaskIndex task = 0; task < graph.tasks(); ++task) {
            const auto [known, is_new] = numbers_.emplace(graph.name(task), task);
            if (!is_new) known->second = ambiguous;
        }
        const std::vector<std::string>& columns = table_.columns();
        numbers_first_ = std::ranges::find(columns, "name") != columns.end();
    }

    /// In the order in which each worker runs its own.
    std::vector<Row> rows() {
        const std::size_t task = column("task"), node = column("node"), worker = column("worker");
        const auto start = std::ranges::find(table_.columns(), "start_seconds") - table_.columns().begin();
        const bool has_starts = static_cast<std::size_t>(start) < table_.columns().size();
        std::vector<Row> rows;
        std::vector<bool> placed(graph_.tasks());
        for (std::size_t i = 0; i < table_.rows().size(); ++i) {
            const std::vector<std::string>& cells = table_.rows()[i];
            if (cells[task].empty()) continue;
            Row row;
            row.line = static_cast<int>(i) + 2;
            row.task = task_named(cells[task], row.line);
            if (placed[row.task]) fail(row.line, fmt::format("task \"{}\" is placed again", cells[task]), "");
            placed[row.task] = true;
            row.worker = worker_of(cells[node], cells[worker], row.line);
            if (has_starts) row.start = start_of(cells[static_cast<std::size_t>(start)], row.line);
            rows.push_back(row);
        }
        expect_all(placed);
        std::ranges::stable_sort(rows, {}, &Row::start);
        return rows;
    }

private:
    CsvTable parsed() const {
        try {
            // As `heddle run --tasks` writes it, too.
            if (path_.ends_with(".gz"))
                throw Error("a compressed table cannot be read as a placement",
                            "decompress it with gunzip, and name the result");
            return CsvTable::parse(read_input(path_));
        } catch (const Error& error) {
            throw error.at({path_, 0});
        }
    }
    [[noreturn]] void fail(int line, const std::string& what, const std::string& advice) const {
        throw Error(what, advice).at({path_, line});
    }
    std::size_t column(const char* name) const {
        const auto found = std::ranges::find(table_.columns(), name);
        if (found == table_.columns().end()) fail(1, fmt::format("no column \"{}\"", name), columns_advice);
        return static_cast<std::size_t>(found - table_.columns().begin());
    }
    TaskIndex task_named(const std::string& text, int line) const {
        const auto number = number_in<TaskIndex>(text);
        const bool is_number = number && *number < graph_.tasks();
        if (is_number && numbers_first_) return *number;
        if (const auto found = numbers_.find(text); found != numbers_.end()) {
            if (found->second == ambiguous)
                fail(line, fmt::format("two tasks are called \"{}\"", text),
                     "give numbers from 0 on in the column task, and names in a column `name`");
            return found->second;
        }
        if (!is_number)
            fail(line, fmt::format("the graph has no task \"{}\"", text),
                 fmt::format("name one of its {} tasks, or its number from 0 on", graph_.tasks()));
        return *number;
    }
    WorkerId worker_of(const std::string& node, const std::string& worker, int line) const {
        const NodeId node_number = number_of<NodeId>("node", node, line);
        const CoreId core = number_of<CoreId>("worker", worker, line);
        if (node_number >= grid_.nodes || core >= grid_.cores)
            fail(line, fmt::format("there is no worker {} of node {}", worker, node),
                 fmt::format("nodes are 0 to {}, and workers of each node 0 to {}", grid_.nodes - 1,
                             grid_.cores - 1));
        return {node_number, core};
    }
    template <class T>
    T number_of(const char* what, const std::string& text, int line) const {
        if (const auto number = number_in<T>(text)) return *number;
        fail(line, fmt::format("the {} \"{}\" is no whole number from 0 on", what, text),
             "state nodes and workers by their numbers");
    }
    double start_of(const std::string& text, int line) const {
        const auto start = number_in<double>(text);
        if (!start || !(*start >= 0))
            fail(line, fmt::format("\"{}\" is no time in seconds", text),
                 "leave the column start_seconds out to take the order of the rows");
        return *start;
    }
    void expect_all(const std::vector<bool>& placed) const {
        const auto missing = std::ranges::find(placed, false);
        if (missing == placed.end()) return;
        const auto first = static_cast<TaskIndex>(missing - placed.begin());
        throw Error(fmt::format("{} of {} tasks are not placed, the first one is \"{}\"",
                                std::ranges::count(placed, false), graph_.tasks(), graph_.name(first)),
                    "place each task of the graph once")
            .at({path_, 0});
    }

    static constexpr TaskIndex ambiguous = std::numeric_limits<TaskIndex>::max();

    const std::string& path_;
    const TaskGraph& graph_;
    const WorkerGrid& grid_;
    CsvTable table_;
    std::map<std::string, TaskIndex> numbers_;
    bool numbers_first_ = false;  ///< names have a column of their own; they may be numbers, too
};

/// Takes tasks whose predecessors, in the graph and on their worker, have been taken: of these the one whose
/// row comes first.
std::vector<TaskIndex> sequence_of(const std::string& path, const TaskGraph& graph,
                                   const std::vector<Row>& rows, const WorkerGrid& grid) {
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> row_of(graph.tasks()), next(rows.size(), none), last(grid.workers(), none);
    std::vector<std::size_t> missing(graph.tasks());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        row_of[row.task] = i;
        missing[row.task] += graph.predecessors(row.task).size();
        std::size_t& before = last[std::size_t{row.worker.node} * grid.cores + row.worker.core];
        if (before != none) {
            next[before] = i;
            ++missing[row.task];
        }
        before = i;
    }
    std::vector<std::size_t> ready;  // a heap, the first row on top
    const auto later = std::greater<>();
    const auto arrive = [&](std::size_t row) {
        if (--missing[rows[row].task] > 0) return;
        ready.push_back(row);
        std::ranges::push_heap(ready, later);
    };
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (missing[rows[i].task] == 0) ready.push_back(i);
    std::ranges::make_heap(ready, later);
    std::vector<TaskIndex> sequence;
    while (!ready.empty()) {
        std::ranges::pop_heap(ready, later);
        const std::size_t row = ready.back();
        ready.pop_back();
        const TaskIndex task = rows[row].task;
        sequence.push_back(task);
        for (const TaskGraph::Link& link : graph.successors(task)) arrive(row_of[link.task]);
        if (next[row] != none) arrive(next[row]);
    }
    if (sequence.size() == rows.size()) return sequence;
    const auto stuck = std::ranges::find_if(rows, [&](const Row& row) { return missing[row.task] > 0; });
    throw Error(fmt::format("{} tasks wait for each other, the first one is \"{}\"",
                            rows.size() - sequence.size(), graph.name(stuck->task)),
                "let each worker run a task after those that it depends on, by the order of the rows or by "
                "start_seconds")
        .at({path, stuck->line});
}

}  // namespace

StatedPlacement read_placement(const std::string& path, const TaskGraph& graph, const WorkerGrid& grid) {
    const std::vector<Row> rows = Reader(path, graph, grid).rows();
    std::vector<WorkerId> of_task(graph.tasks());
    for (const Row& row : rows) of_task[row.task] = row.worker;
    return {Placement(grid, std::move(of_task)), sequence_of(path, graph, rows, grid)};
}

}  // namespace heddle::partitioners
