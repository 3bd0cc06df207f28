// The contract of runtime/backend.hpp as tests that run on any backend. A test is a script for the nodes; an
// `arm` runs it on one backend. To add a backend, add an arm to `arms()`.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "runtime/backend.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/native/mpi_mesh.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/native/rendezvous.hpp"
#ifdef HEDDLE_SIM
#include "sim/sim_backend.hpp"
#endif

namespace heddle::conformance {

using runtime::Backend;
using runtime::Bytes;
using runtime::Context;

/// What the tests see of one node.
struct Node {
    NodeId id = 0;
    std::vector<std::unique_ptr<Context>> contexts;  ///< the workers', then the receiver's

    Context& worker(CoreId core) const { return *contexts[core]; }
    Context& receiver() const { return *contexts.back(); }
};

/// What all nodes do. Called on many threads at once where the world has them.
struct Script {
    std::function<void(Node& node, Context& worker)> work = [](Node&, Context&) {};
    std::function<void(Node& node, NodeId from, std::span<const std::byte> message)> deliver =
        [](Node&, NodeId, auto) { ADD_FAILURE() << "a message that was never sent"; };
    /// Is given bodies that messages enclose, before `deliver`.
    std::function<void(Node& node, runtime::Body body)> receive_body = [](Node&, auto) {
        ADD_FAILURE() << "a body that was never sent";
    };
};

class ScriptedNode final : public runtime::NodeProgram {
public:
    ScriptedNode(NodeId id, CoreId cores, const Script& script) : script_(script) {
        node_.id = id;
        for (CoreId core = 0; core <= cores; ++core) node_.contexts.push_back(std::make_unique<Context>());
    }
    Context& context(CoreId core) override { return *node_.contexts[core]; }
    void work(CoreId core) override { script_.work(node_, node_.worker(core)); }
    void deliver(NodeId from, std::span<const std::byte> message, runtime::Body body) override {
        if (body) script_.receive_body(node_, std::move(body));
        script_.deliver(node_, from, message);
    }

private:
    const Script& script_;
    Node node_;
};

/// One backend. `run` returns when all nodes have ended.
struct Arm {
    std::string name;
    std::function<void(NodeId nodes, CoreId cores, const runtime::NodeFactory& make_node)> run;
};

inline std::ostream& operator<<(std::ostream& out, const Arm& arm) {
    return out << arm.name;
}

/// The real world in one process: a backend for each node, each on a thread, connected by shared memory, or
/// by what the options say. `common`: what the tests' own choices are added to.
inline void run_native(NodeId nodes, CoreId cores, const runtime::NodeFactory& make_node,
                       const native::NativeOptions& common = {}) {
    native::NativeOptions options = common;
    options.cores = cores;
    if (nodes == 1) return native::NativeBackend(options).run(make_node);
    const native::Key key = native::make_key();
    const native::Rendezvous rendezvous(nodes, key);
    std::vector<std::thread> threads;
    for (NodeId node = 0; node < nodes; ++node) {
        threads.emplace_back([&, node, mine = options]() mutable {
            mine.membership = native::Membership{node, nodes, key, rendezvous.address(), node, nodes};
            native::NativeBackend(mine).run(make_node);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

/// The tests' nodes share memory, so they all are one rank of MPI's, which sends to itself. Nodes that are
/// ranks of their own: native_mpi_test.cpp.
inline Arm mpi_arm(const std::string& name, const native::MpiOptions& mpi) {
    return {name, [mpi](NodeId nodes, CoreId cores, const runtime::NodeFactory& make_node) {
                (void)native::join_mpi();
                static const int at_exit = std::atexit([] { native::leave_mpi(0); });
                EXPECT_EQ(at_exit, 0);
                run_native(nodes, cores, make_node, {.mpi = mpi});
            }};
}

inline Arm inprocess_arm(std::uint64_t seed, bool gate_open, const inprocess::Faults& faults = {},
                         bool receives = false) {
    const std::string name = receives ? "receiving_" : faults.reorders ? "faulty_" : "inprocess_";
    return {name + std::to_string(seed) + (gate_open ? "_open" : "_closed"),
            [=](NodeId nodes, CoreId cores, const runtime::NodeFactory& make_node) {
                inprocess::Options options;
                options.nodes = nodes;
                options.cores = cores;
                options.seed = seed;
                options.gate_open = gate_open;
                options.faults = faults;
                options.receives = receives;
                inprocess::InprocessBackend(options).run(make_node);
            }};
}

#ifdef HEDDLE_SIM
/// With the default overheads, or with an ideal scheduler on the same machine. `receives`: workers receive
/// where they wait.
inline Arm sim_arm(const std::string& name, bool overheads, bool single_module = false,
                   bool receives = false) {
    return {name, [=](NodeId nodes, CoreId cores, const runtime::NodeFactory& make_node) {
                sim::SimOptions options;
                options.single_module = single_module;
                Platform platform;
                platform.nodes = nodes;
                platform.cores = cores;
                if (!overheads) platform.overheads = {};
                if (receives) platform.overheads.wake_up_receiving = std::chrono::nanoseconds(300);
                sim::SimBackend(platform, options).run(make_node);
            }};
}
#endif

inline std::vector<Arm> arms() {
    std::vector<Arm> all{{"native", [](NodeId nodes, CoreId cores, const runtime::NodeFactory& make_node) {
                              run_native(nodes, cores, make_node);
                          }}};
    all.push_back({"native_single", [](NodeId nodes, CoreId cores, const runtime::NodeFactory& make_node) {
                       run_native(nodes, cores, make_node, {.single_module = true});
                   }});
    for (const bool single : {false, true}) {
        for (const native::Local local : {native::Local::unix_socket, native::Local::tcp}) {
            const std::string name = local == native::Local::tcp ? "native_tcp" : "native_unix";
            all.push_back({name + (single ? "_single" : ""),
                           [=](NodeId nodes, CoreId cores, const runtime::NodeFactory& make_node) {
                               run_native(nodes, cores, make_node, {.local = local, .single_module = single});
                           }});
        }
    }
    for (const bool single : {false, true}) {
        all.push_back(
            {single ? "native_udp_single" : "native_udp",
             [=](NodeId nodes, CoreId cores, const runtime::NodeFactory& make_node) {
                 run_native(
                     nodes, cores, make_node,
                     {.local = native::Local::tcp, .udp = native::UdpOptions{}, .single_module = single});
             }});
    }
    if (!native::mpi_version().empty()) {
        all.push_back(mpi_arm("native_mpi", {.together = true}));
        // Nearly every frame is split.
        all.push_back(mpi_arm("native_mpi_pieces", {.part_bytes = 1000, .together = true}));
    }
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        all.push_back(inprocess_arm(seed, false));
        all.push_back(inprocess_arm(seed, true));
        all.push_back(inprocess_arm(seed, seed == 2, {}, true));
        all.push_back(
            inprocess_arm(seed, seed == 3, {.delay_max = 300, .reorders = true, .wakes_percent = 20}));
    }
#ifdef HEDDLE_SIM
    all.push_back(sim_arm("sim", true));
    all.push_back(sim_arm("sim_ideal", false));
    all.push_back(sim_arm("sim_single", true, true));
    all.push_back(sim_arm("sim_receiving", true, false, true));
#endif
    return all;
}

class Conformance : public testing::TestWithParam<Arm> {
protected:
    void run(NodeId nodes, CoreId cores, const Script& script) {
        std::vector<std::unique_ptr<ScriptedNode>> programs;
        for (NodeId node = 0; node < nodes; ++node)
            programs.push_back(std::make_unique<ScriptedNode>(node, cores, script));
        GetParam().run(nodes, cores, [&](NodeId node) -> runtime::NodeProgram& { return *programs[node]; });
    }
};

inline void park(Context& worker, Time deadline) {
    worker.backend->park(worker, deadline);
}

/// Bytes that tell their seed and their place.
inline Bytes pattern(std::size_t size, std::uint64_t seed) {
    Random random(seed);
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
    return bytes;
}

template <class T>
Bytes pack(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return {bytes.begin(), bytes.end()};
}

template <class T>
T unpack(std::span<const std::byte> bytes) {
    T value{};
    EXPECT_EQ(bytes.size(), sizeof value);
    if (bytes.size() == sizeof value)
        std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(&value, 1)).begin());
    return value;
}

}  // namespace heddle::conformance
