// Generates the task graph of an FFT, and random graphs in layers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "graphs/generators/assembly.hpp"
#include "graphs/generators/families.hpp"

namespace heddle::graphs {

namespace {

/// The graph of Topcuoglu et al. 2002, section 6.3: a binary tree of recursive calls down to the points, then
/// butterflies.
GraphFile fft(const Settings& settings) {
    const std::uint32_t points = count(settings, "points");
    if (!std::has_single_bit(points)) {
        refuse(settings, "points", fmt::format("points is {}, which is not a power of 2", points));
    }
    const double butterflies = 1.0 * points * std::countr_zero(points);
    need_room(settings, {"points"}, {2.0 * points - 1 + butterflies, 2.0 * points - 2 + 2 * butterflies});
    Assembly graph(settings);
    for (TaskIndex call = 0; call < 2 * points - 1; ++call) {
        graph.task(0, {});
        if (call > 0) graph.edge((call - 1) / 2, call);
    }
    TaskIndex before = points - 1;  // the leaves of the tree
    for (std::uint32_t half = 1; half < points; half *= 2) {
        const TaskIndex first = graph.tasks();
        for (std::uint32_t i = 0; i < points; ++i) {
            const TaskIndex task = graph.task(1, {});
            graph.edge(before + i, task);
            graph.edge(before + (i ^ half), task);
        }
        before = first;
    }
    return graph.build({"call", "butterfly"});
}

/// How many edges a layered graph has at least. The first layers have fewer candidates than a task wants.
double layered_edges(double tasks, double width, double degree, double reach) {
    constexpr double drawn = 0.9;  // of those wanted: a draw may hit the same task again
    const double layers = std::max(0.0, tasks / width - 1);
    const double first = std::min({reach, degree / width, layers});
    return drawn * width * (width * first * first / 2 + (layers - first) * std::min(degree, reach * width));
}

/// Tasks in layers. A task after the first layer has one predecessor in the layer before it, and `degree` - 1
/// more from the `reach` layers before it, all different.
GraphFile layered(const Settings& settings) {
    const std::uint32_t tasks = count(settings, "tasks"), width = count(settings, "width"),
                        degree = count(settings, "degree"), reach = count(settings, "reach");
    need_room(settings, {"tasks", "degree"}, {1.0 * tasks, layered_edges(tasks, width, degree, reach)});
    Assembly graph(settings);
    const Random shape = graph.random();
    std::vector<TaskIndex> chosen;
    for (TaskIndex task = 0; task < tasks; ++task) {
        graph.task();
        const TaskIndex layer = task / width;
        if (layer == 0) continue;
        Random random = shape.split(task);
        const TaskIndex layer_before = (layer - 1) * width;
        const TaskIndex oldest = layer >= reach ? (layer - reach) * width : 0;
        const TaskIndex candidates = layer * width - oldest;
        chosen.assign(1, layer_before + static_cast<TaskIndex>(random.below(width)));
        // Few of many: draw again where one comes twice, but not for ever.
        const TaskIndex wanted = std::min(degree, candidates);
        for (TaskIndex draws = 0; chosen.size() < wanted && draws < 4 * wanted; ++draws) {
            const auto one = oldest + static_cast<TaskIndex>(random.below(candidates));
            if (std::find(chosen.begin(), chosen.end(), one) == chosen.end()) chosen.push_back(one);
        }
        for (const TaskIndex from : chosen) graph.edge(from, task);
    }
    return graph.build();
}

std::vector<Setting> fft_settings() {
    return with_weights({count_setting("points", "16", "points, a power of 2")});
}

std::vector<Setting> layered_settings() {
    return with_weights({count_setting("tasks", "1000", "tasks in all"),
                         count_setting("width", "32", "tasks in a layer"),
                         count_setting("degree", "3", "predecessors of a task"),
                         count_setting("reach", "2", "how many layers back a predecessor may lie")});
}

}  // namespace

Generator fft_generator() {
    return {"fft", "recursive calls and butterflies of a fast Fourier transform", fft_settings, fft};
}

Generator layered_generator() {
    return {"layered", "random edges between layers of tasks", layered_settings, layered};
}

}  // namespace heddle::graphs
