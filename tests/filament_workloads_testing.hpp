// For tests: runs workloads of filaments over shared memory, and says what their checks say.
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

using testing_dsm::World;
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

inline Outcome run_workload(const World& world, const Machine& machine, const runtime::SharedPages& memory,
                            const std::string& name, const Values& values) {
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
        {"filament_lu", {{"n", "26"}, {"pools", "2"}}, "the sequential program's bits; HPL's residual is"},
    };
    return all;
}

}  // namespace heddle::testing_filaments
