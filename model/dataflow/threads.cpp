// Steals closures from the dataflow threads of a node, for its own workers and for other nodes.
#include "model/dataflow/threads.hpp"

#include <utility>

#include "model/dataflow/travel.hpp"
#include "runtime/core/node.hpp"
#include "runtime/sources/gift.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::dataflow {

namespace {

using runtime::SpinLock;
using runtime::Worker;

/// Which thread a worker runs.
struct Running : runtime::State<Worker> {
    explicit Running(Worker& /*worker*/) {}
    std::atomic<Thread*> thread{nullptr};
};

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
    closures += other.closures;
    accesses += other.accesses;
    readiness_steps += other.readiness_steps;
    renamings += other.renamings;
    suspensions += other.suspensions;
    return *this;
}

Threads::Threads(runtime::Node& node) : node_(node), window_(node.schedule().fork_window) {
    with_active_workers_ = true;
    node.sources().add(*this);
}

Threads::~Threads() {
    for (const auto& thread : all_) thread->abandon();
}

void Threads::runs(Worker& worker, Thread* thread) {
    worker.state<Running>().thread.store(thread, std::memory_order_seq_cst);
}

/// The thread may end and become another one meanwhile: then a look at it is a look at that one.
Thread* Threads::run_by(Worker& worker) {
    return worker.state<Running>().thread.load(std::memory_order_seq_cst);
}

// --- the threads that there are

Thread& Threads::take() {
    const SpinLock::Guard guard(lock_);
    if (free_.empty()) {
        all_.push_back(std::make_unique<Thread>(*this));
        return *all_.back();
    }
    Thread& thread = *free_.back();
    free_.pop_back();
    return thread;
}

void Threads::give_back(Thread& thread) {
    const SpinLock::Guard guard(lock_);
    free_.push_back(&thread);
}

std::size_t Threads::size() const {
    const SpinLock::Guard guard(lock_);
    return all_.size();
}

Thread& Threads::at(std::size_t i) const {
    const SpinLock::Guard guard(lock_);
    return *all_[i];
}

// --- thieves

// Invariant: a thief shows itself active before it takes a closure, and a closure that it has taken is a
// strand's before it is passive.
bool Threads::steal_from(Worker& thief, Thread& victim, WorkerId worker) {
    Closure* const closure = victim.take_ready(false, thief);
    if (!closure) {
        const Time again = victim.rests_until();
        if (again > thief.backend->now(thief)) thief.look_again(again);
        return false;
    }
    thief.count_steal();
    thief.found_work();  // the thief thread is a strand of its own, which is no sign of work
    start_thief(thief, worker, [&victim, closure](Thread& own) { begin_stolen(own, victim, *closure); });
    if (victim.offers()) node_.wake_one(thief);  // there is more than was woken for
    return true;
}

bool Threads::run(Worker& worker, runtime::Slot* /*head*/) {
    bool found = false;
    worker.show_active();
    const std::size_t count = size();
    for (std::size_t i = 0; i < count && !found && may_wait(); ++i) {
        Thread& thread = at(i);
        found = thread.suspended() && thread.offers() &&
                steal_from(worker, thread, {node_.id(), TaskNote::nowhere});
    }
    worker.show_passive();
    return found;
}

bool Threads::may_steal(Worker& victim) const {
    const Thread* const thread = run_by(victim);
    return thread && thread->offers();
}

bool Threads::steal(Worker& thief, Worker& victim, runtime::Slot* /*head*/) {
    Thread* const thread = run_by(victim);
    if (!thread || !thread->offers_to(thief)) return false;
    thief.show_active();
    const bool found = steal_from(thief, *thread, victim.id);
    thief.show_passive();
    return found;
}

std::uint32_t Threads::givable() const {
    std::uint32_t sum = 0;
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) sum += at(i).offers() ? 1 : 0;
    return sum;
}

void Threads::give(runtime::Gift& gift) {
    const std::size_t count = size();
    for (std::size_t i = 0; i < count && gift.wants_more(); ++i) {
        Thread& thread = at(i);
        while (gift.wants_more() && thread.offers_to(gift.outbox().context())) {
            gift.leaves();
            Closure* const closure = thread.take_ready(true, gift.outbox().context());
            if (!closure) break;
            send_closure(*closure, sends({&thread, closure}), gift);
        }
    }
}

std::uint64_t Threads::sends(Away away) {
    const SpinLock::Guard guard(lock_);
    away_.emplace(next_id_, away);
    return next_id_++;
}

Threads::Away Threads::returns(std::uint64_t id) {
    const SpinLock::Guard guard(lock_);
    const auto found = away_.find(id);
    if (found == away_.end()) throw runtime::MalformedMessage("it has outputs of a closure that is not away");
    const Away away = found->second;
    away_.erase(found);
    return away;
}

void Threads::report(runtime::NodeReport& report) const {
    Counts sum;
    for (const auto& thread : all_) sum += thread->counts();
    sum.renamings += renamings_.load(std::memory_order_relaxed);
    const auto add = [&](const char* name, std::uint64_t value) {
        report.answer.push_back({name, static_cast<double>(value)});
    };
    add("closures", sum.closures);
    add("accesses", sum.accesses);
    add("readiness_steps", sum.readiness_steps);
    add("renamings", sum.renamings);
    add("suspensions", sum.suspensions);
}

}  // namespace heddle::dataflow
