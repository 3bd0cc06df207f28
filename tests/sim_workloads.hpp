// For tests: runs a shipped workload in the simulator, with given settings and platform, and returns all
// results of the run. It checks the answer only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/run/execution.hpp"
#include "sim/sim_backend.hpp"
#include "workloads/workload.hpp"

#if defined(__SANITIZE_THREAD__)
#define HEDDLE_SKIP_WITH_THREAD_SANITIZER() \
    GTEST_SKIP() << "ThreadSanitizer of gcc 12 fails by itself where fibers go on in another thread"
#else
#define HEDDLE_SKIP_WITH_THREAD_SANITIZER() static_cast<void>(0)
#endif

namespace heddle::sim::testing {

struct StatedWorkload {
    std::string name;
    std::map<std::string, std::string> settings = {};
    std::string placement = "none";
};

/// `platform` states its nodes and cores. An answer that is not right fails the test.
inline runtime::RunResult simulate(const StatedWorkload& stated, const Platform& platform,
                                   runtime::Schedule schedule, const SimOptions& options = {},
                                   Recorder* recorder = nullptr) {
    const auto& kind = workloads::find(stated.name);
    Settings settings(kind.settings);
    for (const auto& [key, value] : stated.settings) settings.set(key, value);
    const auto workload = kind.make(settings);
    SimBackend backend(platform, options);
    schedule.placement = stated.placement;
    workload->prepare({{platform.beginners(), platform.cores}, platform.core_speed, 0, 1e-9}, schedule);
    runtime::Execution execution(
        backend, schedule, [&](NodeId id) { return workload->program(id); }, recorder);
    auto result = execution.run();
    const auto verdict = workload->check(result);
    EXPECT_EQ(verdict.kind, workloads::Verdict::Kind::right)
        << stated.name << ": " << verdict.reason << ", seed " << schedule.seed;
    return result;
}

/// Everything that a result file says of a run.
inline auto all_of(const runtime::RunResult& result) {
    std::vector<std::uint64_t> numbers = {static_cast<std::uint64_t>(result.makespan.count())};
    for (const auto& node : result.nodes) {
        for (const auto number : {node.tasks, node.steals_within_node, node.steals_between_nodes,
                                  node.steal_attempts, node.messages, node.active_messages, node.bytes,
                                  static_cast<std::uint64_t>(node.busy.count())}) {
            numbers.push_back(number);
        }
    }
    return std::pair(numbers, result.steals);
}

/// A second run gives the same, whichever order the simulator takes nodes in and however long its windows
/// are. Returns it.
inline auto expect_same_in_all_orders(const StatedWorkload& program, const Platform& platform,
                                      const runtime::Schedule& schedule, const SimOptions& options) {
    const auto once = [&](const SimOptions& changed) {
        return all_of(simulate(program, platform, schedule, changed));
    };
    SimOptions reversed = options;
    reversed.reverse_nodes = true;
    SimOptions plain = options;
    plain.plain_windows = true;
    const auto first = once(options);
    const std::string what = program.name + ", " + schedule.stealing.victim;
    EXPECT_EQ(first, once(options)) << what;
    EXPECT_EQ(first, once(reversed)) << what;
    EXPECT_EQ(first, once(plain)) << what;
    return first;
}

}  // namespace heddle::sim::testing
