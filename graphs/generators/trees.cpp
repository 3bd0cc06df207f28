// Generates fork-join graphs, trees and series-parallel graphs.
#include <fmt/format.h>

#include <cmath>

#include "graphs/generators/assembly.hpp"
#include "graphs/generators/families.hpp"

namespace heddle::graphs {

namespace {

GraphFile fork_join(const Settings& settings) {
    const std::uint32_t width = count(settings, "width"), stages = count(settings, "stages");
    need_room(settings, {"width", "stages"}, {1 + (1.0 + width) * stages, 2.0 * width * stages});
    Assembly graph(settings);
    TaskIndex fork = graph.task();
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
        const TaskIndex first = graph.tasks();
        for (std::uint32_t i = 0; i < width; ++i) graph.edge(fork, graph.task());
        const TaskIndex join = graph.task();
        for (std::uint32_t i = 0; i < width; ++i) graph.edge(first + i, join);
        fork = join;
    }
    return graph.build();
}

/// A complete tree: task t has the children arity * t + 1 to arity * t + arity. `into_root`: edges lead to
/// the root.
GraphFile tree(const Settings& settings, bool into_root) {
    const std::uint32_t depth = count(settings, "depth"), arity = count(settings, "arity");
    const double tasks =
        arity == 1 ? 1.0 + depth : std::round((std::pow(1.0 * arity, 1.0 + depth) - 1) / (1.0 * arity - 1));
    need_room(settings, {"depth", "arity"}, {tasks, tasks - 1});
    Assembly graph(settings);
    const auto all = static_cast<TaskIndex>(tasks);
    for (TaskIndex task = 0; task < all; ++task) graph.task();
    for (TaskIndex child = 1; child < all; ++child) {
        const TaskIndex parent = (child - 1) / arity;
        into_root ? graph.edge(child, parent) : graph.edge(parent, child);
    }
    return graph.build();
}

GraphFile in_tree(const Settings& settings) {
    return tree(settings, true);
}

GraphFile out_tree(const Settings& settings) {
    return tree(settings, false);
}

/// Starts as one task; a piece with n tasks is cut at random, in series or side by side between a first and a
/// last task.
class SeriesParallel {
public:
    explicit SeriesParallel(const Settings& settings)
        : width_(count(settings, "width")), assembly_(settings), random_(assembly_.random()) {}

    GraphFile build(std::uint32_t tasks) {
        struct Piece {
            std::uint32_t tasks;
            TaskIndex before, after;  ///< the piece lies between these two
        };
        // Pieces wait on a stack of our own: a graph of millions of tasks may be nested deeply.
        std::vector<Piece> pieces;
        const TaskIndex source = assembly_.task();
        const TaskIndex sink = tasks > 1 ? assembly_.task() : source;
        if (tasks == 2) assembly_.edge(source, sink);
        if (tasks > 2) pieces.push_back({tasks - 2, source, sink});
        while (!pieces.empty()) {
            const Piece piece = pieces.back();
            pieces.pop_back();
            if (piece.tasks == 1) {
                const TaskIndex task = assembly_.task();
                assembly_.edge(piece.before, task);
                assembly_.edge(task, piece.after);
            } else if (random_.below(2) == 0) {  // in series: a task in the middle
                const TaskIndex middle = assembly_.task();
                const auto left = static_cast<std::uint32_t>(random_.below(piece.tasks));
                push_or_join(pieces, left, piece.before, middle);
                push_or_join(pieces, piece.tasks - 1 - left, middle, piece.after);
            } else {  // side by side: 2 to `width` branches
                const std::uint32_t most = std::min(width_, piece.tasks);
                const std::uint32_t branches =
                    most < 2 ? most : 2 + static_cast<std::uint32_t>(random_.below(most - 1));
                for (std::uint32_t i = 0; i < branches; ++i) {
                    const std::uint32_t share = (piece.tasks + branches - 1 - i) / branches;
                    push_or_join(pieces, share, piece.before, piece.after);
                }
            }
        }
        return assembly_.build();
    }

private:
    template <class Pieces>
    void push_or_join(Pieces& pieces, std::uint32_t tasks, TaskIndex before, TaskIndex after) {
        if (tasks == 0) {
            assembly_.edge(before, after);
        } else {
            pieces.push_back({tasks, before, after});
        }
    }

    std::uint32_t width_;
    Assembly assembly_;
    Random random_;
};

GraphFile series_parallel(const Settings& settings) {
    const std::uint32_t tasks = count(settings, "tasks");
    need_room(settings, {"tasks"}, {1.0 * tasks, 1.0 * tasks - 1});
    return SeriesParallel(settings).build(tasks);
}

std::vector<Setting> fork_join_settings() {
    return with_weights({count_setting("width", "16", "tasks between a fork and its join"),
                         count_setting("stages", "4", "forks, each after the last join")});
}

std::vector<Setting> tree_settings() {
    return with_weights({count_setting("depth", "6", "edges from the root to a leaf", 0),
                         count_setting("arity", "2", "children of a task")});
}

std::vector<Setting> series_parallel_settings() {
    return with_weights({count_setting("tasks", "100", "tasks in all"),
                         count_setting("width", "4", "most branches side by side", 2)});
}

}  // namespace

Generator fork_join_generator() {
    return {"fork_join", "stages of tasks side by side between forks and joins", fork_join_settings,
            fork_join};
}

Generator in_tree_generator() {
    return {"in_tree", "complete tree whose root comes last: a reduction", tree_settings, in_tree};
}

Generator out_tree_generator() {
    return {"out_tree", "complete tree whose root comes first: a distribution", tree_settings, out_tree};
}

Generator series_parallel_generator() {
    return {"series_parallel", "random nesting of tasks in series and side by side", series_parallel_settings,
            series_parallel};
}

}  // namespace heddle::graphs
