// Generates communication patterns: columns of tasks over steps, which send more than they compute. The tasks
// of a column write one datum: placement `cyclic` keeps a column on one worker if there are as many columns.
#include <fmt/format.h>

#include "graphs/generators/assembly.hpp"
#include "graphs/generators/families.hpp"

namespace heddle::graphs {

namespace {

/// Each task hands its datum to all tasks of the next step.
GraphFile all_to_all(const Settings& settings) {
    const std::uint32_t width = count(settings, "width"), steps = count(settings, "steps");
    need_room(settings, {"width", "steps"}, {1.0 * width * steps, 1.0 * width * width * (steps - 1)});
    Assembly graph(settings);
    for (std::uint32_t step = 0; step < steps; ++step) {
        for (std::uint32_t column = 0; column < width; ++column) {
            const TaskIndex task = graph.task();
            graph.writes(column);
            for (std::uint32_t from = 0; step > 0 && from < width; ++from) {
                graph.edge((step - 1) * width + from, task);
            }
        }
    }
    return graph.build();
}

/// Column 0 needs all columns of the step before, every other column only itself: no column waits for column
/// 0.
GraphFile incast(const Settings& settings) {
    const std::uint32_t width = count(settings, "width"), steps = count(settings, "steps");
    need_room(settings, {"width", "steps"}, {1.0 * width * steps, (2.0 * width - 1) * (steps - 1)});
    Assembly graph(settings);
    for (std::uint32_t step = 0; step < steps; ++step) {
        for (std::uint32_t column = 0; column < width; ++column) {
            const TaskIndex task = graph.task();
            graph.writes(column);
            if (step == 0) continue;
            const TaskIndex before = (step - 1) * width;
            graph.edge(before + column, task);
            for (std::uint32_t from = 1; column == 0 && from < width; ++from) graph.edge(before + from, task);
        }
    }
    return graph.build();
}

/// Chains whose tasks lie in two columns in turn: chain p in columns p and p + pairs.
GraphFile ping_pong(const Settings& settings) {
    const std::uint32_t pairs = count(settings, "pairs"), steps = count(settings, "steps");
    need_room(settings, {"pairs", "steps"}, {1.0 * pairs * steps, 1.0 * pairs * (steps - 1)});
    Assembly graph(settings);
    for (std::uint32_t step = 0; step < steps; ++step) {
        for (std::uint32_t pair = 0; pair < pairs; ++pair) {
            const TaskIndex task = graph.task();
            graph.writes(pair + (step % 2) * pairs);
            if (step > 0) graph.edge(task - pairs, task);
        }
    }
    return graph.build();
}

std::vector<Setting> columns_and_steps() {
    return with_weights({count_setting("width", "16", "columns"), count_setting("steps", "10", "steps")});
}

std::vector<Setting> pairs_and_steps() {
    return with_weights({count_setting("pairs", "8", "pairs of columns"),
                         count_setting("steps", "100", "messages, and one")});
}

}  // namespace

Generator all_to_all_generator() {
    return {"all_to_all", "columns over steps, each task hands its datum to all of the next step",
            columns_and_steps, all_to_all};
}

Generator incast_generator() {
    return {"incast", "columns over steps, one of which hears from all the others", columns_and_steps,
            incast};
}

Generator ping_pong_generator() {
    return {"ping_pong", "pairs of columns that hand one datum to and fro", pairs_and_steps, ping_pong};
}

}  // namespace heddle::graphs
