// Clusters: groups of tasks that share a processor which is not chosen yet. DSC assumes as many processors as
// it has clusters; this file maps the clusters onto the processors of the machine.
#pragma once

#include <span>
#include <vector>

#include "partitioners/schedulers/problem.hpp"
#include "partitioners/schedulers/schedule.hpp"

namespace heddle::schedulers {

struct Clustering {
    std::vector<std::uint32_t> cluster;  ///< of each task, 0 to clusters - 1
    std::uint32_t clusters = 0;
};

/// Dominant sequence clustering of the graph with mean times and mean delays, as many clusters as it likes
/// (dsc.cpp).
Clustering dominant_sequence_clustering(const Problem& problem);

/// List scheduling with load balancing: the processor that is free first takes the more urgent of its own
/// ready tasks and the ready tasks of clusters that have no processor yet; such a cluster stays with it.
/// Radulescu, van Gemund, Lin: "LLB: a fast and effective scheduling algorithm for distributed-memory
/// systems", IPPS 1999.
std::vector<ProcessorIndex> map_by_list(const Problem& problem, const Clustering& clustering);

/// Clusters by falling work, each to the processor with the least work: guided load balancing, as in Yang and
/// Gerasoulis's PYRROS (ICS 1992).
std::vector<ProcessorIndex> map_by_load(const Problem& problem, const Clustering& clustering);

/// The same two ideas for unequal processors. By list: tasks by falling b-level, and the first of a cluster
/// takes the cluster where it ends first, counting what the processor was given. By load: clusters by falling
/// work, each to the processor that would be done with all its clusters first.
std::vector<ProcessorIndex> map_by_finish(const Problem& problem, const Clustering& clustering);
std::vector<ProcessorIndex> map_by_speed(const Problem& problem, const Clustering& clustering);

/// Runs every task on its processor, ready tasks by falling b-level, in idle intervals too.
Schedule schedule_on(const Problem& problem, std::span<const ProcessorIndex> processor);

}  // namespace heddle::schedulers
