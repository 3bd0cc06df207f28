// For tests: runs a program that combines fork/join, EARTH, a placed graph and channels in-process. A seed
// chooses the machine, its faults and every interleaving.
#pragma once

#include <gtest/gtest.h>

#include "tests/composed_program.hpp"
#include "tests/faulty_machine.hpp"

namespace heddle::testing_composed {

inline void run_seed(std::uint64_t seed) {
    SCOPED_TRACE(seed);
    const auto [options, schedule] = testing_faults::draw_machine(seed);
    inprocess::InprocessBackend backend(options);
    const Plans plans(options.nodes, options.cores, seed);
    std::atomic<std::uint32_t> right{0};
    runtime::Execution(backend, schedule, [&](NodeId node) {
        return std::make_unique<ComposedProgram>(plans, node, right);
    }).run();
    ASSERT_EQ(right, 1U);
}

}  // namespace heddle::testing_composed
