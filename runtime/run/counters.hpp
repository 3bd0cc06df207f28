// What one node counts while it runs: tasks, steals, messages, bytes. Each worker and the receiver have plain
// counters of their own; the node adds them up at the end.
#pragma once

#include <cstdint>

#include "base/activity.hpp"
#include "base/time.hpp"

namespace heddle::runtime {

/// What one node counted. Sent to node 0 when the run is over.
struct Counters {
    std::uint64_t tasks = 0;                 ///< tasks run to completion
    std::uint64_t steals_within_node = 0;    ///< tasks taken from another worker of the node
    std::uint64_t steals_between_nodes = 0;  ///< tasks taken from another node
    std::uint64_t steal_attempts = 0;        ///< looks at a worker or requests to a node, successful or not
    std::uint64_t messages = 0;              ///< sent to other nodes, after aggregation
    std::uint64_t active_messages = 0;       ///< before aggregation
    std::uint64_t bytes = 0;                 ///< sent to other nodes
    std::uint64_t data_bytes = 0;            ///< of those: data that tasks hand to each other
    double declared_flops = 0;               ///< of the user work that passed the seam, whatever core did it
    double declared_bytes = 0;               ///< the same to and from memory
    std::uint64_t pieces = 0;                ///< of user work that passed the seam
    TimeSum busy{};        ///< time that workers spent on tasks, summed over the node's workers
    ActivityTotals times;  ///< from the start to the end of the last task, summed over the node's workers

    Counters& operator+=(const Counters& other) {
        tasks += other.tasks;
        steals_within_node += other.steals_within_node;
        steals_between_nodes += other.steals_between_nodes;
        steal_attempts += other.steal_attempts;
        messages += other.messages;
        active_messages += other.active_messages;
        bytes += other.bytes;
        data_bytes += other.data_bytes;
        declared_flops += other.declared_flops;
        declared_bytes += other.declared_bytes;
        pieces += other.pieces;
        busy += other.busy;
        times += other.times;
        return *this;
    }
};

}  // namespace heddle::runtime
