// Refuses workloads of filaments that would not fit into memory, and compares their results with those of
// sequential programs, bit by bit.
#include "workloads/filaments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/memory_need.hpp"

namespace heddle::workloads {

// Natively one process has node 0. All processes count what node 0 takes, and so refuse together.
void FilamentWorkload::prepare(const ClusterView& cluster, const runtime::Schedule& schedule) {
    const MemoryTaken taken = memory(cluster.grid, schedule.memory);
    const double parts =
        (taken.shared + taken.moved + taken.each * cluster.grid.nodes) * cluster.share_here();
    need_memory(std::max(parts + taken.first + taken.shown, taken.checked), taken.what, taken.reduce,
                taken.where);
}

MemoryTaken FilamentWorkload::memory_of(MemoryTaken matrices, const Settings& settings,
                                        const WorkerGrid& grid, const runtime::SharedPages& pages) {
    const bool skips = settings.text("kernels") == "skip";
    const bool aligned = settings.text("rows") == "aligned";
    const double n = settings.number("n");
    const double row = sizeof(double) * n;
    const double stays = n * (aligned ? aligned_bytes(row, false, grid, pages) : row);
    const double moves = n * (aligned ? aligned_bytes(row, true, grid, pages) : row);
    const bool grouped = moves > stays && matrices.moved + matrices.each > 0;
    return {
        .shared = matrices.shared * stays,
        .moved = matrices.moved * moves,
        .each = matrices.each * moves,
        .first = matrices.first * stays,
        .shown = skips ? 0 : matrices.shown * n * row,
        .checked = skips ? 0 : matrices.checked * n * row,
        .what = fmt::format("arrays of {:.0f} x {:.0f} numbers that all nodes share, or their check,", n, n),
        .reduce = grouped ? "lower workload.n, or schedule.memory.page or group" : "lower workload.n",
        .where = settings.where("n")};
}

double FilamentWorkload::aligned_bytes(double bytes, bool moves, const WorkerGrid& grid,
                                       const runtime::SharedPages& pages) {
    constexpr double of_system = 4096;
    const double unit =
        moves && grid.nodes > 1 ? static_cast<double>(pages.page_bytes) * pages.group : of_system;
    return std::ceil(bytes / unit) * unit;
}

std::string first_difference(const std::vector<double>& found, const std::vector<double>& expected,
                             std::int64_t n) {
    const auto size = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (std::memcmp(&found[i], &expected[i], sizeof(double)) == 0) continue;
        return fmt::format("row {}, column {} is {}, and the sequential program's {}", i / size, i % size,
                           found[i], expected[i]);
    }
    return {};
}

}  // namespace heddle::workloads
