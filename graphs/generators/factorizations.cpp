// Generates tiled right-looking factorizations of dense matrices: Cholesky, and LU without pivoting. Every
// task writes one tile, and gets each other tile that it reads from the task that wrote it last.
#include <fmt/format.h>

#include "base/memory_need.hpp"
#include "graphs/generators/families.hpp"

namespace heddle::graphs {

namespace {

/// Tiles, each with the task that wrote it last. Work and bytes follow from the size of a tile, not from the
/// weight settings.
class Tiles {
public:
    Tiles(std::uint32_t tiles, std::uint32_t size, std::vector<std::string> kernels)
        : tiles_(tiles), bytes_(8.0 * size * size), writer_(std::size_t{tiles} * tiles, no_task) {
        result_.kernels = std::move(kernels);
        result_.data = tiles * tiles;
    }

    /// A task that reads the given tiles and updates tile (row, column).
    void task(std::uint16_t kernel, double flops, std::uint32_t row, std::uint32_t column,
              std::initializer_list<std::pair<std::uint32_t, std::uint32_t>> reads, std::string name) {
        const TaskIndex self = builder_.add_task(flops, std::move(name));
        const auto receive = [&](std::uint32_t r, std::uint32_t c) {
            const TaskIndex from = writer_[std::size_t{r} * tiles_ + c];
            if (from != no_task) builder_.add_edge(from, self, bytes_);
        };
        for (const auto& [r, c] : reads) receive(r, c);
        receive(row, column);
        writer_[std::size_t{row} * tiles_ + column] = self;
        result_.kernel_of.push_back(kernel);
        result_.writes.push_back(row * tiles_ + column);
    }

    GraphFile build() {
        result_.graph = builder_.build();
        return std::move(result_);
    }

private:
    static constexpr TaskIndex no_task = static_cast<TaskIndex>(-1);

    std::uint32_t tiles_;
    double bytes_;
    std::vector<TaskIndex> writer_;
    TaskGraphBuilder builder_;
    GraphFile result_;
};

std::uint32_t tiles_in(const Settings& settings) {
    return settings.integer<std::uint32_t>("tiles");
}

std::uint32_t size_in(const Settings& settings) {
    return settings.integer<std::uint32_t>("tile_size");
}

std::vector<Setting> tile_settings() {
    return {
        {"tiles", SettingKind::integer, "10", "tiles in each row of the matrix", {}, 1, tiles_max},
        {"tile_size", SettingKind::integer, "256", "numbers in each row of a tile", {}, 1, tile_size_max}};
}

/// Refuses a graph that does not fit into memory. A task has two edges that it is reached by, a name, and its
/// share of the tables that read them: 600 bytes where the graph is run, half of that for the graph alone.
void need_memory_for(double tasks, const Settings& settings) {
    constexpr double bytes_of_task = 300;
    need_memory(bytes_of_task * tasks, fmt::format("the factorization's {:.0f} tasks", tasks),
                "lower the number of tiles", settings.where("tiles"));
}

GraphFile cholesky(const Settings& settings) {
    const std::uint32_t n = tiles_in(settings), size = size_in(settings);
    need_memory_for(1.0 * n * (n + 1) * (n + 2) / 6, settings);
    const double b3 = static_cast<double>(size) * size * size;
    Tiles tiles(n, size, {"potrf", "trsm", "syrk", "gemm"});
    for (std::uint32_t k = 0; k < n; ++k) {
        tiles.task(0, b3 / 3, k, k, {}, fmt::format("potrf {}", k));
        for (std::uint32_t i = k + 1; i < n; ++i)
            tiles.task(1, b3, i, k, {{k, k}}, fmt::format("trsm {} {}", i, k));
        for (std::uint32_t i = k + 1; i < n; ++i) {
            for (std::uint32_t j = k + 1; j < i; ++j) {
                tiles.task(3, 2 * b3, i, j, {{i, k}, {j, k}}, fmt::format("gemm {} {} {}", i, j, k));
            }
            tiles.task(2, b3, i, i, {{i, k}}, fmt::format("syrk {} {}", i, k));
        }
    }
    return tiles.build();
}

GraphFile lu(const Settings& settings) {
    const std::uint32_t n = tiles_in(settings), size = size_in(settings);
    need_memory_for(1.0 * n * (n + 1) * (2.0 * n + 1) / 6, settings);
    const double b3 = static_cast<double>(size) * size * size;
    Tiles tiles(n, size, {"getrf", "trsm_lower", "trsm_upper", "gemm"});
    for (std::uint32_t k = 0; k < n; ++k) {
        tiles.task(0, 2 * b3 / 3, k, k, {}, fmt::format("getrf {}", k));
        for (std::uint32_t j = k + 1; j < n; ++j)
            tiles.task(1, b3, k, j, {{k, k}}, fmt::format("trsm_lower {} {}", k, j));
        for (std::uint32_t i = k + 1; i < n; ++i)
            tiles.task(2, b3, i, k, {{k, k}}, fmt::format("trsm_upper {} {}", i, k));
        for (std::uint32_t i = k + 1; i < n; ++i) {
            for (std::uint32_t j = k + 1; j < n; ++j) {
                tiles.task(3, 2 * b3, i, j, {{i, k}, {k, j}}, fmt::format("gemm {} {} {}", i, j, k));
            }
        }
    }
    return tiles.build();
}

}  // namespace

Generator cholesky_generator() {
    return {"cholesky", "tiled right-looking Cholesky factorization: potrf, trsm, syrk, gemm", tile_settings,
            cholesky};
}

Generator lu_generator() {
    return {"lu", "tiled right-looking LU factorization without pivoting: getrf, trsm, gemm", tile_settings,
            lu};
}

}  // namespace heddle::graphs
