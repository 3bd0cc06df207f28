// Advances a simulation window by window. A window is a span of virtual time that is shorter than any message
// takes. So machines advance in it independently; their messages are handed on when it ends.
#include "sim/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::sim {

namespace {

/// Windows may be shorter than the lookahead, never longer. This keeps `elapsed` going on a single machine.
constexpr Time window_max = std::chrono::milliseconds(1);

/// If fewer machines than one in so many are due, it is not worth finding all machines that may go on.
constexpr std::size_t few = 16;

/// So many machines before its turn comes, a machine is told of its arrivals.
constexpr std::size_t ahead = 2;

}  // namespace

Simulation::Simulation(World& world, std::deque<SimMachine>& machines, Order order, Crew* crew,
                       std::atomic<std::int64_t>& elapsed)
    : world_(world),
      machines_(machines),
      order_(order),
      crew_(crew),
      agenda_(static_cast<MachineId>(machines.size())),
      inboxes_(machines.size()),
      due_of_lane_(world.lanes.size()),
      expecting_(machines.size()),
      elapsed_(elapsed) {}

// Invariant: at the beginning of a window [T, T + S + L), every message that arrives before its end is in its
// receiver's heap; S is the time that sending takes, L the lookahead. A message that is sent in the window
// departs at T + S or later, and arrives at T + S + L or later: a small one because no latency is below L, a
// large one because it leaves SimGrid at T + S or later and arrives L after that. Large messages have been
// advanced to T at least; where one may leave SimGrid before T + S, the window ends L after that. A machine
// may have gone beyond the window (see go_on_alone): then every message that arrives before that is in its
// heap.
void Simulation::run() {
    for (MachineId id = 0; id < machines_.size(); ++id) agenda_.note(id, machines_[id].next_time());
    while (!all_done()) {
        const Time begin = agenda_.next_time();
        if (world_.network.behind(begin)) {
            world_.network.advance(begin);
        } else if (begin == never) {
            deadlock();
        } else {
            run_window(begin);
        }
        insert_arrivals();
    }
}

void Simulation::run_window(Time begin) {
    elapsed_.store(begin.count(), std::memory_order_relaxed);
    const Time window_end = world_.network.begin_window(begin);
    const Time end = std::min(window_end, saturated_sum(begin, window_max));
    next_arrival_ = world_.network.instant() ? begin : end;
    due_.clear();
    agenda_.take(end, due_);
    if (order_.reverse) std::reverse(due_.begin(), due_.end());
    groups_go_on_ = !order_.plain && due_.size() >= machines_.size() / few && end == window_end &&
                    world_.network.group_end() > end;
    if (groups_go_on_) {
        ++window_;
        world_.network.expecting([this](MachineId machine) { expecting_[machine] = window_; });
    }
    stopped_at_.assign(world_.lanes.size(), due_.size());
    for (auto& due : due_of_lane_) due.clear();
    for (std::size_t i = 0; i < due_.size(); ++i) due_of_lane_[world_.lane_number(due_[i])].push_back(i);
    next_lane_.store(0, std::memory_order_relaxed);
    if (crew_ && due_.size() > 1) {
        crew_->run([this, end] { run_lanes(end); });
    } else {
        run_lanes(end);
    }
    // The first failure in the order of the machines, whichever thread ran them.
    const auto first = std::min_element(stopped_at_.begin(), stopped_at_.end());
    if (*first < due_.size())
        std::rethrow_exception(
            world_.lanes[static_cast<std::size_t>(first - stopped_at_.begin())].switchboard.failure);
    for (const MachineId id : due_) {
        machines_[id].hand_over();
        agenda_.note(id, machines_[id].next_time());
    }
    if (world_.lanes.size() == 1) return;
    for (Lane& lane : world_.lanes) lane.mailroom.pass_on(spare_messages_);
    for (Lane& lane : world_.lanes) lane.mailroom.restock(spare_messages_);
}

// What machines of different lanes share in a window is only read: machines do not look at each other, and
// what they send waits with them until the window is over. So which thread runs a machine, and when, changes
// nothing.
void Simulation::run_lanes(Time end) {
    for (std::size_t lane = 0;
         (lane = next_lane_.fetch_add(1, std::memory_order_relaxed)) < world_.lanes.size();)
        run_lane(lane, end);
}

void Simulation::run_lane(std::size_t lane, Time end) {
    Lane& mine = world_.lanes[lane];
    // Only of this lane: another thread may be at any other machine.
    const std::vector<std::size_t>& due = due_of_lane_[lane];
    const auto machine = [&](std::size_t i) -> SimMachine& { return machines_[due_[due[i]]]; };
    // What a machine's arrivals are must be known before it runs, so also before it is fetched.
    const auto collect = [&](std::size_t i) {
        if (i < due.size()) machine(i).arrive(std::exchange(inboxes_[due_[due[i]]], nullptr));
    };
    const MachineId group_machines = std::max<MachineId>(world_.network.group_machines(), 1);
    const auto group_of = [&](std::size_t i) { return due_[due[i]] / group_machines; };
    std::size_t group_begin = 0;
    for (std::size_t i = 0; i < ahead; ++i) collect(i);
    for (std::size_t i = 0; i < due.size() && !mine.switchboard.failure; ++i) {
        if (i + 4 < due.size()) machine(i + 4).prefetch_object();
        if (i + 3 < due.size()) machine(i + 3).prefetch_lists(inboxes_[due_[due[i + 3]]]);
        collect(i + ahead);
        if (i + 2 < due.size()) machine(i + 2).prefetch_subjects();
        if (i + 1 < due.size()) machine(i + 1).prefetch();
        machine(i).run_until(end);
        if (mine.switchboard.failure) stopped_at_[lane] = due[i];
        if (groups_go_on_) note_written_to(due_[due[i]], machine(i).leaving());
        if (world_.lanes.size() == 1) machine(i).hand_over();  // while it is in the cache
        if (!groups_go_on_) continue;
        const bool group_ends = i + 1 == due.size() || group_of(i + 1) != group_of(i);
        if (!group_ends) continue;
        go_on_alone(lane, group_begin, i + 1);
        group_begin = i + 1;
    }
}

/// Notes the machines of its own group that machine `from` has written to. Messages from elsewhere come
/// later.
void Simulation::note_written_to(MachineId from, std::span<Message* const> sent) {
    if (sent.empty()) return;
    const MachineId group_machines = world_.network.group_machines();
    const MachineId group = from - from % group_machines;
    for (const Message* message : sent) {
        const MachineId to = world_.cards.machine(message->to);
        if (to >= group && to - group < group_machines) expecting_[to] = window_;
    }
}

// Messages from other groups take longer than those of the own group. So once all machines of a group have
// run, the window is longer for those that no machine of the group has sent anything. They go on while they
// are in the cache.
void Simulation::go_on_alone(std::size_t lane, std::size_t first, std::size_t last) {
    Lane& mine = world_.lanes[lane];
    const Time end = world_.network.group_end();
    for (std::size_t i = first; i < last && !mine.switchboard.failure; ++i) {
        const std::size_t place = due_of_lane_[lane][i];
        SimMachine& machine = machines_[due_[place]];
        if (expecting_[due_[place]] == window_ || machine.next_time() >= end) continue;
        machine.run_until(end);
        if (mine.switchboard.failure) stopped_at_[lane] = place;
        if (world_.lanes.size() == 1) machine.hand_over();
    }
}

bool Simulation::all_done() const {
    std::uint64_t workers = 0;
    std::int64_t messages = 0;
    for (const Lane& lane : world_.lanes) {
        workers += lane.workers_left;
        messages += lane.mailroom.on_way();
    }
    return workers == 0 && messages == 0;
}

void Simulation::insert_arrivals() {
    world_.network.take_known([this](const Arrival& arrival) {
        HEDDLE_ASSERT(arrival.time >= next_arrival_);
        Message& message = *arrival.message;
        message.time = arrival.time;
        const MachineId machine = world_.cards.machine(arrival.to);
        message.next = std::exchange(inboxes_[machine], &message);
        agenda_.note(machine, arrival.time);
    });
}

void Simulation::deadlock() const {
    std::uint64_t parked = 0;
    std::uint64_t nodes = 0;
    for (const SimMachine& machine : machines_) {
        const SimMachine::Waiting waiting = machine.parked_for_ever();
        parked += waiting.workers;
        nodes += waiting.nodes;
    }
    throw Error(
        fmt::format("deadlock: {} workers on {} nodes are parked for ever, and nothing is under way that "
                    "could wake them",
                    parked, nodes));
}

}  // namespace heddle::sim
