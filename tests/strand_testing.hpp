// For tests: programs of strands, and the backends that they run on: native, simulated, in-process.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/native/rendezvous.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/sources/timers.hpp"
#include "runtime/strands/strands.hpp"
#include "tests/networks_testing.hpp"
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

/// One world. `run` returns when all nodes have ended, and throws what ended them.
struct World {
    using MakeBackend = std::function<std::unique_ptr<runtime::Backend>(NodeId nodes, CoreId cores)>;

    std::string name;
    std::function<void(NodeId nodes, CoreId cores, const runtime::ProgramFactory& make)> run;
    bool one_node = false;      ///< it has one
    bool ends_process = false;  ///< if a run fails that has several workers
    /// What GoogleTest says of it; else it prints the bytes of each parameter in every process.
    friend void PrintTo(const World& world, std::ostream* to) {
        *to << world.name;
    }  // NOLINT(readability-identifier-naming)
};

/// A world whose nodes are all in one backend.
inline World one_backend(std::string name, World::MakeBackend make_backend, bool native = false) {
    const auto run = [make_backend = std::move(make_backend)](NodeId nodes, CoreId cores,
                                                              const runtime::ProgramFactory& make) {
        const auto backend = make_backend(nodes, cores);
        runtime::Execution(*backend, {}, make).run();
    };
    return {std::move(name), run, native, native};
}

inline std::unique_ptr<runtime::Backend> one_native_node(NodeId /*nodes*/, CoreId cores) {
    native::NativeOptions options;
    options.cores = cores;
    return std::make_unique<native::NativeBackend>(options);
}

inline std::unique_ptr<runtime::Backend> one_native_node_of_closed_gates(NodeId /*nodes*/, CoreId cores) {
    native::NativeOptions options;
    options.cores = cores;
    options.gate_open = false;
    return std::make_unique<native::NativeBackend>(options);
}

/// The real world with several nodes: a backend for each, on a thread of its own.
inline void run_native_nodes_with(const native::NativeOptions& common, NodeId nodes, CoreId cores,
                                  const runtime::ProgramFactory& make) {
    const native::Key key = native::make_key();
    const native::Rendezvous rendezvous(nodes, key);
    std::vector<std::thread> threads;
    for (NodeId node = 0; node < nodes; ++node) {
        threads.emplace_back([&, node] {
            native::NativeOptions options = common;
            options.cores = cores;
            options.membership = native::Membership{node, nodes, key, rendezvous.address(), node, nodes};
            native::NativeBackend backend(options);
            runtime::Execution(backend, {}, make).run();
        });
    }
    for (std::thread& thread : threads) thread.join();
}

/// The same, connected by TCP.
inline void run_native_nodes(NodeId nodes, CoreId cores, const runtime::ProgramFactory& make) {
    if (nodes == 1) return one_backend("", one_native_node).run(nodes, cores, make);
    run_native_nodes_with({}, nodes, cores, make);
}

/// `networks`: several join the nodes, most by way of gateways. `receives`: Topology::receives.
inline World inprocess_world(const std::string& name, std::uint64_t seed, bool gate_open,
                             const inprocess::Faults& faults = {}, bool networks = false,
                             bool receives = false) {
    return one_backend(name + "_" + std::to_string(seed) + (gate_open ? "_open" : "_closed"),
                       [=](NodeId nodes, CoreId cores) {
                           inprocess::Options options;
                           options.nodes = nodes;
                           options.cores = cores;
                           options.seed = seed;
                           options.gate_open = gate_open;
                           options.faults = faults;
                           options.receives = receives;
                           if (networks)
                               options.routes = testing_networks::draw_networks(Random(seed), nodes);
                           return std::make_unique<inprocess::InprocessBackend>(options);
                       });
}

inline std::vector<World> worlds() {
    std::vector<World> all;
    all.push_back(one_backend("native", one_native_node, true));
    all.push_back(one_backend("native_closed", one_native_node_of_closed_gates, true));
    all.push_back({"native_nodes", run_native_nodes, false, true});
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        all.push_back(inprocess_world("inprocess", seed, false));
        all.push_back(inprocess_world("inprocess", seed, true));
        all.push_back(inprocess_world("faulty", seed, seed == 3,
                                      {.delay_max = 300, .reorders = true, .wakes_percent = 20}));
        all.push_back(inprocess_world("receiving", seed, seed == 1,
                                      {.delay_max = seed == 3 ? 100U : 0U, .reorders = seed == 3}, false,
                                      true));
        all.push_back(inprocess_world("gateways", seed, seed == 2,
                                      {.delay_max = 100, .reorders = seed != 1, .wakes_percent = 5}, true));
    }
#ifdef HEDDLE_SIM
    for (const bool overheads : {false, true}) {
        all.push_back(
            one_backend(overheads ? "sim" : "sim_without_overheads", [overheads](NodeId nodes, CoreId cores) {
                Platform platform;
                platform.nodes = nodes;
                platform.cores = cores;
                if (!overheads) platform.overheads = {};
                return std::make_unique<sim::SimBackend>(platform, sim::SimOptions{});
            }));
    }
#endif
    return all;
}

/// For a test with a run that fails, in a fixture whose parameter is a World.
#define SKIP_IF_A_FAILURE_ENDS_THE_PROCESS() \
    if (GetParam().ends_process) GTEST_SKIP() << "a failed run of several workers or nodes ends the process"

/// Counts objects, so that what is not unwound is seen.
struct Counted {
    explicit Counted(std::atomic<int>& among) : count(among) { ++count; }
    Counted(const Counted& other) : count(other.count) { ++count; }
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --count; }
    std::atomic<int>& count;
};

/// What the error says that ends a run.
inline std::string error_of(const std::function<void()>& run) {
    try {
        run();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

/// Looks again and again, with short sleeps between. Throws Error after 100,000 looks.
template <class Done>
void wait_until(Strand& self, const Done& done) {
    for (int looks = 0; !done(); ++looks) {
        if (looks == 100'000) throw Error("what this strand waits for does not come");
        runtime::sleep_for(self, std::chrono::microseconds(1));
    }
}

class Strands : public testing::TestWithParam<World> {
protected:
    /// `first` on the first worker of node 0.
    void run(NodeId nodes, CoreId cores, const FirstTask::First& first) {
        GetParam().run(nodes, cores, [&](NodeId) { return std::make_unique<FirstTask>(first); });
    }
    /// `begin` on the first worker of each node.
    void run_all(NodeId nodes, CoreId cores, const OnEachNode::Begin& begin) {
        GetParam().run(nodes, cores, [&](NodeId) { return std::make_unique<OnEachNode>(begin); });
    }

    /// So many nodes, if the world has more than one.
    static NodeId nodes(NodeId wanted) { return GetParam().one_node ? 1 : wanted; }
    /// For runs that fail: natively a failed run with several workers or nodes ends the process.
    static CoreId failing_cores() { return GetParam().ends_process ? 1 : 2; }
    static NodeId failing_nodes(NodeId wanted) { return GetParam().ends_process ? 1 : wanted; }
};

}  // namespace heddle::testing_strands
