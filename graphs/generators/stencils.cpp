// Generates stencils over steps: a cell of a step needs itself and its neighbours of the previous step. All
// tasks of a cell write the same datum, so that a partition of the mesh places them.
#include <fmt/format.h>

#include "graphs/generators/assembly.hpp"
#include "graphs/generators/families.hpp"

namespace heddle::graphs {

namespace {

GraphFile stencil(const Settings& settings, std::initializer_list<const char*> names, std::uint32_t width,
                  std::uint32_t height, std::uint32_t steps) {
    const double sides = 2.0 * (width - 1) * height + 2.0 * width * (height - 1);
    const GraphSize size{1.0 * width * height * steps, (1.0 * width * height + sides) * (steps - 1)};
    need_room(settings, names, size);
    const std::uint64_t cells = std::uint64_t{width} * height;
    const bool periodic = settings.boolean("periodic");
    Assembly graph(settings);
    for (std::uint32_t step = 0; step < steps; ++step) {
        for (std::uint32_t y = 0; y < height; ++y) {
            for (std::uint32_t x = 0; x < width; ++x) {
                const TaskIndex task = graph.task();
                const DatumIndex cell = y * width + x;
                graph.writes(cell);
                if (step == 0) continue;
                const auto before = [&](std::uint32_t column, std::uint32_t row) {
                    graph.edge(
                        static_cast<TaskIndex>(cells * (step - 1) + std::uint64_t{row} * width + column),
                        task);
                };
                before(x, y);
                // On a ring of two the left neighbour is the right one: it counts once.
                if (x > 0) before(x - 1, y);
                if (x + 1 < width) before(x + 1, y);
                if (periodic && width > 2 && x == 0) before(width - 1, y);
                if (periodic && width > 2 && x + 1 == width) before(0, y);
                if (y > 0) before(x, y - 1);
                if (y + 1 < height) before(x, y + 1);
                if (periodic && height > 2 && y == 0) before(x, height - 1);
                if (periodic && height > 2 && y + 1 == height) before(x, 0);
            }
        }
    }
    return graph.build();
}

GraphFile stencil_1d(const Settings& settings) {
    return stencil(settings, {"width", "steps"}, count(settings, "width"), 1, count(settings, "steps"));
}

GraphFile stencil_2d(const Settings& settings) {
    return stencil(settings, {"width", "height", "steps"}, count(settings, "width"),
                   count(settings, "height"), count(settings, "steps"));
}

Setting periodic_setting() {
    return {"periodic", SettingKind::boolean, "false", "the first cell is a neighbour of the last"};
}

std::vector<Setting> settings_1d() {
    return with_weights(
        {count_setting("width", "32", "cells"), count_setting("steps", "10", "steps"), periodic_setting()});
}

std::vector<Setting> settings_2d() {
    return with_weights({count_setting("width", "16", "cells in each row"),
                         count_setting("height", "16", "rows"), count_setting("steps", "10", "steps"),
                         periodic_setting()});
}

}  // namespace

Generator stencil_1d_generator() {
    return {"stencil_1d", "a row of cells over steps, each with its two neighbours", settings_1d, stencil_1d};
}

Generator stencil_2d_generator() {
    return {"stencil_2d", "a mesh of cells over steps, each with its four neighbours", settings_2d,
            stencil_2d};
}

}  // namespace heddle::graphs
