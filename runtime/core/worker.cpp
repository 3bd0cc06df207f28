// A worker of a node: its main loop, its own tasks, and how it waits.
#include "runtime/core/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <cstring>
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/relax.hpp"
#include "base/units.hpp"
#include "base/work_done.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/readable.hpp"
#include "runtime/core/task_record.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::runtime {

namespace {

const std::function<void()> nothing = WorkDone{};

/// So many pushes and pops of each worker take the slow path, which finds forks that were not joined, before
/// its gates may open: some microseconds.
constexpr std::uint32_t audited_operations = 1024;

/// Tasks, at most: reading the clock and looking take as long as an empty one.
constexpr std::uint64_t steps_between_polls = 32;

/// The result of a task that another worker has taken. The thief wakes its owner (Worker::awaited_done).
class Join final : public Waitable {
public:
    explicit Join(const Slot& slot) : slot_(slot) {}
    bool done() const override { return slot_.state.load(std::memory_order_seq_cst) == Slot::done; }
    bool await(Waiter& /*owner*/) override { return !done(); }
    std::string what() const override {
        return fmt::format("the result of {}", readable(slot_.type->name()));
    }

private:
    const Slot& slot_;
};

/// The end of a worker's wait for something else.
class Wake final : public Waitable {
public:
    Wake(const Waiter& waiter, const Waitable& awaited) : waiter_(waiter), awaited_(awaited) {}
    bool done() const override { return waiter_.woken(); }
    bool await(Waiter& /*owner*/) override { return !done(); }
    std::string what() const override { return awaited_.what(); }

private:
    const Waiter& waiter_;
    const Waitable& awaited_;
};

ThiefView thief_view(const Node& node, CoreId core) {
    const Schedule& schedule = node.schedule();
    const Random random = Random(schedule.seed).split(node.id()).split(core);
    return {{node.id(), core}, &node.topology(), &schedule.stealing, random.split(1)};
}

}  // namespace

Worker::Worker(Node& node, CoreId core)
    : deque_(node.schedule().deque_slots, false,
             node.receiver().backend->beside_stack({node.id(), core},
                                                   Deque::bytes_for(node.schedule().deque_slots))),
      gate_open_(node.topology().gates_open),
      polled_(node.topology().polled || node.topology().polled_in_passing),
      shares_tokens_(node.schedule().token_queue == TokenQueues::node),
      undeclared_(node.topology().undeclared),
      reach_(node.reach()),
      node_(node),
      unit_(node.program().unit()),
      program_(node.program()),
      back_off_(node.schedule().stealing.back_off_min),
      policy_(make_victim_policy(thief_view(node, core))),
      steals_within_node_(policy_->steals_within_node()),
      outbox_(*this, node),
      random_(Random(node.schedule().seed).split(node.id()).split(core)),
      strands_(std::make_unique<StrandRunner>(*this, node.strands())),
      pace_(node.topology().polled_in_passing, steps_between_polls) {
    backend = node.receiver().backend;
    id = {node.id(), core};
    times.follow(node.reach());
    if (gate_open_ && !node.topology().polled) audit_left_ = audited_operations;
    set_rules();
}

Worker::~Worker() = default;

/// If the members have changed since, a policy for those there are takes its place.
void Worker::follow_members() {
    const Members& members = *node_.members();
    if (policy_members_ && policy_members_->epoch == members.epoch()) return;
    const auto now = members.list();
    ThiefView view = thief_view(node_, id.core);
    view.self.node = now->place_of(id.node);
    view.topology = &now->topology;
    view.random = view.random.split(now->epoch);
    policy_ = make_victim_policy(view);
    policy_members_ = now;
    waits_until_ = {};
}

// --- the slow half of push and pop
// ---------------------------------------------------------------------------------

void Worker::push_slow(Slot* head) {
    hot = head;
    if (ruled_ && fork_by_rules(head)) [[unlikely]]
        return;
    note_top(head);
    charge(costs->fork);
    if (recorder) [[unlikely]]
        note_fork(head);
    if (deque_.asked()) serve_request(head + 1);
    reopen_gates();
}

/// A task was written at `head`: the owner's head is above it.
void Worker::note_top(const Slot* head) {
    const std::uint32_t index = deque_.index(head);
    expect_joined(index);
    top_ = index + 1;
    if (!deque_.has_room(head)) refuse_push();
}

void Worker::count_slow_operation() {
    if (--audit_left_ != 0) return;
    tracks_ = false;
    deque_.allow_open();
}

void Worker::refuse_unjoined(std::uint32_t head) const {
    HEDDLE_ASSERT(head < top_);
    throw Error(fmt::format("{} forked tasks were never joined; the last is of {}", top_ - head,
                            readable(deque_.slot(top_ - 1)->type->name())),
                "let every function join all that it forks before it returns");
}

void Worker::refuse_push() const {
    throw Error(fmt::format("worker {} of node {} holds {} tasks, and its deque is full", id.core, id.node,
                            deque_.capacity()),
                "raise schedule.deque_slots, or let the program fork less before it joins");
}

bool Worker::pop_slow(Slot* slot, std::uint64_t units) {
    hot = slot;
    if (ruled_ && calls_now(slot, units)) [[unlikely]]
        return true;
    charge(costs->join);
    const std::uint32_t index = deque_.index(slot);
    expect_joined(index + 1);
    if (!slot->type->detached()) poll();
    if (deque_.asked()) serve_request(slot);
    reopen_gates();
    if (deque_.reclaim(slot) == Deque::Reclaimed::mine) {
        count_task();
        const bool detached = slot->type->detached();
        // A recorded task must end here. Where the gates are open few tasks come here, and all are calls.
        const bool ends_here = recorder && !gate_open_ && slot->type->travels() && !detached;
        if (ends_here || (recorder && detached)) [[unlikely]]
            note_origin(*this, slot);
        if (!ends_here && units != 0) work(units);
        top_ = index;
        if (!ends_here) return true;
        run_above(slot);
        return false;
    }
    if (slot->type->detached()) {
        wait_until_copied(slot);
    } else {
        wait_for(slot);
    }
    deque_.release(slot);
    top_ = index;
    return false;
}

/// Runs a popped task and leaves its result in its slot. What it forks is written over the slot, and a result
/// may be made in its place from the beginning, so both are elsewhere meanwhile.
void Worker::run_above(Slot* slot) {
    const TaskType& type = *slot->type;
    HEDDLE_ASSERT(type.travels());  // so it may be copied
    alignas(16) std::byte payload[payload_bytes];
    std::memcpy(payload, slot->payload, type.arguments_bytes());
    slot->type = nullptr;
    run_function(type, slot, payload);
    if (!type.detached()) std::memcpy(slot->payload, payload, type.result_bytes());
}

void Worker::work_slow(std::uint64_t units, bool goes_on) {
    const auto n = static_cast<double>(units);
    compute_now({unit_.flops * n, unit_.bytes * n, goes_on}, nothing);
}

void Worker::compute(const Work& cost, const std::function<void()>& code) {
    charge(costs->compute);
    compute_long(cost, code);
}

void Worker::compute_long(const Work& cost, const std::function<void()>& code) {
    // It may take long.
    outbox_.flush();
    if (node_.has_strands()) strands_->offer();
    compute_now(cost, code);
}

void Worker::compute_now(const Work& cost, const std::function<void()>& code) {
    declared_.sum.flops += cost.flops;
    declared_.sum.bytes += cost.bytes;
    if (!cost.goes_on) ++declared_.pieces;
    if (recorder) [[unlikely]]
        note_work(cost);
    const Activity before = enter_now(Activity::working);
    backend->compute(*this, cost, code);
    if (before == Activity::working) return;
    const Time end = backend->now(*this);
    enter(before, end);
    reach_.note(end);  // the task ends later
}

void Worker::copy_slow(const Copy& what, void* to, const void* from) {
    if (!what.quick()) charge(costs->compute);
    // Of a quick copy, what the cache has of a line besides does not move.
    const Work cost{
        0, what.quick() ? 2.0 * static_cast<double>(what.bytes) : what.bytes_moved(node_.topology().cache)};
    if (to == nullptr) return compute_long(cost, {});
    const auto code = [&] { what.carry_out(to, from); };
    compute_long(cost, std::ref(code));  // which std::function holds without an allocation
}

Counters Worker::counted() const {
    Counters all = counters_;
    all.steal_attempts += steals_.attempts;
    all.steals_within_node += steals_.within_node;
    all.steal_requests += steals_.requests;
    all.far_requests += steals_.far_requests;
    all.declared_flops = declared_.sum.flops;
    all.declared_bytes = declared_.sum.bytes;
    all.pieces = declared_.pieces;
    return all;
}

void Worker::serve_request(const Slot* head) {
    if (node_.ended_early()) [[unlikely]]
        expect_run_goes_on();
    // A request that finds nothing stays, and the gates stay closed, until there is something to share.
    if (deque_.publish(head) == 0 && deque_.shared() == 0) return;
    deque_.answer();
    node_.published(*this);
}

// --- waiting for a stolen task
// ------------------------------------------------------------------------------------

// Invariant: an error of what runs above a task that waits ends the run, also if that task catches it,
// because it is the error of another task. It is noted, and the worker's loop throws it again.
template <class Code>
void Worker::run_above_waiting(const Code& code) {
    const std::uint32_t depth = depth_;
    Slot* const loose = loose_;
    try {
        code();
    } catch (const boost::context::detail::forced_unwind&) {
        throw;
    } catch (const RunEnded&) {
        throw;
    } catch (...) {
        depth_ = depth;
        loose_ = loose;
        if (!failure_) failure_ = std::current_exception();
        throw;
    }
}

/// A task's wait, until it ends or an exception leaves it.
struct Worker::OpenWait {
    explicit OpenWait(Worker& waiting) : worker(waiting), before(waiting.times.current()) {
        worker.idle_since_known_ = false;
    }
    OpenWait(const OpenWait&) = delete;
    OpenWait& operator=(const OpenWait&) = delete;
    ~OpenWait() {
        if (worker.long_wait_.waitable.load(std::memory_order_relaxed)) [[unlikely]]
            worker.long_wait_.waitable.store(nullptr, std::memory_order_seq_cst);
        worker.strands_->count_turn();
    }

    Worker& worker;
    const Activity before;
};

// What runs here meanwhile goes on the stack above, so it must come to its end before the awaited result is
// used. No cycle of waiting can arise: whatever lies above began later than what lies below, and a task that
// is waited for began after the task that waits. A token that was brought to this node is always begun, or
// handed on if the node leaves, so that no task is left without a worker.
void Worker::wait_for(Slot* slot) {
    Slot* head = slot + 1;
    const Join join(*slot);
    const OpenWait open(*this);
    if (node_.deadlock_watch().watches()) wait_began_ = backend->now(*this);
    std::uint64_t state = slot->state.load(std::memory_order_seq_cst);
    while (state != Slot::done) {
        expect_run_goes_on();
        enter_now(Activity::stealing);
        // Leapfrogging (Wagner, Calder: "Leapfrogging: a portable technique for implementing efficient
        // futures", PPoPP 1993): the thief's tasks are part of what is awaited.
        run_above_waiting([&] {
            const bool leapt =
                state >= taken_by(0) && steal_from(static_cast<CoreId>(state - taken_by(0)), head);
            if (!leapt && slot->state.load(std::memory_order_seq_cst) != Slot::done)
                run_something(head, &join);
        });
        state = slot->state.load(std::memory_order_seq_cst);
    }
    enter_now(open.before);
}

// What lies below `head` in the deque has been pushed: forks that are open, and detached tasks.
// Invariant: while a worker rests above a task that waits, no task that has not begun waits below where it
// alone could run it, because what is awaited may depend on that task. Forks are shared: the worker could not
// serve thieves' requests. A task that ran above may have made some private again (Deque::reclaim). Detached
// tasks, above which the task that waits has begun (give_turn), go to the node's list, because this worker
// may be the only one that can run them.
void Worker::share_all(const Slot* head) {
    if (deque_.publish_all(head)) {
        deque_.answer();
        node_.published(*this);
    }
    while (Slot* const slot = deque_.take_detached()) {
        node_.put_ready(*this, *slot->type, {slot->payload, slot->type->arguments_bytes()});
        complete(*slot);
    }
}

// Invariant: a waiter that `waitable` may still wake is in `waiters_`. A wait that an exception ends leaves
// its waiter there, because what it waited for may come all the same.
void Worker::wait(Slot* head, Waitable& waitable) {
    if (waitable.done()) return;
    if (Strand* const strand = strands_->current(); strand && head == strands_->head())
        return strand->wait(waitable);
    Waiter& waiter = waiters_.emplace_back(id.core);
    if (!waitable.await(waiter)) return waiters_.pop_back();
    const Wake wake(waiter, waitable);
    const OpenWait open(*this);
    wait_began_ = backend->now(*this);
    node_.deadlock_watch().tasks().fetch_add(1, std::memory_order_seq_cst);
    while (!wake.done()) {
        expect_run_goes_on();
        enter_now(Activity::stealing);
        share_all(head);
        run_above_waiting([&] { run_something(head, &wake); });
    }
    node_.deadlock_watch().tasks().fetch_sub(1, std::memory_order_seq_cst);
    enter_now(open.before);
    if (&waiter == &waiters_.back()) waiters_.pop_back();
}

// The worker is not in the set of sleeping ones, because it would not take what they are woken for.
//
// Invariant: `waits_idly` is set before the look whether it is woken, and a context that wakes it looks at
// `waits_idly` afterwards (awaited_done). So no wake is missed.
bool Worker::wait_idly(Waitable& waitable) {
    Waiter waiter(id.core);
    if (!waitable.await(waiter)) return true;
    outbox_.flush();
    const Activity before = enter_now(Activity::waiting);
    deque_.of_worker().waits_idly.store(true, std::memory_order_seq_cst);
    bool comes = true;
    while (!waiter.woken()) {
        poll();
        if (waiter.woken()) break;
        comes = !(node_.ended_early() && waitable.withdraw(waiter));
        if (!comes) break;
        const Time begin = backend->now(*this);
        backend->park(*this, never);
        busy_ -= backend->recent(*this) - begin;
    }
    deque_.of_worker().waits_idly.store(false, std::memory_order_relaxed);
    enter_now(before);
    return comes;
}

void Worker::drop_tasks() {
    deque_.drop(tracks_ ? top_ : deque_.top());
}

// --- activity
// --------------------------------------------------------------------------------------------------

void Worker::show_active() {
    if (idle()) node_.begin_activity(id.core);
}

void Worker::show_passive() {
    if (!idle()) return;
    if (node_.has_strands()) strands_->publish(0);
    node_.end_activity(*this);
}

void Worker::start_task(std::uint32_t reserved, Time now) {
    if (depth_++ == 0) {
        times.begin_task();
        task_begin_ = now;
        ranked_.reserve(reserved, std::memory_order_seq_cst);
        // A thief asks active workers only. A thief that slept before this worker became active has not
        // asked it, so the worker asks itself, and offers the ranked task that thieves left it.
        if (node_.wants_work() && (steals_within_node() || node_.steals().anybody_waits())) {
            deque_.ask();
            if (ranked_.size() != 0) node_.ranked().share(*this, outbox_, *this);
            now = backend->now(*this);
        }
    }
    if (undeclared_ != times.current()) enter(undeclared_, now);
}

}  // namespace heddle::runtime
