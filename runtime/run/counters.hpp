// The counters of one node: tasks, steals, messages, bytes. Each worker and the receiver have plain counters
// of their own; the node adds them up at the end.
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
    std::uint64_t steal_requests = 0;        ///< of these, to other nodes
    std::uint64_t far_requests = 0;          ///< of the requests, to another group of the network
    std::uint64_t requests_granted = 0;      ///< of the requests, answered with tasks; not lifelines
    std::uint64_t far_granted = 0;           ///< of `far_requests`, the same
    std::uint64_t messages = 0;              ///< sent to other nodes, after aggregation
    std::uint64_t active_messages = 0;       ///< before aggregation
    std::uint64_t bytes = 0;                 ///< sent to other nodes
    std::uint64_t data_bytes = 0;            ///< of those: data that tasks hand to each other
    std::uint64_t page_faults = 0;           ///< of shared memory: accesses that waited for a page
    std::uint64_t page_requests = 0;         ///< messages that asked for a page, or for more access to it
    std::uint64_t pages_moved = 0;           ///< sent to other nodes with their contents
    std::uint64_t page_bytes = 0;            ///< of these, and of changes of pages
    std::uint64_t invalidations = 0;         ///< pages given up, because another node writes them or may have
    double declared_flops = 0;               ///< of the user work that passed the seam, whatever core did it
    double declared_bytes = 0;               ///< the same to and from memory
    std::uint64_t pieces = 0;                ///< of user work that passed the seam
    std::uint64_t disk_calls = 0;            ///< of input and output, for which tasks or strands waited
    double disk_bytes = 0;                   ///< that disks read or wrote for them
    TimeSum busy{};        ///< time that workers spent on tasks, summed over the node's workers
    ActivityTotals times;  ///< from the start to the end of the last task, summed over the node's workers

    Counters& operator+=(const Counters& other) {
        tasks += other.tasks;
        steals_within_node += other.steals_within_node;
        steals_between_nodes += other.steals_between_nodes;
        steal_attempts += other.steal_attempts;
        steal_requests += other.steal_requests;
        far_requests += other.far_requests;
        requests_granted += other.requests_granted;
        far_granted += other.far_granted;
        messages += other.messages;
        active_messages += other.active_messages;
        bytes += other.bytes;
        data_bytes += other.data_bytes;
        page_faults += other.page_faults;
        page_requests += other.page_requests;
        pages_moved += other.pages_moved;
        page_bytes += other.page_bytes;
        invalidations += other.invalidations;
        declared_flops += other.declared_flops;
        declared_bytes += other.declared_bytes;
        pieces += other.pieces;
        disk_calls += other.disk_calls;
        disk_bytes += other.disk_bytes;
        busy += other.busy;
        times += other.times;
        return *this;
    }
};

}  // namespace heddle::runtime
