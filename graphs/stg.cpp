// Reads the Standard Task Graph Set. The dummy entry and exit tasks of a file are kept, without work.
#include <fmt/format.h>

#include "graphs/readers.hpp"

namespace heddle::graphs {

namespace {

/// True where the last task is a dummy: without work, and the only task without successors.
bool ends_with_dummy(const TaskGraph& graph) {
    if (graph.tasks() == 0 || graph.flops(graph.tasks() - 1) != 0) return false;
    for (TaskIndex task = 0; task + 1 < graph.tasks(); ++task) {
        if (graph.successors(task).empty()) return false;
    }
    return true;
}

}  // namespace

GraphFile read_stg(const SourceText& source, const ReadOptions& options) {
    Lines lines(source);
    if (!lines.next_filled('#')) {
        source.refuse(0, "the file is empty", "it should begin with its number of tasks");
    }
    Words header = lines.words();
    const int header_line = lines.line();
    const std::uint64_t announced = header.count("the number of tasks");
    header.expect_end("the number of tasks");

    TaskGraphBuilder builder;
    Location where{source.path, 0};
    std::uint64_t tasks = 0;
    std::uint64_t highest = 0;  // of the predecessors named
    for (; lines.next_filled('#'); ++tasks) {
        Words words = lines.words();
        where.line = lines.line();
        if (tasks == announced + 2) {
            source.refuse(where.line, fmt::format("more than the announced {} tasks", announced),
                          "besides these there are two dummies");
        }
        if (words.count("the number of the task") != tasks) {
            source.refuse(where.line, fmt::format("expected task {} here", tasks),
                          "tasks come in their order");
        }
        builder.add_task(words.weight(fmt::format("the processing time of task {}", tasks)) *
                             options.flops_per_time_unit.value_or(1),
                         {}, where);
        const std::uint64_t predecessors =
            words.count(fmt::format("the number of predecessors of task {}", tasks), announced + 1);
        for (std::uint64_t i = 0; i < predecessors; ++i) {
            const std::uint64_t from = words.count(fmt::format("a predecessor of task {}", tasks));
            if (from > announced + 1) {
                source.refuse(where.line,
                              fmt::format("task {} waits for task {}, which does not exist", tasks, from),
                              fmt::format("tasks are numbered 0 to {}", announced + 1));
            }
            highest = std::max(highest, from);
            builder.add_edge(static_cast<TaskIndex>(from), static_cast<TaskIndex>(tasks), 0, where);
        }
        words.expect_end(fmt::format("the {} predecessors of task {}", predecessors, tasks));
    }
    GraphFile result;
    // The first line counts the tasks without the two dummies; in some files, with them.
    if (tasks == announced + 2 || (tasks == announced && highest < tasks)) {
        result.graph = builder.build();
        result.unit = WorkUnit::abstract;
        if (tasks == announced + 2 || ends_with_dummy(result.graph)) return result;
    }
    source.refuse(
        lines.line(), fmt::format("the file ends after {} of {} tasks", tasks, announced + 2),
        fmt::format("line {} announces {} tasks, and the two dummies come on top", header_line, announced));
}

}  // namespace heddle::graphs
