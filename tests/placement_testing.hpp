// For tests of placed programs: prepares a workload for a cluster, runs it on a backend, and judges it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/cluster_view.hpp"
#include "runtime/run/execution.hpp"
#include "workloads/workload.hpp"

namespace heddle::testing_placement {

/// A workload of this name with these settings.
struct Stated {
    std::string name;
    std::vector<std::pair<std::string, std::string>> settings;

    std::unique_ptr<workloads::Workload> make() const {
        const workloads::Kind& kind = workloads::find(name);
        Settings all(kind.settings);
        for (const auto& [key, value] : settings) all.set(key, value);
        return kind.make(all);
    }
};

/// Cores of 1 Gf/s, so that a flop is a nanosecond; messages of 1 us and 1 ns a byte.
inline ClusterView cluster(NodeId nodes, CoreId cores) {
    ClusterView view;
    view.grid = {nodes, cores};
    view.core_speed = 1e9;
    view.message_seconds = 1e-6;
    view.seconds_per_byte = 1e-9;
    return view;
}

inline runtime::Schedule schedule(const std::string& placement, const std::string& victim,
                                  std::uint64_t seed = 1) {
    runtime::Schedule schedule;
    schedule.placement = placement;
    schedule.stealing.victim = victim;
    schedule.seed = seed;
    // Short against the length of the runs, so that thieves are everywhere.
    schedule.stealing.retries = 2;
    schedule.stealing.back_off_min = std::chrono::nanoseconds(2);
    schedule.stealing.back_off_max = std::chrono::nanoseconds(50);
    return schedule;
}

struct Ran {
    runtime::RunResult result;
    workloads::Forecast forecast;
    workloads::Verdict verdict;

    bool right() const { return result.complete && verdict.kind == workloads::Verdict::Kind::right; }
    double answer(const std::string& name) const {
        for (const auto& value : result.answer) {
            if (value.name == name) return value.value;
        }
        ADD_FAILURE() << "no answer " << name;
        return 0;
    }
};

inline Ran run(runtime::Backend& backend, const Stated& stated, const ClusterView& cluster,
               const runtime::Schedule& schedule) {
    const auto workload = stated.make();
    workload->prepare(cluster, schedule);
    runtime::Execution execution(backend, schedule, [&](NodeId id) { return workload->program(id); });
    Ran ran{execution.run(), workload->forecast(), {}};
    ran.verdict = workload->check(ran.result);
    return ran;
}

}  // namespace heddle::testing_placement
