// For tests: runs every shipped workload at test size in a world that delays and reorders messages and wakes
// workers without a reason. Its answer is right at each seed. faulty_workloads_test.cpp tries few seeds, the
// slow form many.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "tests/faulty_machine.hpp"
#include "workloads/workload.hpp"

namespace heddle::testing_faults {

struct Stated {
    std::string name;
    std::map<std::string, std::string> settings;
    std::string placement = "none";
};

inline std::vector<Stated> all_workloads() {
    return {
        {"fib", {{"n", "9"}}},
        {"nqueens", {{"n", "5"}}},
        {"uts", {{"tree", "T1"}, {"depth", "2"}}},
        {"bag", {{"tasks", "40"}}},
        {"quadrature", {{"tolerance", "1e10"}}},
        {"filament_fib", {{"n", "9"}}},
        {"filament_fib", {{"n", "12"}, {"cutoff", "4"}}},
        {"earth_fib", {{"n", "7"}}},
        {"earth_nqueens", {{"n", "5"}}},
        {"earth_lock", {{"threads", "5"}, {"rounds", "3"}}},
        {"earth_reduction", {}},
        {"dag", {{"graph", "cholesky:tiles=4"}}, "heft"},
        {"dag", {{"graph", "cholesky:tiles=4"}}, "block"},
        {"cholesky", {{"tiles", "3"}, {"tile_size", "8"}}, "cyclic"},
        {"lu", {{"tiles", "3"}, {"tile_size", "8"}}, "cyclic"},
    };
}

/// One run on a drawn machine. An answer that is not right fails the test.
inline runtime::RunResult run(const Stated& stated, const inprocess::Options& options,
                              runtime::Schedule schedule) {
    inprocess::InprocessBackend backend(options);

    const auto& kind = workloads::find(stated.name);
    Settings settings(kind.settings);
    for (const auto& [key, value] : stated.settings) settings.set(key, value);
    const auto workload = kind.make(settings);
    schedule.placement = stated.placement;
    workload->prepare({{options.at_start.value_or(options.nodes), options.cores}, 1e9, 0, 1e-9}, schedule);
    runtime::Execution execution(backend, schedule, [&](NodeId id) { return workload->program(id); });
    auto result = execution.run();
    const auto verdict = workload->check(result);
    EXPECT_EQ(verdict.kind, workloads::Verdict::Kind::right)
        << stated.name << ", seed " << options.seed << ": " << verdict.reason;
    return result;
}

/// The seed chooses the machine, the policy and every interleaving.
inline void run_seed(const Stated& stated, std::uint64_t seed) {
    const auto [options, schedule] = draw_machine(seed);
    (void)run(stated, options, schedule);
}

inline void run_seeds(std::uint64_t first, std::uint64_t count) {
    const std::vector<Stated> all = all_workloads();
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const Stated& stated = all[seed % all.size()];
        SCOPED_TRACE(stated.name + ", seed " + std::to_string(seed));
        run_seed(stated, seed);
        if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace heddle::testing_faults
