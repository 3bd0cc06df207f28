// For tests: random collective calls on random clusters, whose messages come late and in another order. Each
// is drawn from a seed.
#pragma once

#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "tests/spmd_programs.hpp"

namespace heddle::spmd::testing_spmd {

inline void run_seed(std::uint64_t seed, int calls) {
    Random random(seed);
    inprocess::Options machine;
    machine.nodes = static_cast<NodeId>(1 + random.below(9));
    machine.cores = static_cast<CoreId>(1 + random.below(4));
    machine.seed = seed;
    for (NodeId node = 0; node < machine.nodes; ++node)
        machine.group.push_back(
            node == 0 ? 0 : machine.group.back() + static_cast<std::uint32_t>(random.below(2)));
    machine.gate_open = random.below(2) == 0;
    if (random.below(3) != 0) machine.faults = {.delay_max = 300, .reorders = true, .wakes_percent = 20};
    SpmdOptions options;
    if (random.below(3) == 0) options.group = static_cast<RankId>(1 + random.below(5));
    if (random.below(4) == 0) options.ranks = flat;
    options.crew.copiers = static_cast<std::uint32_t>(1 + random.below(4));
    options.crew.overlap = random.below(2) == 0;
    options.crew.communicators = static_cast<std::uint32_t>(1 + random.below(3));
    options.crew.in_place = random.below(2) == 0;
    const std::uint64_t split_max = random.below(2) == 0 ? 0 : 4;
    inprocess::InprocessBackend backend(machine);
    runtime::Execution(backend, {}, [&](NodeId) {
        return std::make_unique<RandomCalls>(options, seed, calls, split_max);
    }).run();
}

inline void run_seeds(std::uint64_t first, std::uint64_t count, int calls) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        run_seed(seed, calls);
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    }
}

}  // namespace heddle::spmd::testing_spmd
