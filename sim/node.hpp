// One simulated node: its workers, its two modules (sender and receiver), its memory, and the heap of their
// events. Runs up to the end of a window without looking at other nodes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "runtime/backend.hpp"
#include "sim/event_heap.hpp"
#include "sim/memory_bus.hpp"
#include "sim/network.hpp"
#include "sim/stacks.hpp"
#include "sim/world.hpp"

namespace heddle::sim {

/// The messages of all nodes, used again and again.
class Mailroom {
public:
    Message& take() {
        ++on_way_;
        if (spare_.empty()) spare_.push_back(&messages_.emplace_back());
        Message& message = *spare_.back();
        spare_.pop_back();
        return message;
    }
    void give_back(Message& message) {
        --on_way_;
        message.bytes = {};
        message.enclosure = {};
        spare_.push_back(&message);
    }
    /// Messages that were sent and have not been delivered.
    std::uint64_t on_way() const { return on_way_; }

private:
    std::deque<Message> messages_;
    std::vector<Message*> spare_;
    std::uint64_t on_way_ = 0;
};

/// What all nodes share.
struct World {
    World(SimgridProcess& simgrid, const heddle::Network& settings, bool compete)
        : network(simgrid, settings), messages_compete(compete) {}

    Switchboard switchboard;
    Network network;
    Mailroom mailroom;
    bool messages_compete;
    std::uint64_t workers_left = 0;  ///< workers whose `work` has not returned
};

struct NodeSettings {
    NodeId id = 0;
    CoreId cores = 1;
    double core_speed = 0;        ///< flops per second
    double memory_bandwidth = 0;  ///< bytes per second
    Overheads costs;
};

class SimNode {
public:
    SimNode(World& world, const NodeSettings& settings);

    /// Gives every worker a stack and lets it wait for time zero. Addresses of the node are kept from now on.
    void start(runtime::Backend& backend, runtime::NodeProgram& program, Stacks& stacks);

    Time next_time() const { return events_.next_time(); }
    void run_until(Time end);
    void arrive(const Arrival& arrival);

    /// Unwinds what has not finished.
    void abandon();
    std::uint32_t parked_for_ever() const;

    /// When somebody must look at this node next, as the simulation has noted it.
    Time noted = never;

    // The seam (runtime/backend.hpp), for a worker or the receiver of this node.
    void pause(SimWorker& worker);
    void park(SimWorker& worker, Time deadline);
    void unpark(runtime::Context& caller, CoreId core);
    void compute(SimWorker& worker, runtime::Work work, const std::function<void()>& code);
    void send(runtime::Context& caller, NodeId to, runtime::Bytes bytes, runtime::Enclosure enclosure);

private:
    Event event(Time time, EventKind kind, void* subject) {
        return {time, kind, settings_.id, next_event_++, subject};
    }
    void push(Time time, EventKind kind, void* subject) { events_.push(event(time, kind, subject)); }

    void handle(const Event& event);
    void resume(SimWorker& worker, Time time);
    void prepare(SimWorker& worker, Time time);
    void leave(SimWorker& worker);
    bool worker_is_next() const;
    Time pay(SimWorker& worker, Time time);
    void wait_until(SimWorker& worker, Time time);
    void begin_memory_round();
    void memory_served(const Event& event);
    void receive_next(Time now);
    void deliver(Time now);
    void take_from_core(Time cost);

    World& world_;
    NodeSettings settings_;
    runtime::NodeProgram* program_ = nullptr;
    std::deque<SimWorker> workers_;
    SimWorker receiver_;
    EventHeap events_;
    std::uint64_t next_event_ = 0;
    Time window_end_{};

    CoreId idle_ = 0;        ///< workers that are parked or have finished
    CoreId next_taken_ = 0;  ///< the core that the next message takes its time from

    MemoryBus memory_;
    std::uint64_t memory_round_ = 0;  ///< changes whenever the bus's next end does
    std::vector<void*> served_;

    Time sender_free_{};
    std::uint64_t messages_sent_ = 0;
    std::deque<Message*> received_;  ///< the receiver module's work; the first is being received
};

}  // namespace heddle::sim
