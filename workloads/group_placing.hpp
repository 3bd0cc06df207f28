// Places the recorded tasks of a dataflow group as the configuration says (KAAPI, section 3.5): `placement:
// none` steals, every other name partitions.
#pragma once

#include <optional>

#include "base/cluster_view.hpp"
#include "model/dataflow.hpp"
#include "runtime/run/schedule.hpp"

namespace heddle::workloads {

/// Nothing if the schedule places nothing. Its tasks' work must be in flops. Throws Error as
/// partitioners::place_graph does, when it places. If nothing is stolen, workers keep strictly to the order
/// of the schedule.
std::optional<dataflow::Placer> group_placer(const ClusterView& cluster, const runtime::Schedule& schedule);

}  // namespace heddle::workloads
