// Generates random graphs with a cost on each processor, to compare schedulers on unequal processors.
// Topcuoglu, Hariri, Wu: "Performance-effective and low-complexity task scheduling for heterogeneous
// computing", IEEE TPDS 13(3), 2002, section 6.2.1.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graphs/generators/assembly.hpp"
#include "graphs/generators/families.hpp"

namespace heddle::graphs {

namespace {

/// The first task of each level, and the number of all tasks. Widths are even from 0 to twice `mean`, at
/// least 1, until there are `tasks`.
std::vector<TaskIndex> levels(TaskIndex tasks, double mean, Random random) {
    std::vector<TaskIndex> first{0};
    while (first.back() < tasks) {
        const double width = std::max(1.0, std::round(2 * mean * random.uniform()));
        const double next = std::min<double>(tasks, first.back() + width);
        first.push_back(static_cast<TaskIndex>(next));
    }
    return first;
}

/// Each task hands data to `degree` tasks of the next level, or to all if there are fewer; a task that gets
/// none this way gets some from a task of the level before.
template <class Edge>
void connect(const std::vector<TaskIndex>& first, std::uint32_t degree, Random random, const Edge& edge) {
    for (std::size_t level = 0; level + 2 < first.size(); ++level) {
        const TaskIndex begin = first[level + 1], width = first[level + 2] - begin;
        std::vector<bool> reached(width, false);
        std::vector<TaskIndex> next(width);
        std::iota(next.begin(), next.end(), begin);
        for (TaskIndex task = first[level]; task < begin; ++task) {
            const TaskIndex count = std::min<TaskIndex>(degree, width);
            for (TaskIndex i = 0; i < count; ++i) {
                std::swap(next[i], next[i + random.below(width - i)]);
                reached[next[i] - begin] = true;
                edge(task, next[i]);
            }
        }
        for (TaskIndex i = 0; i < width; ++i) {
            if (reached[i]) continue;
            edge(first[level] + static_cast<TaskIndex>(random.below(begin - first[level])), begin + i);
        }
    }
}

GraphFile topcuoglu(const Settings& settings) {
    const std::uint32_t tasks = count(settings, "tasks"), out_degree = count(settings, "out_degree"),
                        processors = count(settings, "processors");
    const double alpha = settings.number("alpha"), beta = settings.number("beta");
    const double mean = settings.number("mean"), ccr = settings.number("ccr");
    if (beta > 2) refuse(settings, "beta", fmt::format("beta is {}; costs are not negative up to 2", beta));
    const Random seed(static_cast<std::uint64_t>(settings.integer("seed")));
    GraphSize size{1.0 * tasks, 0, 1.0 * tasks * processors};
    need_room(settings, {"tasks", "processors"}, size);
    const std::vector<TaskIndex> first = levels(tasks, alpha * std::sqrt(tasks), seed.split(2));
    for (std::size_t level = 0; level + 2 < first.size(); ++level)
        size.edges += 1.0 * (first[level + 1] - first[level]) *
                      std::min(out_degree, first[level + 2] - first[level + 1]);
    need_room(settings, {"tasks", "out_degree"}, size);
    GraphFile result;
    result.unit = WorkUnit::abstract;
    TaskGraphBuilder builder;
    for (TaskIndex task = 0; task < tasks; ++task) {
        Random random = seed.split(0).split(task);
        const double own_mean = 2 * mean * random.uniform();
        std::vector<double>& row = result.costs.emplace_back();
        for (std::uint32_t i = 0; i < processors; ++i)
            row.push_back(own_mean * (1 + beta * (random.uniform() - 0.5)));
        builder.add_task(std::accumulate(row.begin(), row.end(), 0.0) / processors);
    }
    Random weights = seed.split(1);
    connect(first, out_degree, seed.split(3), [&](TaskIndex from, TaskIndex to) {
        builder.add_edge(from, to, 2 * ccr * mean * weights.uniform());
    });
    result.graph = builder.build();
    return result;
}

std::vector<Setting> topcuoglu_settings() {
    return {count_setting("tasks", "100", "tasks in all"),
            count_setting("out_degree", "3", "successors of a task"),
            {"alpha",
             SettingKind::number,
             "1",
             "shape: a level has alpha * sqrt(tasks) tasks in the mean",
             {},
             1e-6},
            {"beta",
             SettingKind::number,
             "1",
             "how far the costs of a task lie apart, relative to their mean",
             {},
             0},
            {"ccr",
             SettingKind::number,
             "1",
             "mean weight of an edge, relative to the mean cost of a task",
             {},
             0},
            count_setting("processors", "4", "processors with a cost each"),
            {"mean", SettingKind::number, "50", "mean cost of a task, in units of time", {}, 0},
            {"seed", SettingKind::integer, "1", "of the random choices", {}, 0, integer_max}};
}

}  // namespace

Generator topcuoglu_generator() {
    return {"topcuoglu", "random levels, with costs on each of several unequal processors",
            topcuoglu_settings, topcuoglu};
}

}  // namespace heddle::graphs
