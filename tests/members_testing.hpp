// For tests: runs shipped workloads on nodes that join and leave at drawn times, in a world that delays and
// reorders messages. The answer is right at each seed. members_test.cpp tries few seeds, the slow form many.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/inprocess/inprocess_backend.hpp"
#include "tests/faulty_machine.hpp"
#include "tests/faulty_workloads.hpp"

namespace heddle::testing_members {

inline std::vector<testing_faults::SmallRun> all_workloads() {
    return {
        {"fib", {{"n", "13"}}},
        {"nqueens", {{"n", "6"}}},
        {"uts", {{"tree", "T1"}, {"depth", "3"}}},
        {"bag", {{"tasks", "300"}}},
        {"earth_fib", {{"n", "9"}}},
        {"cholesky", {{"tiles", "5"}, {"tile_size", "8"}}, "cyclic"},
    };
}

/// Up to three more nodes join, and any but node 0 may leave.
inline void draw_members(inprocess::Options& options, std::uint64_t seed) {
    Random random = Random(seed).split(11);
    const NodeId first = options.nodes;
    options.at_start = first;
    options.nodes += static_cast<NodeId>(random.below(4));
    const auto moment = [&] {
        return std::chrono::nanoseconds(random.below(random.below(2) == 0 ? 300 : 6000));
    };
    for (NodeId node = first; node < options.nodes; ++node) {
        if (random.below(5) != 0) options.member_events.push_back({moment(), node, true});
    }
    for (NodeId node = 0; node < options.nodes; ++node) {
        if (random.below(2) == 0) options.member_events.push_back({moment(), node, false});
    }
    std::ranges::stable_sort(options.member_events, {}, &inprocess::MemberEvent::at);
    if (options.routes)
        options.routes = testing_networks::draw_changing_networks(random, first, options.nodes);
}

inline bool passes_gateways(const inprocess::Options& options) {
    for (NodeId from = 0; options.routes && from < options.nodes; ++from)
        for (NodeId to = 0; to < options.nodes; ++to)
            if (from != to && options.routes->hops(from, to) > 1) return true;
    return false;
}

struct Changes {
    std::uint64_t joined = 0;  ///< nodes that had tasks though they joined
    std::uint64_t left = 0;    ///< nodes that left before the end
    // Of them, where messages passed gateways.
    std::uint64_t joined_networks = 0;
    std::uint64_t left_networks = 0;
};

/// Nodes do not start along a tree where they may join and leave.
inline testing_faults::FaultyMachine draw_changing_machine(std::uint64_t seed) {
    testing_faults::FaultyMachine drawn = testing_faults::draw_machine(seed);
    draw_members(drawn.options, seed);
    drawn.schedule.start = runtime::Start::none;
    return drawn;
}

inline void run_seed(const testing_faults::SmallRun& stated, std::uint64_t seed, Changes& changes) {
    auto [options, schedule] = draw_changing_machine(seed);
    const auto result = testing_faults::run(stated, options, schedule);
    for (NodeId node = 0; node < options.nodes; ++node) {
        const auto& counters = result.nodes[node];
        const std::uint64_t several = passes_gateways(options) ? 1 : 0;
        if (node >= *options.at_start && counters.tasks > options.cores) {
            ++changes.joined;
            changes.joined_networks += several;
        }
        const auto membership = result.members.find(node);
        if (membership != result.members.end() && membership->second.ended != Time::zero()) {
            ++changes.left;
            changes.left_networks += several;
        }
    }
}

inline Changes run_seeds(std::uint64_t first, std::uint64_t count) {
    Changes changes;
    const std::vector<testing_faults::SmallRun> all = all_workloads();
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const auto& stated = all[seed % all.size()];
        SCOPED_TRACE(stated.name + ", seed " + std::to_string(seed));
        run_seed(stated, seed, changes);
        if (::testing::Test::HasFailure()) break;
    }
    return changes;
}

}  // namespace heddle::testing_members
