// For tests of shared memory: the worlds to run in (native, simulated, in-process), and a random program of
// loads, stores and barriers. Its reads are checked against what the protocol's consistency model allows.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "memory/userfaultfd.hpp"
#include "model/dsm/shared_memory.hpp"
#include "runtime/core/node.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/native/rendezvous.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/strands/strands.hpp"
#ifdef HEDDLE_SIM
#include "sim/sim_backend.hpp"
#endif

namespace heddle::testing_dsm {

using dsm::reading;
using dsm::Shared;
using dsm::SharedMemory;
using dsm::writing;
using runtime::Caller;
using runtime::Strand;
using runtime::Worker;

/// `run` returns when all nodes have ended.
struct World {
    using Run = std::function<runtime::RunResult(
        NodeId nodes, CoreId cores, const runtime::Schedule& schedule, const runtime::ProgramFactory& make)>;
    std::string name;
    Run run;
    /// What GoogleTest says of it; else it prints the bytes of each parameter in every process.
    friend void PrintTo(const World& world, std::ostream* to) {
        *to << world.name;
    }  // NOLINT(readability-identifier-naming)
};

/// Another backend in front of a world's, or nothing.
using Wrap = std::function<std::shared_ptr<runtime::Backend>(runtime::Backend& backend)>;

inline runtime::RunResult execute(runtime::Backend& backend, const Wrap& wrap,
                                  const runtime::Schedule& schedule, const runtime::ProgramFactory& make) {
    if (!wrap) return runtime::Execution(backend, schedule, make).run();
    const auto wrapped = wrap(backend);
    return runtime::Execution(*wrapped, schedule, make).run();
}

inline World inprocess_world(std::uint64_t seed, bool gate_open, const inprocess::Faults& faults = {},
                             const Wrap& wrap = {}) {
    return {(faults.reorders ? "faulty_" : "inprocess_") + std::to_string(seed) + (gate_open ? "_open" : ""),
            [=](NodeId nodes, CoreId cores, const runtime::Schedule& schedule,
                const runtime::ProgramFactory& make) {
                inprocess::Options options;
                options.nodes = nodes;
                options.cores = cores;
                options.seed = seed;
                options.gate_open = gate_open;
                options.faults = faults;
                options.stack_bytes = 128U << 10;
                inprocess::InprocessBackend backend(options);
                return execute(backend, wrap, schedule, make);
            }};
}

/// Messages are late and out of order, and workers wake for no reason.
inline World faulty_world(std::uint64_t seed) {
    Random random = Random(seed).split(3);
    inprocess::Faults faults;
    faults.delay_max = random.below(400);
    faults.reorders = true;
    faults.wakes_percent = static_cast<std::uint32_t>(random.below(20));
    return inprocess_world(seed, random.below(3) == 0, faults);
}

/// A backend for each node, on a thread of its own.
inline World native_world(const std::string& name, native::Local local, bool single = false,
                          const Wrap& wrap = {}) {
    return {name, [=](NodeId nodes, CoreId cores, const runtime::Schedule& schedule,
                      const runtime::ProgramFactory& make) {
                native::NativeOptions options;
                options.cores = cores;
                options.local = local;
                options.single_module = single;
                runtime::RunResult result;
                if (nodes == 1) {
                    native::NativeBackend backend(options);
                    return execute(backend, wrap, schedule, make);
                }
                const native::Key key = native::make_key();
                const native::Rendezvous rendezvous(nodes, key);
                std::vector<std::thread> threads;
                for (NodeId node = 0; node < nodes; ++node) {
                    threads.emplace_back([&, node, mine = options]() mutable {
                        mine.membership =
                            native::Membership{node, nodes, key, rendezvous.address(), node, nodes};
                        native::NativeBackend backend(mine);
                        auto own = execute(backend, wrap, schedule, make);
                        if (node == 0) result = std::move(own);
                    });
                }
                for (std::thread& thread : threads) thread.join();
                return result;
            }};
}

#ifdef HEDDLE_SIM
/// What the platform says, with other numbers of nodes and cores.
inline World sim_world_of(const std::string& name, const Platform& of, const Wrap& wrap = {}) {
    return {name, [=](NodeId nodes, CoreId cores, const runtime::Schedule& schedule,
                      const runtime::ProgramFactory& make) {
                Platform platform = of;
                platform.nodes = nodes;
                platform.cores = cores;
                sim::SimBackend backend(platform, sim::SimOptions{});
                return execute(backend, wrap, schedule, make);
            }};
}

inline World sim_world(bool overheads, const Wrap& wrap = {}) {
    Platform platform;
    if (!overheads) platform.overheads = {};
    return sim_world_of(overheads ? "sim" : "sim_ideal", platform, wrap);
}
#endif

inline std::vector<World> worlds() {
    std::vector<World> all{native_world("native", native::Local::shared_memory),
                           native_world("native_tcp", native::Local::tcp),
                           native_world("native_single", native::Local::shared_memory, true)};
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        all.push_back(inprocess_world(seed, false));
        all.push_back(inprocess_world(seed, true));
        all.push_back(faulty_world(seed));
    }
#ifdef HEDDLE_SIM
    all.push_back(sim_world(true));
    all.push_back(sim_world(false));
#endif
    return all;
}

/// Those that this system permits.
inline std::vector<runtime::Trigger> triggers() {
    std::vector<runtime::Trigger> all{runtime::Trigger::checked, runtime::Trigger::mprotect};
    if (memory::has_userfaultfd()) all.push_back(runtime::Trigger::userfaultfd);
    return all;
}

/// `main` runs as a strand on the first worker of each node.
class MainOnEachNode final : public runtime::Program {
public:
    using Main = std::function<void(Strand&, SharedMemory&)>;

    explicit MainOnEachNode(Main main) : main_(std::move(main)) {}
    void begin(Worker& worker) override {
        if (worker.id.core != 0) return;
        Strand::start(worker,
                      [this](Strand& self) { main_(self, self.worker().node().state<SharedMemory>()); },
                      {"a main strand", 0, false});
    }
    runtime::Answer answer() const override { return {}; }

private:
    Main main_;
};

inline runtime::RunResult run_mains(const World& world, NodeId nodes, CoreId cores,
                                    const runtime::Schedule& schedule, const MainOnEachNode::Main& main) {
    return world.run(nodes, cores, schedule, [&](NodeId) { return std::make_unique<MainOnEachNode>(main); });
}

/// Tests that run a main program on each node, in all worlds.
class OnEachNode : public testing::TestWithParam<World> {
protected:
    static runtime::RunResult run(NodeId nodes, CoreId cores, const MainOnEachNode::Main& main,
                                  const runtime::SharedPages& settings = {}) {
        runtime::Schedule schedule;
        schedule.memory = settings;
        return run_mains(GetParam(), nodes, cores, schedule, main);
    }
};

}  // namespace heddle::testing_dsm
