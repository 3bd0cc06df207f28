// One simulated node: its workers, its sender and receiver modules, its memory and disk, and a heap of their
// events. It runs up to the end of a span of virtual time (a window), independently of other nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "runtime/backend.hpp"
#include "sim/event_heap.hpp"
#include "sim/memory_bus.hpp"
#include "sim/network.hpp"
#include "sim/pace.hpp"
#include "sim/stacks.hpp"
#include "sim/world.hpp"

namespace heddle::sim {

/// The messages that a lane's nodes send, used again and again. One may be given back in another lane.
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
        keep(std::move(message.bytes));
        message.bytes = {};
        if (std::exchange(message.encloses, false)) message.enclosure = {};
        spare_.push_back(&message);
    }
    runtime::Bytes buffer() {
        if (buffers_.empty()) return {};
        runtime::Bytes buffer = std::move(buffers_.back());
        buffers_.pop_back();
        return buffer;
    }
    /// Messages that were taken here, less those that were given back here.
    std::int64_t on_way() const { return on_way_; }

private:
    /// Keeps a buffer for a later message: thousands may be under way, and each would cost a call of the
    /// allocator.
    void keep(runtime::Bytes&& buffer) {
        constexpr std::size_t bytes_max = 256;
        constexpr std::size_t buffers_max = 1U << 14;
        if (buffer.capacity() == 0 || buffer.capacity() > bytes_max || buffers_.size() == buffers_max) return;
        buffer.clear();
        buffers_.push_back(std::move(buffer));
    }

    std::deque<Message> messages_;
    std::vector<Message*> spare_;
    std::vector<runtime::Bytes> buffers_;  ///< of messages that were given back
    std::int64_t on_way_ = 0;
};

/// What nodes share that are simulated one after the other, by one thread at a time.
struct alignas(64) Lane {
    Switchboard switchboard;
    Mailroom mailroom;
    std::uint64_t workers_left = 0;  ///< workers whose `work` has not returned
};

/// What all nodes share.
struct World {
    World(SimgridProcess& simgrid, const heddle::Network& settings, const Overheads& charged, bool compete,
          bool single, std::size_t lane_count)
        : network(simgrid, settings, charged.message_send),
          costs(charged),
          messages_compete(compete && !single),
          single_module(single),
          lanes(lane_count) {}

    /// All nodes of a group are in one lane.
    std::size_t lane_number(NodeId node) const {
        return node / std::max<NodeId>(network.group_nodes(), 1) % lanes.size();
    }
    Lane& lane_of(NodeId node) { return lanes[lane_number(node)]; }

    Network network;        ///< asked between windows only
    const Overheads costs;  ///< of all nodes
    bool messages_compete;
    bool single_module;  ///< workers send and receive
    std::vector<Lane> lanes;
};

struct NodeSettings {
    NodeId id = 0;
    CoreId cores = 1;
    double memory_bandwidth = 0;       ///< bytes per second
    double core_memory_bandwidth = 0;  ///< bytes per second; 0: no such limit
    Disk disk;
};

class SimNode {
public:
    SimNode(World& world, const NodeSettings& settings, Pace pace);

    /// Gives every worker a stack and lets it wait for time zero. Addresses of the node are kept from now on.
    void start(runtime::Backend& backend, runtime::NodeProgram& program, Stacks& stacks);

    Time next_time() const { return events_.next_time(); }
    void run_until(Time end);
    /// Notes the arrivals of a list, linked in any order.
    void arrive(Message* messages);
    /// Fetches what `run_until` will look at first into the cache. In this order: the
    /// node itself, what it points to, and what that points to.
    void prefetch_object() const;
    void prefetch_lists(const Message* inbox) const;
    void prefetch_subjects() const;
    void prefetch() const;
    /// Those that were sent since the last call of `hand_over`.
    std::span<Message* const> leaving() const { return leaving_; }
    /// Hands the messages that were sent since the last call to the network, in the order of departure.
    void hand_over();

    /// Unwinds what has not finished.
    void abandon();
    std::uint32_t parked_for_ever() const;

    // The seam (runtime/backend.hpp), for a worker or the receiver of this node.
    void pause(SimWorker& worker);
    /// With a single module: also delivers what has come.
    void park(SimWorker& worker, Time deadline);
    void unpark(runtime::Context& caller, CoreId core);
    void compute(SimWorker& worker, runtime::Work work, const std::function<void()>& code);
    bool poll(SimWorker& worker);
    void io(runtime::Context& caller, double bytes, std::function<void(runtime::Context& context)> done);
    void send(runtime::Context& caller, NodeId to, runtime::Bytes bytes, runtime::Enclosure enclosure);
    runtime::Bytes buffer() { return lane_.mailroom.buffer(); }

private:
    /// Of a clock that was charged more than a Time holds, too. `never` is the time of a node that stopped.
    static bool beyond_time(Time time) {
        return static_cast<std::uint64_t>(time.count()) > static_cast<std::uint64_t>(last_moment.count()) &&
               time != never;
    }
    Event event(Time time, EventKind kind, void* subject) {
        if (beyond_time(time)) [[unlikely]]
            refuse_moment();
        return {time, kind, settings_.id, next_event_++, subject};
    }
    void push(Time time, EventKind kind, void* subject) { events_.push(event(time, kind, subject)); }

    void handle(const Event& event);
    void resume(SimWorker& worker, Time time);
    void prepare(SimWorker& worker, Time time);
    void rest(SimWorker& worker, Time deadline);
    void leave(SimWorker& worker);
    bool worker_is_next() const;
    SimWorker& prepared(const Event& resume);
    SimWorker& next_while(SimWorker& worker, Time time);
    Time pay(SimWorker& worker, Time time) {
        return worker.debt == Time::zero() ? time : pay_debt(worker, time);
    }
    Time pay_debt(SimWorker& worker, Time time);
    void wait_until(SimWorker& worker, Time time);
    [[gnu::noinline]] void begin_stream(SimWorker& worker, double bytes);
    void begin_memory_round();
    void memory_served(const Event& event);
    void disk_served(Time now);
    void receive(Message& message, Time now);
    void receive_next(Time now);
    void deliver(Time now);
    void hand_to_program(Message& message, Time now);
    void wake_to_poll(Time now);
    void take_from_core(Time cost);
    void cross_stop(SimWorker& worker);
    void stop(Time now);
    void check_return(Time now);

    World& world_;
    Lane& lane_;
    runtime::NodeProgram* program_ = nullptr;
    EventHeap events_;
    std::uint64_t next_event_ = 0;
    Time window_end_{};

    SimWorker receiver_;
    std::vector<SimWorker> workers_;  // does not grow: what is in it does not move
    Time sender_free_{};
    SimWorker* last_ = nullptr;  ///< the worker that acted last; null after any other event
    std::uint64_t messages_sent_ = 0;
    CoreId finished_ = 0;          ///< workers that have left
    CoreId idle_ = 0;              ///< workers that are parked or have finished
    CoreId next_taken_ = 0;        ///< the core that the next message takes its time from
    Message* received_ = nullptr;  ///< the receiver module's work; the first is being received
    Message* last_received_ = nullptr;
    std::vector<Message*> leaving_;  ///< sent in this window
    NodeSettings settings_;
    Pace pace_;
    std::size_t stops_passed_ = 0;

    Time disk_free_{};
    std::deque<std::function<void(runtime::Context& context)>> disk_calls_;  ///< in the order of their ends
    MemoryBus memory_;
    std::uint64_t memory_round_ = 0;  ///< changes whenever the bus's next end does
    std::vector<void*> served_;
};

}  // namespace heddle::sim
