// How a worker sleeps, what it is doing meanwhile, and what wakes it. When and how long it sleeps is decided
// where it looks for work (worker_search.cpp).
#include <algorithm>
#include <functional>

#include "base/relax.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

namespace {

/// Most answers of another node come within this time. It is no longer, because a worker that waits so takes
/// no work from elsewhere.
constexpr Time soon = std::chrono::microseconds(20);

using LongSleep = Deque::OfWorker::LongSleep;

}  // namespace

// Invariant: a worker that sleeps has said so before it looks for a reason not to, and a context that makes
// such a reason looks for sleepers afterwards. So one of the two sees the other, and no reason to wake is
// missed. Likewise a worker shows itself active before it looks for a sleeper that it should share with.
void Worker::rest(Time deadline, const Waitable* awaited) {
    const bool sends = !outbox_.empty();
    if (sends) enter_now(Activity::overhead);
    outbox_.flush();
    deadline = std::min({deadline, node_.sources().due(), looks_again_});
    if (!node_.deadlock_watch().watches()) return sleep(deadline, awaited);
    const Time now = sends ? backend->now(*this) : backend->recent(*this);
    const Time long_at = std::max(last_task_end_, wait_began_) + DeadlockWatch::patience;
    if (now < long_at) return sleep(std::min(deadline, long_at), awaited);
    rest_long(idle() ? deadline : now + DeadlockWatch::patience, awaited);
}

// The worker is not active while it sleeps, so that a run in which all wait is found to be over. It looks for
// work between such sleeps.
//
// Invariant: what this worker waits for is not done while the node looks passive. `begins` is set before the
// last look whether it is done. A context that does it looks at `long_sleep` afterwards (awaited_done). So
// either this worker sees that it is done, and stays active; or that context sees `begins`, waits for
// `lasts`, which follows the removal from the active workers, and adds the worker again. It does so before
// the message that it handles is counted.
//
// Invariant: that context adds the worker only while `ends` is set, and the worker does not go on until it is
// `none`. So no worker is made active that has gone on, and may have become idle.
void Worker::rest_long(Time deadline, const Waitable* awaited) {
    if (idle()) {
        node_.deadlock_watch().fell_quiet(outbox_);
        return sleep(deadline, awaited);
    }
    if (forks_may_go()) return sleep(deadline, awaited);
    long_wait_.since.store(std::max(last_task_end_, wait_began_).count(), std::memory_order_relaxed);
    long_wait_.waitable.store(awaited, std::memory_order_seq_cst);
    std::atomic<LongSleep>& state = deque_.of_worker().long_sleep;
    state.store(LongSleep::begins, std::memory_order_seq_cst);
    if (awaited->done()) return state.store(LongSleep::none, std::memory_order_seq_cst);
    node_.pause_activity(id.core);
    state.store(LongSleep::lasts, std::memory_order_seq_cst);
    node_.activity_paused(*this);
    node_.deadlock_watch().fell_quiet(outbox_);
    sleep(deadline, awaited);
    node_.begin_activity(id.core);
    LongSleep seen = LongSleep::lasts;
    if (state.compare_exchange_strong(seen, LongSleep::none, std::memory_order_seq_cst)) return;
    for (Patience patience; state.load(std::memory_order_seq_cst) != LongSleep::none; patience.wait()) {
    }
}

/// Whether a thief may come for the oldest fork below a task that waits. Thieves of this node take forks of
/// active workers only, and those of other nodes search until no node is active. So the worker stays active
/// until the fork is taken.
bool Worker::forks_may_go() const {
    const Slot* const oldest = steals_within_node_ ? deque_.oldest() : nullptr;
    if (!oldest || node_.cores() > 1) return oldest != nullptr;
    const NodeId nodes = policy_members_ ? policy_members_->topology.nodes : node_.topology().nodes;
    return nodes > 1 && oldest->type->travels();
}

void Worker::awaited_done(Context& caller) {
    std::atomic<LongSleep>& state = deque_.of_worker().long_sleep;
    LongSleep seen = state.load(std::memory_order_seq_cst);
    for (Patience patience; seen == LongSleep::begins; patience.wait())
        seen = state.load(std::memory_order_seq_cst);
    if (seen == LongSleep::lasts &&
        state.compare_exchange_strong(seen, LongSleep::ends, std::memory_order_seq_cst)) {
        node_.begin_activity(id.core);
        state.store(LongSleep::none, std::memory_order_seq_cst);
    }
    if (claim_sleeper() || deque_.of_worker().waits_idly.load(std::memory_order_seq_cst))
        caller.backend->unpark(caller, id.core);
}

void Worker::sleep(Time deadline, const Waitable* awaited) {
    node_.sleeping().add(id.core);
    if (!something_to_do(awaited)) {
        deadline = std::min(deadline, node_.sources().due());  // which may have become earlier meanwhile
        const Time begin = backend->recent(*this);
        enter(resting(awaited), begin);
        backend->park(*this, deadline);
        pace_.begin_again();
        const Time end = backend->recent(*this);
        enter(Activity::stealing, end);
        busy_ -= end - begin;
        if (looks_again_ <= end) looks_again_ = never;
    }
    node_.sleeping().remove(id.core);
}

// The worker is active meanwhile, so this must end soon: the node can neither be found passive, nor refuse
// the nodes that wait for work. Else it is as if it slept: it is in the set of sleeping workers, so that
// whatever would wake it ends this too.
bool Worker::receive_until(const Waitable& awaited) {
    outbox_.flush();
    if (node_.steals().anybody_waits() || node_.is_leaving()) return false;
    node_.sleeping().add(id.core);
    if (!something_to_do(&awaited)) {
        const Time begin = backend->now(*this);
        const Activity before = enter(Activity::waiting, begin);
        const auto ends = [&] { return awaited.done() || node_.steals().anybody_waits(); };
        backend->receive(*this, std::min({begin + soon, node_.sources().due(), looks_again_}),
                         std::ref(ends));
        const Time end = backend->recent(*this);
        enter(before, end);
        busy_ -= end - begin;
        task_begin_ += end - begin;
    }
    node_.sleeping().remove(id.core);
    return awaited.done();
}

Activity Worker::resting(const Waitable* awaited) const {
    if (awaited || node_.sources().expects(*this)) return Activity::waiting;
    return awaiting_answer_ ? Activity::stealing : Activity::idle;
}

bool Worker::something_to_do(const Waitable* awaited) const {
    if (node_.stopping()) return true;
    if (awaited && awaited->done()) return true;
    // What it would not begin must not keep it awake: it would look again and again, and time would stand
    // still.
    const bool is_deep = awaited && depth_ >= deep;
    if (node_.sources().waits_for(*this, is_deep)) return true;
    if (is_deep) return false;
    if (awaiting_answer_ && !deque_.of_worker().requesting.load(std::memory_order_seq_cst)) return true;
    if (node_.members() && !(policy_members_ && policy_members_->epoch == node_.members()->epoch()))
        return true;
    if (!steals_within_node_) return false;
    return node_.any_victim(id.core, [&](CoreId core) {
        if (core == id.core) return false;
        Worker& victim = node_.worker(core);
        if (node_.sources().may_steal(victim)) return true;
        victim.deque().ask();  // and if it has private tasks, it will publish some and wake us
        return false;
    });
}

bool Worker::claim_sleeper() {
    return node_.sleeping().contains(id.core) && node_.sleeping().remove(id.core);
}

// An idle worker that does not sleep looks at what has come before it sleeps. One that has a task may not. If
// it was woken for another task a moment ago, one of the two waits for the next worker that looks: a second
// worker woken each time would send requests of its own, and runs over wide areas take a tenth longer.
bool Worker::request_answered() {
    node_.steals().request_ended();
    deque_.of_worker().requesting.store(false, std::memory_order_seq_cst);
    if (!claim_sleeper()) return !node_.active().contains(id.core);
    node_.receiver().backend->unpark(node_.receiver(), id.core);
    return true;
}

}  // namespace heddle::runtime
