// The part of a worker that looks for work: what waits on its node, its colleagues' tasks, and the victims
// that its policy names. When and how long it sleeps is decided here; how it sleeps, in
// worker_sleep.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

namespace {

/// Tasks longer than so many times back_off_max are coarse; and a worker without work for so many times
/// back_off_max takes them for coarse, because it may have seen none.
constexpr int coarse_task = 16;
constexpr int long_idle = 1000;

/// A worker backs off fewer than `rounds_max` times within `least_time`, or the run is refused: a hundred
/// nanoseconds for each round are far less than a message takes.
constexpr std::uint32_t rounds_max = 1'000'000;
constexpr Time least_time = std::chrono::milliseconds(100);

bool names_node(Victim::Kind kind) {
    return kind == Victim::Kind::node || kind == Victim::Kind::far_node || kind == Victim::Kind::lifeline;
}

}  // namespace

void Worker::poll_now() {
    if (pace_.polls()) {
        if (pace_.due(1)) pace_.poll(*this);
        return;
    }
    charge(costs->poll);
    backend->poll(*this);
}

// Strands that are always ready would keep timers, messages' credits and tasks from their turn for ever.
bool Worker::run_behind_strands(Slot* head, const Waitable* awaited) {
    WorkSources& sources = node_.sources();
    if (sources.run_behind(node_.strands(), *this, head, WorkSources::Begun::always)) return true;
    return !(awaited && depth_ >= deep) &&
           sources.run_behind(node_.strands(), *this, head, WorkSources::Begun::unless_deep);
}

// Invariant: a worker takes `runs_max` tasks in a row at most from the first sources that have some. Then
// another source comes first, each in turn. So none keeps work of the others waiting for ever.
bool Worker::run_sources(Slot* head, WorkSources::Begun begun) {
    if (!node_.sources().run(*this, head, begun)) return false;
    ++runs_;
    return true;
}

bool Worker::run_something(Slot* head, const Waitable* awaited) {
    poll();
    if (node_.is_leaving()) [[unlikely]]
        node_.members()->give_away(*this);
    if (std::exchange(strands_had_their_turn_, false)) [[unlikely]]
        if (run_behind_strands(head, awaited)) return true;
    const bool is_deep = awaited && depth_ >= deep;
    if (runs_ >= runs_max) [[unlikely]] {
        runs_ = 0;
        if (node_.sources().run_in_turn(++turns_, *this, head, is_deep)) return true;
    }
    if (run_sources(head, WorkSources::Begun::always)) return true;
    if (is_deep) {
        rest(backend->now(*this) + node_.schedule().stealing.back_off_max, awaited);
        return false;
    }
    if (run_sources(head, WorkSources::Begun::unless_deep)) return true;
    runs_ = 0;
    if (node_.balances()) {
        node_.balancer().idle(*this);
        enter_now(Activity::stealing);
    } else if (times.current() != Activity::stealing) {
        enter(Activity::stealing, backend->recent(*this));  // what it did last has just ended
    }
    if (node_.members()) follow_members();
    if (awaiting_answer_) {
        rest(never, awaited);
        if (!deque_.of_worker().requesting.load(std::memory_order_seq_cst)) awaiting_answer_ = false;
        return steals_within_node_ && scan_node(id.core + 1, head);
    }
    if (node_.is_leaving()) [[unlikely]] {
        rest(never, awaited);
        return steals_within_node_ && scan_node(id.core + 1, head);
    }
    if (!awaited && std::exchange(interrupted_, false)) {
        if (steals_within_node_ && scan_node(id.core + 1, head)) return true;
        if (wait_on(awaited)) return steals_within_node_ && scan_node(id.core + 1, head);
    }
    waits_until_ = {};
    Victim victim = policy_->next();
    if (policy_members_ && names_node(victim.kind)) victim.index = policy_members_->nodes[victim.index];
    switch (victim.kind) {
        case Victim::Kind::core:
            return steal_from(victim.index, head);
        case Victim::Kind::colleagues:
            return scan_node(victim.index, head);
        case Victim::Kind::node:
            if (ask_node(victim.index)) return false;
            back_off(awaited);
            break;
        case Victim::Kind::far_node:
            if (node_.steals().request_far(*this, victim.index)) count_request(victim.index);
            return false;
        case Victim::Kind::lifeline:
            count_request(victim.index);
            node_.steals().tie_lifeline(*this, victim.index);
            return false;
        case Victim::Kind::rest:
            back_off(awaited);
            break;
        case Victim::Kind::sleep:
            waits_until_ = never;
            rest(never, awaited);
            break;
    }
    return steals_within_node_ && scan_node(id.core + 1, head);
}

void Worker::count_request(NodeId victim) {
    count_attempt();
    ++steals_.requests;
    if (node_.topology().distances.far(id.node, victim)) ++steals_.far_requests;
}

/// False if as many requests of this node are under way as may be.
bool Worker::ask_node(NodeId victim) {
    if (!node_.steals().may_request()) return false;
    count_request(victim);
    awaiting_answer_ = true;
    deque_.of_worker().requesting.store(true, std::memory_order_seq_cst);
    node_.steals().request(*this, victim);
    return true;
}

// --- between two rounds

void Worker::found_work() {
    policy_->found();
    failures_ = 0;
    back_off_ = node_.schedule().stealing.back_off_min;
    idle_since_known_ = false;
    interrupted_ = false;
    waits_until_ = {};
}

void Worker::begin_task(std::uint32_t reserved) {
    found_work();
    start_task(reserved, backend->now(*this));
}

void Worker::end_task() {
    note_task_end();
    leave_task();
}

/// The run lasts until now. What the worker does next, before it leaves the task, may be no part of it.
void Worker::note_task_end() {
    last_task_end_ = backend->now(*this);
    enter(Activity::overhead, last_task_end_);
    if (depth_ == 1) times.end_task();
    reach_.note(last_task_end_);
}

void Worker::leave_task() {
    if (--depth_ != 0) return;
    if (node_.has_strands()) strands_->publish(0);
    last_task_ = last_task_end_ - task_begin_;
    ranked_.reserve(1, std::memory_order_relaxed);
}

// Strands that wait again soon, such as threads that answer each other, are no sign of work that could be
// stolen. If each of them began a new search, other nodes would be asked after each message. What counts as
// soon is much more than the longest wait, because the system may take the core away meanwhile.
void Worker::begin_strands(bool found) {
    search_goes_on_ = !found && idle() && node_.topology().nodes > 1;
    if (!search_goes_on_) found_work();
    start_task(0, backend->recent(*this));
}

void Worker::end_strands() {
    end_task();
    if (!idle() || !std::exchange(search_goes_on_, false)) return;
    if (last_task_ > coarse_task * node_.schedule().stealing.back_off_max) return found_work();
    if (idle_since_known_) idle_since_ += last_task_;  // which was no time without work
    interrupted_ = true;
}

/// False if the wait or sleep that strands interrupted is over.
bool Worker::wait_on(const Waitable* awaited) {
    if (backend->recent(*this) >= waits_until_) return false;
    rest(waits_until_, awaited);
    return true;
}

// The wait follows the grain of the tasks. While tasks are short, work comes and goes quickly, and the wait
// ends at `back_off_max`. If the worker's last task was long, or it has had no work for long, it waits for a
// share of the time T without work: it loses at most that share of T, and the number of its requests grows
// with log T.
void Worker::back_off(const Waitable* awaited) {
    const Stealing& settings = node_.schedule().stealing;
    if (++failures_ >= settings.retries) back_off_ = settings.back_off_max;
    const Time now = backend->now(*this);
    expect_time_to_pass(now);
    if (!std::exchange(idle_since_known_, true)) idle_since_ = now;
    const Time idle = now - idle_since_;
    const bool coarse =
        last_task_ > coarse_task * settings.back_off_max || idle > long_idle * settings.back_off_max;
    const auto share = static_cast<Time::rep>(settings.back_off_share * static_cast<double>(idle.count()));
    waits_until_ = now + (coarse ? std::max(back_off_, Time(share)) : back_off_);
    rest(waits_until_, awaited);
    back_off_ = std::min(2 * back_off_, settings.back_off_max);
}

/// If nothing that a thief does takes time, a simulation of a second needs billions of rounds.
void Worker::expect_time_to_pass(Time now) {
    if (++rounds_ < rounds_max) return;
    if (now - rounds_begin_ < least_time) {
        throw Error(fmt::format("worker {} of node {} looked for work {} times within {}", id.core, id.node,
                                rounds_, print_time(now - rounds_begin_)),
                    "let the search take time: raise schedule.stealing.back_off_max, or state a latency or "
                    "overheads");
    }
    rounds_ = 0;
    rounds_begin_ = now;
}

/// Tries the other workers that may have something, from `begin` on.
bool Worker::scan_node(CoreId begin, Slot* head) {
    if (node_.cores() == 1) return false;
    charge(costs->steal_attempt);  // for the look at the set of active workers
    return node_.any_victim(begin % node_.cores(),
                            [&](CoreId core) { return core != id.core && steal_from(core, head); });
}

bool Worker::steal_from(CoreId victim, Slot* head) {
    const bool far = !node_.topology().near(id.core, victim);
    charge(costs->steal_attempt + (far ? costs->steal_far : Time::zero()));
    count_attempt();
    Worker& owner = node_.worker(victim);
    if (node_.sources().steal(*this, owner, head)) return true;
    // If it has private tasks, it will publish some.
    if (owner.deque().shared() == 0) owner.deque().ask();
    return false;
}

}  // namespace heddle::runtime
