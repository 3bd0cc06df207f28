// Runs the program of all models in the in-process world: a seed chooses the machine, its faults and every
// interleaving.
#pragma once

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "runtime/stealing/policy.hpp"
#include "tests/composed_program.hpp"

namespace heddle::testing_composed {

inline void run_seed(std::uint64_t seed) {
    SCOPED_TRACE(seed);
    Random random = Random(seed).split(3);
    inprocess::Options options;
    options.nodes = static_cast<NodeId>(1 + random.below(4));
    options.cores = static_cast<CoreId>(1 + random.below(3));
    options.seed = seed;
    options.gate_open = random.below(3) == 0;
    options.stack_bytes = 256U << 10;
    options.faults.delay_max = random.below(300);
    options.faults.reorders = random.below(4) != 0;
    options.faults.wakes_percent = static_cast<std::uint32_t>(random.below(30));
    inprocess::InprocessBackend backend(options);
    const auto& policies = runtime::victim_policy_kinds();
    runtime::Schedule schedule;
    schedule.seed = seed;
    schedule.stealing.victim = policies[random.below(policies.size())].name;
    if (random.below(2) == 0) schedule.stealing.amount = runtime::Stealing::Amount::half;
    if (random.below(3) == 0) schedule.token_queue = runtime::TokenQueues::node;
    const Plans plans(options.nodes, options.cores, seed);
    std::atomic<std::uint32_t> right{0};
    runtime::Execution(backend, schedule, [&](NodeId node) {
        return std::make_unique<ComposedProgram>(plans, node, right);
    }).run();
    ASSERT_EQ(right, 1U);
}

}  // namespace heddle::testing_composed
