// For tests: runs workloads of filaments over shared memory, and returns the outcome of their checks.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/dsm/protocol.hpp"
#include "tests/dsm_testing.hpp"
#include "workloads/workload.hpp"

namespace heddle::testing_filaments {

using MemoryWorld = testing_dsm::World;
using Values = std::map<std::string, std::string>;

struct Machine {
    NodeId nodes;
    CoreId cores;
};

struct Outcome {
    workloads::Verdict verdict;
    runtime::RunResult result;

    double value(const std::string& name) const {
        for (const auto& value : result.answer)
            if (value.name == name) return value.value;
        return -1;
    }
};

inline Outcome run_workload(const MemoryWorld& world, const Machine& machine,
                            const runtime::SharedPages& memory, const std::string& name,
                            const Values& values) {
    const workloads::Kind& kind = workloads::find(name);
    Settings settings(kind.settings);
    for (const auto& [setting, value] : values) settings.set(setting, value);
    const auto workload = kind.make(settings);
    runtime::Schedule schedule;
    schedule.memory = memory;
    runtime::RunResult result = world.run(machine.nodes, machine.cores, schedule,
                                          [&](NodeId node) { return workload->program(node); });
    workloads::Verdict verdict = workload->check(result);
    return {std::move(verdict), std::move(result)};
}

/// The small workloads, and what their checks say of a right answer.
struct Small {
    std::string name;
    Values values;
    std::string says;
};
inline const std::vector<Small>& small_workloads() {
    static const std::vector<Small> all{
        {"jacobi", {{"n", "40"}, {"sweeps", "7"}, {"pools", "3"}}, "the sequential program's bits"},
        {"matmul", {{"n", "30"}, {"pools", "2"}}, "the sequential program's bits"},
        {"filament_lu", {{"n", "18"}, {"pools", "2"}}, "the sequential program's bits; HPL's residual is"},
    };
    return all;
}

/// Each combination of a protocol, a trigger and a size of pages is tried on one of these.
inline constexpr Machine machines[] = {{1, 1}, {2, 2}, {4, 1}, {1, 4}, {3, 2}, {2, 1}, {4, 4}, {1, 2}};

/// `use(memory)` for all combinations that this system permits.
template <class Use>
void for_all_memories(const Use& use) {
    for (const auto& protocol : dsm::protocols()) {
        for (const runtime::Trigger trigger : testing_dsm::triggers()) {
            for (const std::uint32_t page_bytes : {4096U, 65536U}) {
                runtime::SharedPages memory;
                memory.protocol = protocol.name;
                memory.trigger = trigger;
                memory.page_bytes = page_bytes;
                use(memory);
            }
        }
    }
}

inline void expect_right(const MemoryWorld& world, const Machine& machine, const runtime::SharedPages& memory,
                         const Small& small) {
    const Outcome outcome = run_workload(world, machine, memory, small.name, small.values);
    EXPECT_EQ(outcome.verdict.kind, workloads::Verdict::Kind::right)
        << small.name << " on " << machine.nodes << " x " << machine.cores << " by " << memory.protocol
        << ", trigger " << static_cast<int>(memory.trigger) << ", pages of " << memory.page_bytes << ": "
        << outcome.verdict.reason;
    EXPECT_NE(outcome.verdict.reason.find(small.says), std::string::npos) << outcome.verdict.reason;
}

}  // namespace heddle::testing_filaments
