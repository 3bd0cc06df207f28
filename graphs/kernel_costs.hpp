// Reads a table of kernels with their measured mean costs and deviations, and draws the costs of a graph's
// tasks from it. Measures nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "graphs/graph_file.hpp"

namespace heddle::graphs {

/// How long a kernel takes.
struct KernelCost {
    double mean_seconds = 0;
    double deviation_seconds = 0;
};
using KernelTable = std::map<std::string, KernelCost>;

/// A table `kernel, mean, deviation` in seconds, a line each, after a line with these three words. `#` begins
/// a comment. Throws Error with the line.
KernelTable read_kernel_costs(const std::string& path);

/// A performance model file of StarPU (version 45): the measurements of one architecture (0: the first, the
/// CPU) for data of `bytes`. Throws Error, with the sizes that there are, where that one was not measured.
KernelCost read_starpu_cost(const std::string& path, std::size_t architecture, std::uint64_t bytes);

/// The same graph with the work that `table` says: a normal deviate of the kernel's mean and deviation, cut
/// off at three deviations and at a twentieth of the mean, times `flops_per_second`. Throws Error for a
/// kernel that the table lacks, and for a graph without kernels.
GraphFile with_kernel_costs(GraphFile file, const KernelTable& table, double flops_per_second,
                            const Random& random);

}  // namespace heddle::graphs
