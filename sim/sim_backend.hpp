// The simulated world: a backend for large machines. Nodes are objects with a heap of events, workers are
// fibers. SimGrid gives the platform, and shares bandwidth between large messages. All random numbers come
// from the seed and no wall clock is read. So two runs of one program on one platform with one seed are equal
// byte for byte. docs/simulator.md explains it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/cluster_view.hpp"
#include "base/crew.hpp"
#include "runtime/backend.hpp"

namespace heddle::sim {

struct SimOptions {
    /// Virtual size of a worker's stack. Memory is committed as it is touched, so thousands of workers are
    /// cheap.
    std::uint64_t stack_bytes = 8U << 20;

    /// Sending and receiving takes time from a computing core where every core of the node is busy. False:
    /// as if each node had a core more, for messages only.
    bool messages_compete_for_cores = true;

    /// No modules beside the workers: they send and receive themselves.
    bool single_module = false;

    /// No sender module: a worker or handler that sends pays for it, at the same time as others do.
    bool workers_send = false;

    /// The sender module of each network takes the most messages that wait for one node, and sends them as
    /// one. Of no effect where workers send.
    bool sends_sequences = false;

    /// The receiver module looks for messages all the time, which takes a core from the workers. A node of
    /// one core gives half of it.
    bool receiver_polls = false;

    /// How long a worker that parks looks for work before it sleeps, and a receiver for another message.
    /// Then waking it takes Overheads::wake_up_asleep more.
    Time looks = never;
    Time receiver_looks = never;

    /// What the calling thread has had of a processor, in seconds. Where it is set, code takes as long as it
    /// has run, and not as long as it declares.
    std::function<double()> stopwatch{};

    /// Of the noise of the platform.
    std::uint64_t seed = 1;

    /// Visits the nodes of each window in the opposite order. Changes nothing: the tests hold the simulator
    /// to that.
    bool reverse_nodes = false;

    /// No node goes on beyond a window. Changes nothing where all messages are small: the tests hold the
    /// simulator to that.
    bool plain_windows = false;

    /// Simulates the nodes of a window at the same time. Changes nothing but the time that it takes. Null:
    /// one thread does it all.
    std::shared_ptr<Crew> crew{};
};

class SimBackend final : public runtime::Backend {
public:
    /// Builds the platform. Throws Error where it cannot be built: zero counts, a platform file that cannot
    /// be read.
    explicit SimBackend(const Platform& platform, const SimOptions& options = {});
    ~SimBackend() override;

    /// Sets SimOptions::crew. A caller that starts the crew's threads after the constructor spares the fork
    /// in there a process of several threads. Must come before `run`.
    void use(std::shared_ptr<Crew> crew);

    /// The platform as built: counts, speeds and shape filled in.
    const Platform& platform() const;

    /// What was built otherwise than one might expect, a sentence each (a file's setting that was overruled,
    /// a shape that holds more hosts than are used).
    const std::vector<std::string>& notes() const;

    /// After a run: where it met more load than its shortcuts are good for, and what to do about it, a
    /// sentence or two each.
    std::vector<std::string> warnings() const;

    /// The cluster for placements: the speed of each core, before noise and events, and each pair's latency
    /// and bandwidth. `per_message`: overheads of a message, besides. Ends with this object.
    ClusterView cluster(Time per_message) const;

    const runtime::Topology& topology() const override;
    void run(const runtime::NodeFactory& make_node) override;
    Time now(const runtime::Context& context) const override;
    void pause(runtime::Context& context) override;
    void park(runtime::Context& context, Time deadline) override;
    void receive(runtime::Context& context, Time deadline, const std::function<bool()>& done) override;
    void unpark(runtime::Context& caller, CoreId core) override;
    void compute(runtime::Context& context, const runtime::Work& work,
                 const std::function<void()>& code) override;
    void send(runtime::Context& context, NodeId to, runtime::Bytes message, runtime::Enclosure enclosure = {},
              runtime::Path path = {}) override;
    std::span<std::byte> beside_stack(WorkerId worker, std::size_t bytes) override;
    runtime::Bytes buffer(runtime::Context& context) override;
    bool poll(runtime::Context& context) override;
    void io(runtime::Context& caller, double bytes, std::function<void()> code,
            std::function<void(runtime::Context& context)> done) override;
    std::unique_ptr<runtime::MemoryView> make_view(NodeId node, const runtime::ViewOptions& options,
                                                   runtime::FaultHandler& handler) override;
    void start_nodes(runtime::Context& caller, NodeId count) override;
    Time elapsed() const override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::sim
