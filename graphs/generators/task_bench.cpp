// Generates the dependence patterns of Task Bench (Slaughter et al.: "Task Bench: a parameterized benchmark
// for evaluating parallel runtime performance", SC 2020), as its program has them (core/core.cc): `steps`
// rows of at most `width` tasks. A pattern defines which columns a row has, and which tasks of the previous
// row a task needs. All tasks of a column write one datum.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "graphs/generators/assembly.hpp"
#include "graphs/generators/families.hpp"

namespace heddle::graphs {

namespace {

using Columns = std::vector<std::uint32_t>;

struct Shape {
    std::uint32_t width;
    std::uint32_t steps;
    std::uint32_t radix;
    Random random;
};

/// The columns that have a task in a step.
struct Row {
    std::uint32_t first;
    std::uint32_t width;
};

Row every_column(const Shape& shape, std::uint32_t) {
    return {0, shape.width};
}

/// A wave front crosses a square: rows grow from one task, then lose their first columns. With fewer than
/// 2 * width - 1 steps both happen at once, and then the last column of a row that grows needs no task.
Row sweep_row(const Shape& shape, std::uint32_t step) {
    const std::uint32_t left = shape.steps - step;
    const std::uint32_t widest = std::min(shape.width, shape.steps);
    return {widest > left ? widest - left : 0, std::min({widest, step + 1, left})};
}

Row tree_row(const Shape& shape, std::uint32_t step) {
    return {0, step < 31 ? std::min(shape.width, 1U << step) : shape.width};
}

Columns stencil(const Shape& shape, std::uint32_t, std::uint32_t column) {
    Columns columns{column};
    if (column > 0) columns.push_back(column - 1);
    if (column + 1 < shape.width) columns.push_back(column + 1);
    return columns;
}

Columns stencil_periodic(const Shape& shape, std::uint32_t, std::uint32_t column) {
    return {column, (column + shape.width - 1) % shape.width, (column + 1) % shape.width};
}

Columns sweep(const Shape&, std::uint32_t, std::uint32_t column) {
    Columns columns{column};
    if (column > 0) columns.push_back(column - 1);
    return columns;
}

Columns fft(const Shape& shape, std::uint32_t step, std::uint32_t column) {
    const auto levels = static_cast<std::uint32_t>(std::bit_width(shape.width - 1));
    const std::uint32_t distance = levels == 0 ? shape.width : 1U << ((step - 1) % levels);
    Columns columns{column};
    if (column >= distance) columns.push_back(column - distance);
    if (column + distance < shape.width) columns.push_back(column + distance);
    return columns;
}

Columns tree(const Shape&, std::uint32_t, std::uint32_t column) {
    return {column / 2};
}

Columns nearest(const Shape& shape, std::uint32_t, std::uint32_t column) {
    Columns columns;
    const std::int64_t first = std::int64_t{column} - shape.radix / 2;
    const std::int64_t end = std::min<std::int64_t>(first + shape.radix, shape.width);
    for (std::int64_t one = std::max<std::int64_t>(first, 0); one < end; ++one)
        columns.push_back(static_cast<std::uint32_t>(one));
    return columns;
}

Columns all_to_all(const Shape& shape, std::uint32_t, std::uint32_t) {
    Columns columns;
    for (std::uint32_t one = 0; one < shape.width; ++one) columns.push_back(one);
    return columns;
}

/// `radix` columns, as far from each other as can be, turned on with each step. If there are not so many,
/// each of them comes.
Columns spread(const Shape& shape, std::uint32_t step, std::uint32_t column) {
    if (shape.radix > shape.width) return all_to_all(shape, step, column);
    Columns columns;
    for (std::uint64_t i = 0; i < shape.radix; ++i) {
        const std::uint64_t turn = i == 0 ? 0 : step;
        columns.push_back(
            static_cast<std::uint32_t>((column + i * shape.width / shape.radix + turn) % shape.width));
    }
    return columns;
}

Columns random(const Shape& shape, std::uint32_t step, std::uint32_t column) {
    Columns columns;
    Random draw = shape.random.split(step).split(column);
    while (columns.size() < std::min(shape.radix, shape.width)) {
        const auto one = static_cast<std::uint32_t>(draw.below(shape.width));
        if (std::find(columns.begin(), columns.end(), one) == columns.end()) columns.push_back(one);
    }
    return columns;
}

Columns no_communication(const Shape&, std::uint32_t, std::uint32_t column) {
    return {column};
}

Columns trivial(const Shape&, std::uint32_t, std::uint32_t) {
    return {};
}

/// `before` may name columns that the row before does not have: they feed no task.
struct Pattern {
    const char* name;
    Columns (*before)(const Shape& shape, std::uint32_t step, std::uint32_t column);
    Row (*row)(const Shape& shape, std::uint32_t step);
};

constexpr Pattern patterns[] = {
    {"stencil", stencil, every_column},
    {"stencil_periodic", stencil_periodic, every_column},
    {"sweep", sweep, sweep_row},
    {"fft", fft, every_column},
    {"tree", tree, tree_row},
    {"nearest", nearest, every_column},
    {"spread", spread, every_column},
    {"random", random, every_column},
    {"all_to_all", all_to_all, every_column},
    {"no_communication", no_communication, every_column},
    {"trivial", trivial, every_column},
};

/// Its tasks, and how many edges there are at least.
GraphSize size_of(const Shape& shape, const std::string& pattern) {
    const double width = shape.width, steps = shape.steps, radix = std::min(shape.radix, shape.width);
    double tasks = width * steps;
    if (pattern == "sweep") {
        const double widest = std::min(width, steps);
        tasks = steps < 2 * widest - 1 ? std::floor((steps + 1) * (steps + 1) / 4)
                                       : widest * (steps - widest + 1);
    }
    if (pattern == "tree") {
        const double growing = std::min<double>(steps, std::bit_width(shape.width));
        tasks = std::exp2(growing) - 1 + (steps - growing) * width;
    }
    double edges_of_task = pattern == "trivial" ? 0 : 1;
    if (pattern == "all_to_all") edges_of_task = width;
    if (pattern == "nearest" || pattern == "spread" || pattern == "random") edges_of_task = radix / 2;
    return {tasks, edges_of_task * std::max(0.0, tasks - width)};
}

GraphFile task_bench(const Settings& settings) {
    const std::uint32_t width = count(settings, "width"), steps = count(settings, "steps");
    const std::string name = settings.text("pattern");
    Assembly graph(settings);
    const Shape shape{width, steps, count(settings, "radix"), graph.random()};
    need_room(settings, {"width", "steps", "radix"}, size_of(shape, name));
    const Pattern& pattern = *std::find_if(std::begin(patterns), std::end(patterns),
                                           [&name](const Pattern& one) { return name == one.name; });
    Row last{0, 0};
    TaskIndex last_begin = 0;
    for (std::uint32_t step = 0; step < steps; ++step) {
        const Row row = pattern.row(shape, step);
        const TaskIndex begin = graph.tasks();
        for (std::uint32_t column = row.first; column < row.first + row.width; ++column) {
            const TaskIndex task = graph.task();
            graph.writes(column);
            if (step == 0) continue;
            Columns before = pattern.before(shape, step, column);
            std::sort(before.begin(), before.end());
            before.erase(std::unique(before.begin(), before.end()), before.end());
            for (const std::uint32_t one : before) {
                if (one >= last.first && one - last.first < last.width)
                    graph.edge(last_begin + (one - last.first), task);
            }
        }
        last = row;
        last_begin = begin;
    }
    return graph.build();
}

std::vector<Setting> task_bench_settings() {
    std::vector<std::string> names;
    for (const Pattern& pattern : patterns) names.emplace_back(pattern.name);
    return with_weights(
        {{"pattern", SettingKind::choice, "stencil", "which tasks of the step before a task needs", names},
         count_setting("width", "16", "tasks in a step; sweep, tree: at most"),
         count_setting("steps", "16", "steps"),
         count_setting("radix", "3", "nearest, spread, random: how many tasks a task needs")});
}

}  // namespace

Generator task_bench_generator() {
    return {"task_bench", "steps of tasks with one of Task Bench's dependence patterns", task_bench_settings,
            task_bench};
}

}  // namespace heddle::graphs
