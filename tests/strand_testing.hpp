// Programs of strands for tests, and the worlds that they run in.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "runtime/core/strands.hpp"
#include "runtime/execution.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/node.hpp"
#include "runtime/worker.hpp"
#ifdef HEDDLE_SIM
#include "sim/sim_backend.hpp"
#endif

namespace heddle::testing_strands {

using runtime::Strand;
using runtime::Worker;

/// Runs `first` on worker 0 of node 0, as its first task.
class FirstTask final : public runtime::Program {
public:
    using First = std::function<void(Worker&)>;

    explicit FirstTask(First first) : first_(std::move(first)) {}
    void begin(Worker& worker) override {
        if (worker.id == WorkerId{0, 0}) first_(worker);
    }
    runtime::Answer answer() const override { return {}; }

private:
    First first_;
};

/// Runs `begin` on the first worker of each node.
class OnEachNode final : public runtime::Program {
public:
    using Begin = std::function<void(Worker&)>;

    explicit OnEachNode(Begin begin) : begin_(std::move(begin)) {}
    void begin(Worker& worker) override {
        if (worker.id.core == 0) begin_(worker);
    }
    runtime::Answer answer() const override { return {}; }

private:
    Begin begin_;
};

inline runtime::RunResult run_on(runtime::Backend& backend, const FirstTask::First& first,
                                 const runtime::Schedule& schedule = {}) {
    runtime::Execution execution(backend, schedule,
                                 [&](NodeId) { return std::make_unique<FirstTask>(first); });
    return execution.run();
}

/// One world, with nodes of some cores. A native one has one node.
struct World {
    std::string name;
    std::function<std::unique_ptr<runtime::Backend>(NodeId nodes, CoreId cores)> make;
    bool one_node = false;
};

inline std::vector<World> worlds() {
    std::vector<World> all;
    all.push_back({"native",
                   [](NodeId, CoreId cores) {
                       native::NativeOptions options;
                       options.cores = cores;
                       return std::make_unique<native::NativeBackend>(options);
                   },
                   true});
    for (const bool open : {false, true}) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            all.push_back({"inprocess_" + std::to_string(seed) + (open ? "_open" : "_closed"),
                           [open, seed](NodeId nodes, CoreId cores) {
                               inprocess::Options options;
                               options.nodes = nodes;
                               options.cores = cores;
                               options.seed = seed;
                               options.gate_open = open;
                               return std::make_unique<inprocess::InprocessBackend>(options);
                           }});
        }
    }
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        all.push_back({"faulty_" + std::to_string(seed), [seed](NodeId nodes, CoreId cores) {
                           inprocess::Options options;
                           options.nodes = nodes;
                           options.cores = cores;
                           options.seed = seed;
                           options.gate_open = seed == 3;
                           options.faults = {.delay_max = 300, .reorders = true, .wakes_percent = 20};
                           return std::make_unique<inprocess::InprocessBackend>(options);
                       }});
    }
#ifdef HEDDLE_SIM
    for (const bool overheads : {false, true}) {
        all.push_back({overheads ? "sim" : "sim_without_overheads", [overheads](NodeId nodes, CoreId cores) {
                           Platform platform;
                           platform.nodes = nodes;
                           platform.cores = cores;
                           if (!overheads) platform.overheads = {};
                           return std::make_unique<sim::SimBackend>(platform, sim::SimOptions{});
                       }});
    }
#endif
    return all;
}

class Strands : public testing::TestWithParam<World> {
protected:
    runtime::RunResult run(NodeId nodes, CoreId cores, const FirstTask::First& first,
                           const runtime::Schedule& schedule = {}) {
        const auto backend = GetParam().make(nodes, cores);
        return run_on(*backend, first, schedule);
    }

    /// So many nodes, if the world has more than one.
    static NodeId nodes(NodeId wanted) { return GetParam().one_node ? 1 : wanted; }
    /// Natively a failed run with several workers ends the process.
    static CoreId failing_cores() { return GetParam().one_node ? 1 : 2; }
};

}  // namespace heddle::testing_strands
