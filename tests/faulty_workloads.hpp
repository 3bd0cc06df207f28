// For tests: runs every shipped workload at test size in a world that delays and reorders messages and wakes
// workers without a reason. Its answer is right at each seed. faulty_workloads_test.cpp tries few seeds, the
// slow form many.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "tests/faulty_machine.hpp"
#include "workloads/workload.hpp"

namespace heddle::testing_faults {

struct SmallRun {
    std::string name;
    std::map<std::string, std::string> settings;
    std::string placement = "none";
    NodeId nodes_min = 1;
};

/// The smallest size of these takes seconds: their own tests run them.
inline const std::set<std::string> too_large = {"nas_cg", "nas_ft", "nas_is"};

inline std::vector<SmallRun> all_workloads() {
    const std::map<std::string, std::string> adaptive = {{"n", "150"}, {"grain", "4"}, {"steps", "3"}};
    const auto with = [](std::map<std::string, std::string> settings, const std::string& name,
                         const std::string& value) {
        settings[name] = value;
        return settings;
    };
    const std::map<std::string, std::string> tiles = {{"tiles", "3"}, {"tile_size", "8"}};
    const std::map<std::string, std::string> sweeps = {{"n", "12"}, {"sweeps", "3"}, {"strips", "3"}};
    const std::map<std::string, std::string> call = {{"bytes", "40"}, {"repeats", "3"}};
    const std::map<std::string, std::string> map = {
        {"map_width", "1300"}, {"map_height", "500"}, {"factor", "50"}};
    const std::map<std::string, std::string> springs = {
        {"masses", "24"}, {"iterations", "6"}, {"unrolled", "2"}, {"strips", "3"}};
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
        {"cholesky", tiles, "cyclic"},
        {"lu", tiles, "cyclic"},
        {"adaptive", adaptive},
        {"adaptive", with(adaptive, "loop", "for")},
        {"adaptive", with(adaptive, "loop", "find")},
        {"adaptive", with(adaptive, "loop", "prefix_sum")},
        {"atgc", {{"length", "60"}, {"block_rows", "16"}, {"block_columns", "20"}}},
        {"dataflow_fib", {{"n", "9"}}},
        {"dataflow_nqueens", {{"n", "6"}, {"depth", "2"}}},
        {"dataflow_strassen", {{"rows", "16"}, {"cutoff", "4"}, {"depth", "2"}}},
        {"dataflow_cholesky", tiles},
        {"dataflow_cholesky", with(tiles, "recording", "everywhere"), "heft"},
        {"dataflow_lu", tiles, "heft"},
        {"sparse_lu", tiles},
        {"dataflow_jacobi", sweeps},
        {"dataflow_jacobi", with(sweeps, "recording", "everywhere"), "heft"},
        {"mass_spring", springs, "heft"},
        {"overlap", {{"bytes", "3000"}, {"steps", "10"}, {"rounds", "2"}}, "none", 2},
        {"jacobi", {{"n", "16"}, {"sweeps", "3"}, {"pools", "2"}}},
        {"filament_lu", {{"n", "12"}}},
        {"matmul", {{"n", "12"}, {"pools", "2"}}},
        {"ping_pong", {{"messages", "6"}, {"pairs", "2"}}},
        {"ping_pong", {{"messages", "6"}, {"carrier", "dispatcher"}, {"bytes", "200"}}},
        {"stream", {{"messages", "20"}, {"window", "4"}, {"dma", "yes"}}},
        {"neighbours", {{"threads", "8"}, {"rounds", "3"}, {"bytes", "100"}}},
        {"map_viewer", map},
        {"map_viewer", with(map, "requests", "2")},
        {"collective", call},
        {"collective", with(call, "operation", "all_to_all")},
        {"collective", with(with(call, "operation", "scan"), "ranks", "threads")},
        {"collective", with(with(call, "operation", "all_gather"), "split_phase", "true")},
        {"fft2d", {{"n", "16"}, {"repeats", "1"}}},
        {"ptrans", {{"n", "24"}, {"block", "4"}, {"repeats", "1"}}},
    };
}

/// One run on a drawn machine. An answer that is not right fails the test.
inline runtime::RunResult run(const SmallRun& stated, const inprocess::Options& options,
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
inline void run_seed(const SmallRun& stated, std::uint64_t seed) {
    FaultyMachine machine = draw_machine(seed);
    if (machine.options.nodes < stated.nodes_min) {
        machine.options.nodes = stated.nodes_min;
        machine.options.routes = {};
    }
    (void)run(stated, machine.options, machine.schedule);
}

inline void run_seeds(std::uint64_t first, std::uint64_t count) {
    const std::vector<SmallRun> all = all_workloads();
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const SmallRun& stated = all[seed % all.size()];
        SCOPED_TRACE(stated.name + ", seed " + std::to_string(seed));
        run_seed(stated, seed);
        if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace heddle::testing_faults
