// Places the recorded tasks of a dataflow group as the configuration says (the KAAPI paper, section 3.5):
// `placement: none` steals, every other name partitions.
#pragma once

#include <optional>

#include "base/cluster_view.hpp"
#include "base/settings.hpp"
#include "model/dataflow.hpp"
#include "runtime/run/schedule.hpp"

namespace heddle::workloads {

/// The work by which a group is placed.
enum class Weights : std::uint8_t {
    declared,
    measured,  ///< Group::measure; declared if there are no times
};

/// Nothing if the schedule places nothing. Its tasks' work must be in flops. When it places, it throws Error
/// as partitioners::place_graph does, and if a partitioner is to make more parts than there are tasks. If
/// nothing is stolen, workers keep strictly to the order of the schedule.
std::optional<dataflow::Placer> group_placer(const ClusterView& cluster, const runtime::Schedule& schedule,
                                             Weights weights = Weights::declared);

/// The setting `weights`, of workloads that may be placed again after an iteration, and its value.
Setting weights_setting();
Weights weights_in(const Settings& settings);

/// The setting `recording`, of workloads whose group each node may record itself, and its value.
Setting recording_setting();
dataflow::Recorded recorded_in(const Settings& settings);

}  // namespace heddle::workloads
