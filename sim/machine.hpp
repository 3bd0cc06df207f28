// One simulated machine: its nodes, the memory and disk that they share, and a heap of their events. It runs
// up to the end of a span of virtual time (a window), independently of other machines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "runtime/backend.hpp"
#include "sim/cards.hpp"
#include "sim/event_heap.hpp"
#include "sim/memory_bus.hpp"
#include "sim/networks.hpp"
#include "sim/node.hpp"
#include "sim/pace.hpp"
#include "sim/sim_backend.hpp"
#include "sim/stacks.hpp"
#include "sim/world.hpp"

namespace heddle::sim {

/// The messages that a lane's machines send, used again and again. One may be given back in another lane.
/// Between windows the lanes level what they have, or one that only sends would make more and more.
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
        keep(message.bytes);
        if (std::exchange(message.encloses, false)) message.enclosure = {};
        spare_.push_back(&message);
    }
    runtime::Bytes buffer() {
        if (buffers_.empty()) return {};
        runtime::Bytes buffer = std::move(buffers_.back());
        buffers_.pop_back();
        return buffer;
    }
    /// What has come back since the last call, less what was taken, is for other lanes.
    void pass_on(std::vector<Message*>& to) {
        for (; on_way_ < level_ && !spare_.empty(); --level_) {
            to.push_back(spare_.back());
            spare_.pop_back();
        }
    }
    /// As much as was taken, if there is so much.
    void restock(std::vector<Message*>& from) {
        for (; on_way_ > level_ && !from.empty(); ++level_) {
            spare_.push_back(from.back());
            from.pop_back();
        }
    }
    /// Messages that were taken here, less those that were given back here.
    std::int64_t on_way() const { return on_way_; }

private:
    /// Takes a buffer away, for a later message: thousands may be under way, and each would cost a call of
    /// the allocator.
    void keep(runtime::Bytes& buffer) {
        constexpr std::size_t bytes_max = 256;
        constexpr std::size_t buffers_max = 1U << 14;
        if (buffer.capacity() == 0) return;
        if (buffer.capacity() > bytes_max || buffers_.size() == buffers_max) {
            buffer = {};
            return;
        }
        buffer.clear();
        buffers_.push_back(std::move(buffer));
    }

    std::deque<Message> messages_;
    std::vector<Message*> spare_;
    std::vector<runtime::Bytes> buffers_;  ///< of messages that were given back
    std::int64_t on_way_ = 0;
    std::int64_t level_ = 0;  ///< as much of `on_way_` has been levelled
};

/// What machines share that are simulated one after the other, by one thread at a time.
struct alignas(64) Lane {
    Switchboard switchboard;
    Mailroom mailroom;
    std::uint64_t workers_left = 0;  ///< workers whose `work` has not returned
};

/// Whether waking a receiver module takes time.
inline bool receiver_sleeps(const Overheads& costs, const SimOptions& options) {
    return std::max({costs.wake_up_asleep, costs.message_rouse, costs.message_interrupt}) > Time::zero() &&
           !options.receiver_polls && !options.single_module;
}

/// What all machines share.
struct World {
    World(BuiltNetworks& built, const Platform& platform, const Overheads& charged, const SimOptions& options,
          std::size_t lane_count)
        : cards(built.cards()),
          network(built, platform, charged.message_send),
          costs(charged),
          shared_memory(platform.shared_memory),
          channels_busy(platform.network.contention != heddle::Network::Contention::none),
          messages_compete(options.messages_compete_for_cores && !options.single_module),
          single_module(options.single_module),
          workers_send(options.workers_send),
          sends_sequences(options.sends_sequences && !options.single_module && !options.workers_send),
          receiver_polls(options.receiver_polls && !options.single_module),
          receiver_sleeps(sim::receiver_sleeps(charged, options)),
          looks(options.looks),
          receiver_looks(options.receiver_looks),
          lanes(lane_count),
          stopwatch(options.stopwatch),
          core_speed(platform.core_speed) {}

    /// All machines of a group are in one lane.
    std::size_t lane_number(MachineId machine) const {
        return machine / std::max<MachineId>(network.group_machines(), 1) % lanes.size();
    }
    Lane& lane_of(MachineId machine) { return lanes[lane_number(machine)]; }

    const Cards cards;      ///< of the first network; for machines of nodes
    Networks network;       ///< asked between windows only
    const Overheads costs;  ///< of all nodes
    const SharedMemory shared_memory;
    bool channels_busy;  ///< a message between two nodes of a machine waits for the one before it
    bool messages_compete;
    bool single_module;    ///< workers send and receive
    bool workers_send;     ///< there is no sender module
    bool sends_sequences;  ///< sim/sender.hpp
    bool receiver_polls;   ///< it takes a core
    bool receiver_sleeps;  ///< and waking it takes time
    Time looks;            ///< SimOptions
    Time receiver_looks;
    std::vector<Lane> lanes;
    const std::function<double()> stopwatch;  ///< null: code takes as long as it declares
    const double core_speed;
};

struct MachineSettings {
    NodeId first = 0;  ///< of its nodes, which are neighbours
    CoreId cores = 1;  ///< of each node
    /// Bytes per second, by the number of cores that stream. The caller must keep them.
    std::span<const double> memory_bandwidth;
    double core_memory_bandwidth = 0;  ///< bytes per second; 0: no such limit
    Disk disk;
};

/// What every event looks at comes first, in four lines of the cache.
class alignas(64) SimMachine {
public:
    /// `paces`: of each node. All stop at the same times.
    SimMachine(World& world, const MachineSettings& settings, std::vector<Pace> paces);

    /// When a node begins, and when it is asked to leave.
    struct Presence {
        Time begin{};  ///< never: with the first message to it
        Time leave = never;
    };
    /// Gives every worker of the machine's node `place` a stack and lets it wait for its time. To be called
    /// for each node, in order. Addresses of the machine are kept from now on.
    void start(NodeId place, runtime::Backend& backend, runtime::NodeProgram& program, Stacks& stacks,
               const Presence& presence);

    Time next_time() const { return events_.next_time(); }
    void run_until(Time end);
    /// Notes the arrivals of a list, linked in any order.
    void arrive(Message* messages);
    /// Fetches what `run_until` will look at first into the cache. In this order: the
    /// machine itself, what it points to, and what that points to.
    void prefetch_object() const;
    void prefetch_lists(const Message* inbox) const;
    void prefetch_subjects() const;
    void prefetch() const;
    /// Messages to other machines that have left since the last call of `hand_over`.
    std::span<Message* const> leaving() const { return leaving_; }
    /// Hands these messages to the network. Those of one machine come in the order of departure.
    void hand_over();

    /// Unwinds what has not finished.
    void abandon();
    struct Waiting {
        std::uint64_t workers = 0;
        std::uint64_t nodes = 0;
    };
    Waiting parked_for_ever() const;

    /// The worker of that node that runs now; null if none does.
    runtime::Context* running(NodeId id);

    // The seam (runtime/backend.hpp), for a worker or a receiver of this machine.
    void pause(SimWorker& worker);
    /// With a single module: also delivers what has come.
    void park(SimWorker& worker, Time deadline);
    void receive(SimWorker& worker, Time deadline, const std::function<bool()>& done);
    void unpark(runtime::Context& caller, SimNode& node, CoreId core);
    void compute(SimWorker& worker, const runtime::Work& work, const std::function<void()>& code);
    bool poll(SimWorker& worker);
    void io(runtime::Context& caller, double bytes, std::function<void(runtime::Context& context)> done);
    void send(runtime::Context& caller, NodeId to, runtime::Bytes&& bytes, runtime::Enclosure&& enclosure,
              runtime::Path path);
    /// Lets a node begin that has not: by its first message, which is empty.
    void start_node(runtime::Context& caller, NodeId to);
    runtime::Bytes buffer() { return lane_.mailroom.buffer(); }

private:
    /// Of a clock that was charged more than a Time holds, too. `never` is the time of a node that stopped.
    static bool beyond_time(Time time) {
        return static_cast<std::uint64_t>(time.count()) > static_cast<std::uint64_t>(last_moment.count()) &&
               time != never;
    }
    Event event(Time time, EventKind kind, NodeId source, void* subject) {
        if (beyond_time(time)) [[unlikely]]
            refuse_moment();
        return {time, kind, source, next_event_++, subject};
    }
    void push(Time time, EventKind kind, NodeId source, void* subject) {
        events_.push(event(time, kind, source, subject));
    }
    void push_resume(SimWorker& worker, Time time) {
        push(time, EventKind::resume, worker.context->id.node, &worker);
    }
    /// Arrivals and departures come in the order of the messages at their source.
    void push_message(Time time, EventKind kind, Message& message) {
        events_.push({time, kind, message.from, message.sequence, &message});
    }
    bool is_here(NodeId id) const { return id - settings_.first < nodes_.size(); }
    SimNode& node(NodeId id) { return nodes_[id - settings_.first]; }
    /// Of the node that the message goes to: its receiver's context.
    const void* receiver_of(const Message& message) const {
        return nodes_[message.to - settings_.first].receiver->context;
    }
    /// A worker, not a receiver, which acts in the course of an event.
    bool is_worker(const runtime::Context& context) const { return context.id.core < settings_.cores; }
    /// There is an event at `time` now: the worker that acts must not go on beyond it. The receiver's context
    /// acts for a worker whose node sends itself a message, or which polls.
    void hold_back(runtime::Context& caller, Time time) {
        runtime::Context* const acts = is_worker(caller) ? &caller : last_ ? last_->context : nullptr;
        if (acts) acts->horizon = std::min(acts->horizon, time);
    }

    void make_fiber(SimWorker& worker);
    void begin_node(SimNode& node, Time time);
    void ask_to_leave(SimNode& node, Time now);
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
    static Time pay_debt(SimWorker& worker, Time time);
    void wait_until(SimWorker& worker, Time time);
    [[gnu::noinline]] void begin_stream(SimWorker& worker, double bytes);
    void begin_memory_round();
    void memory_served(const Event& event);
    runtime::Work measured(const runtime::Work& work, const std::function<void()>& code) const;
    [[gnu::noinline]] void compute_on_shared_cores(SimWorker& worker, Time duration, double bytes);
    void begin_cores_round(SimNode& node);
    void cores_served(const Event& event);
    void served_part(SimWorker& worker, Time now);
    void disk_served(Time now);
    [[gnu::noinline]] void put_on_way(runtime::Context& caller, Message& message);
    Time put_on_way(Message& message);
    void depart(Message& message);
    void pass_memory(Message& message);
    void send_on(runtime::Context& caller, NodeId to, runtime::Bytes&& bytes, runtime::Enclosure&& enclosure,
                 runtime::Path path);
    void send_by_caller(runtime::Context& caller, const SimNode& sender, Message& message, Time cost);
    [[gnu::noinline]] void post_to_sender(runtime::Context& caller, SimNode& node, Message& message);
    void send_sequence(SimNode& node, Sender& sender, Time now);
    void receive(Message& message, Time now);
    Time received_before(const SimNode& receiver, const Message& message, Time begin) const;
    void receive_next(SimNode& node, Time now);
    void comes_to_rest(SimNode& node, Time now);
    void passes(SimWorker& worker);
    static Time naps_until(const SimNode& node, Time now);
    static bool worker_returns_soon(const SimNode& node, Time now) { return naps_until(node, now) > now; }
    bool leave_to_worker(SimNode& node, Time now);
    void look_after_nap(SimNode& node, Time now);
    bool receiver_is_asleep(const SimNode& node, Time now) const;
    Time wake_receiver(SimNode& node, Time now);
    void deliver(SimNode& node, Time now);
    void hand_to_program(SimNode& node, Message& message, Time now);
    void wake_to_poll(SimNode& node, Time now);
    void end_receiving(SimNode& node, Time now);
    void charge_waker(runtime::Context& caller);
    void take_from_core(SimNode& node, Time cost);
    void cross_stop(SimWorker& worker);
    void stop(Time now);
    void check_return(Time now) {
        if (!stops_.empty()) [[unlikely]]
            refuse_endless_stop(now);
    }
    void refuse_endless_stop(Time now);

    World& world_;
    Lane& lane_;
    EventHeap events_;
    std::uint64_t next_event_ = 0;
    Time window_end_{};
    const void* first_program_ = nullptr;  ///< to be fetched into the cache

    std::vector<SimNode> nodes_;     // does not grow
    SimWorker* last_ = nullptr;      ///< the worker that acted last; null after any other event
    std::vector<Message*> leaving_;  ///< to other machines, in this window
    std::span<const Pace::Stop> stops_;
    std::size_t stops_passed_ = 0;
    bool in_order_;  ///< messages are sent in the order of their departure
    MachineSettings settings_;

    std::vector<SimWorker> workers_;  // and receivers, by node; does not grow: what is in it does not move

    Time disk_free_{};
    struct DiskCall {
        SimNode* node = nullptr;
        std::function<void(runtime::Context& context)> done;
    };
    std::deque<DiskCall> disk_calls_;  ///< in the order of their ends
    MemoryBus memory_;
    std::uint64_t memory_round_ = 0;  ///< changes whenever the bus's next end does
    std::vector<void*> served_;
};

}  // namespace heddle::sim
