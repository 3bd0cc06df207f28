// For tests: draws a schedule and a machine of the in-process world with faults. Messages are late and out of
// order, or pass gateways. Workers wake without a reason. The seed decides every interleaving.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/schedule.hpp"
#include "tests/networks_testing.hpp"

namespace heddle::testing_faults {

struct FaultyMachine {
    inprocess::Options options;
    runtime::Schedule schedule;
};

/// What nodes send unasked or together, how much they ask for, and how long their tasks fork on.
inline void draw_traffic(FaultyMachine& drawn, Random random) {
    drawn.options.receives = random.below(2) == 0;
    runtime::Schedule& schedule = drawn.schedule;
    schedule.balancing.policy = static_cast<runtime::Balancing::Policy>(random.below(3));
    schedule.balancing.threshold = static_cast<std::uint32_t>(1 + random.below(4));
    schedule.stealing.requests = static_cast<std::uint32_t>(1 + random.below(4));
    if (random.below(3) == 0) schedule.aggregate_bytes = 64;
    if (random.below(3) == 0) schedule.fork_window = 1 + random.below(4);
}

inline FaultyMachine draw_machine(std::uint64_t seed) {
    Random random = Random(seed).split(7);
    FaultyMachine drawn;
    inprocess::Options& options = drawn.options;
    options.nodes = static_cast<NodeId>(1 + random.below(5));
    options.cores = static_cast<CoreId>(1 + random.below(3));
    options.seed = seed;
    options.gate_open = random.below(3) == 0;
    options.stack_bytes = 256U << 10;
    options.faults.delay_max = random.below(400);
    options.faults.reorders = random.below(4) != 0;
    options.faults.wakes_percent = static_cast<std::uint32_t>(random.below(30));
    if (random.below(3) == 0)
        options.routes = testing_networks::draw_networks(random.split(1), options.nodes);

    runtime::Schedule& schedule = drawn.schedule;
    schedule.seed = seed;
    schedule.deque_slots = 1U << 12;
    static const std::vector<std::string> policies = {"random", "local_first", "hierarchical", "lifeline",
                                                      "satin"};
    schedule.stealing.victim = policies[random.below(policies.size())];
    schedule.stealing.amount = static_cast<runtime::Stealing::Amount>(random.below(3));
    if (random.below(2) == 0) schedule.stealing.busy = runtime::Stealing::Busy::wait;
    if (random.below(3) == 0) schedule.token_queue = runtime::TokenQueues::node;
    if (random.below(3) == 0) schedule.start = runtime::Start::tree;
    schedule.pruning.policy = static_cast<runtime::Pruning::Policy>(random.below(3));
    schedule.pruning.threshold = static_cast<std::uint32_t>(1 + random.below(4));
    draw_traffic(drawn, random.split(2));
    return drawn;
}

}  // namespace heddle::testing_faults
