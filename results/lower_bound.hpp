// Computes a lower bound of a run's makespan, from its work and its machine: no schedule is shorter.
#pragma once

#include <optional>

#include "results/record.hpp"

namespace heddle::results {

/// The largest of three bounds: all declared work on all cores at once, each at its own speed and memory
/// bandwidth; all calls of input and output on all disks at once; and what the placement knows of the graph
/// (its critical path on the fastest core). The policy has no influence on any. Nothing natively and
/// with `platform.compute: measured`, where the time of work is not the declared one, and nothing on a
/// platform with noise, whose cores may turn out faster than declared.
std::optional<double> lower_bound_seconds(const Record& record);

}  // namespace heddle::results
