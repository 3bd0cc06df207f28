// Searches an unbalanced tree as a plain SimGrid program, with an actor for each worker and one for each node
// that answers messages. It uses the deque, victims and random numbers of Heddle's scheduler
// (runtime/core/worker.cpp, runtime/stealing/steal_service.cpp). So a comparison of the two programs compares
// only how they simulate.
#pragma once

#include <cstdint>

#include "base/platform.hpp"
#include "bench/actors/platform.hpp"
#include "runtime/backend.hpp"
#include "runtime/run/schedule.hpp"
#include "workloads/uts_tree.hpp"

namespace heddle::actors {

/// How a worker spends the time of a task.
enum class Working : std::uint8_t {
    execute,  ///< this_actor::execute, which computes on the host
    sleep     ///< this_actor::sleep_for, which leaves the host alone: cheaper
};

struct Search {
    workloads::UtsTree tree;
    double task_flops = 0;
    Working working = Working::execute;
};

struct Outcome {
    double makespan_seconds = 0;  ///< virtual, until the root task has ended
    workloads::UtsCount count;
    std::uint64_t tasks = 0;
    std::uint64_t steals_within_node = 0;
    std::uint64_t steals_between_nodes = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

/// Searches the tree on the hosts built, with the policy of `schedule`, and runs SimGrid to the end.
/// Scheduler operations take no virtual time. The end costs nothing and is exact: a fork/join program is over
/// when its root task is, and every actor is told at that instant, without messages.
Outcome search_with_actors(const Hosts& hosts, const Platform& platform, const runtime::Schedule& schedule,
                           const Search& search);

}  // namespace heddle::actors
