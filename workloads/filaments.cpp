// Refuses workloads of filaments that would not fit into memory, and compares their results with those of
// sequential programs, bit by bit.
#include "workloads/filaments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/memory_need.hpp"

namespace heddle::workloads {

// Natively one process has node 0. All processes count what node 0 takes, and so refuse together.
void FilamentWorkload::prepare(const ClusterView& cluster, const runtime::Schedule& /*schedule*/) {
    const MemoryTaken taken = memory(cluster.grid);
    need_memory(std::max(taken.shared * cluster.share_here() + taken.shown, taken.checked), taken.what,
                taken.reduce, taken.where);
}

MemoryTaken FilamentWorkload::memory_of(MemoryTaken matrices, const Settings& settings) {
    const bool skips = settings.text("kernels") == "skip";
    const double n = settings.number("n");
    const double bytes = sizeof(double) * n * n;
    return {matrices.shared * bytes,
            skips ? 0 : matrices.shown * bytes,
            skips ? 0 : matrices.checked * bytes,
            fmt::format("arrays of {:.0f} x {:.0f} numbers that all nodes share, or their check,", n, n),
            "lower workload.n",
            settings.where("n")};
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
