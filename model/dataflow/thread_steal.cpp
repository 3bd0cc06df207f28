// The thief's side of a dataflow thread: it finds ready closures and steals them (the KAAPI paper, section
// 3.3). One thief at a time examines a thread.
//
// A thief goes through the oldest frame from its first closure that has not ended, and notes in each object
// what the closures so far leave of it (Notes). What was noted in an earlier look counts no more.
#include <algorithm>

#include "model/dataflow/thread.hpp"
#include "model/dataflow/threads.hpp"
#include "runtime/core/node.hpp"

namespace heddle::dataflow {

namespace {

using runtime::SpinLock;

/// A look ends after so many closures: the owner waits meanwhile.
constexpr std::uint32_t closures_max = 1024;

/// Looking at so many again takes less time than what the look may miss is worth.
constexpr std::uint32_t closures_again = 16;

/// After a look that found nothing none begins for so many times as long as it took. So looks that find
/// nothing cost the owner a fifth of its time at most.
constexpr int rest_for_a_look = 4;

}  // namespace

/// Notes what the access leaves of its object. True: a thief could make it now.
bool Thread::see(Access& access, Closure::State state) {
    using Seen = Notes::Seen;
    Access& root = *access.root;
    if (!notes_.has(root)) notes_.add(root, root.data, Seen::value);
    ++steps_;
    const Seen seen = Notes::seen(root);
    const bool had_value = seen == Seen::value;
    const bool readable = had_value || seen == Seen::readers;
    if (state == Closure::terminated) {
        if ((access.mode == Mode::w || access.mode == Mode::rw) && access.data) {
            notes_.set_value(root, access.data);
        } else if (access.mode == Mode::cw && readable) {
            Notes::set(root, Seen::accumulated);
        }
        return false;
    }
    switch (access.mode) {
        case Mode::r:
            if (readable) Notes::set(root, Seen::readers);
            return readable;
        case Mode::cw:
            // What a thief accumulates is added later.
            if (readable) Notes::set(root, Seen::accumulated);
            return true;
        case Mode::w:
            // A thief writes a cell of its own.
            Notes::set(root, Seen::busy);
            return true;
        default:
            Notes::set(root, Seen::busy);
            return had_value && (access.link != Access::Link::expected || notes_.value(root)->written);
    }
}

bool Thread::see(Closure& closure, Closure::State state) {
    bool ready = true;
    Access* const accesses = closure.accesses();
    for (std::uint32_t i = 0; i < closure.type->accesses; ++i)
        if (!accesses[i].alias()) ready = see(accesses[i], state) && ready;
    return ready;
}

/// Gives a closure that was just taken the cells that it reads. It makes those that it writes.
void Thread::bind(Closure& closure) {
    closure.moved = false;
    Access* const accesses = closure.accesses();
    for (std::uint32_t i = 0; i < closure.type->accesses; ++i) {
        Access& access = accesses[i];
        const bool reads = !access.alias() && (access.mode == Mode::r || access.mode == Mode::rw);
        access.data = reads ? notes_.value(*access.root) : nullptr;
        if (reads) hold(*access.data);
    }
}

// Natively a look takes the time that it takes, and other thieves and the owner wait for the lock. Where time
// is charged the look itself is over at once; they wait until all looks before are paid.
Closure* Thread::take_ready(bool travels, runtime::Context& thief) {
    Closure* found = nullptr;
    Time cost{};
    {
        const SpinLock::Guard guard(lock_);
        if (!open_) return nullptr;
        const Time begin = thief.backend->now(thief);
        const std::uint64_t steps = steps_;
        bool others = false;  // are ready, but may not leave the node
        found = find_ready(travels, others);
        cost = static_cast<Time::rep>(steps_ - steps) * thief.costs->readiness;
        failures_.store(found ? 0 : failures_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (!found && !others) {
            const Time end = thief.backend->now(thief) + cost;
            rests_until_.store(end + rest_for_a_look * (end - begin), std::memory_order_seq_cst);
            set_offers(false);
        } else if (held_back_.load(std::memory_order_relaxed)) {
            set_offers(true);
        }
    }
    if (cost != Time::zero()) thief.charge_in_turn(cost, looked_at_until_);
    return found;
}

bool Thread::offers_to(const runtime::Context& thief) const {
    if (offers()) return true;
    return held_back_.load(std::memory_order_seq_cst) && thief.backend->now(thief) >= rests_until();
}

/// If the last look was long, this one goes on after the closure that it took. Otherwise, and if there is
/// none, a look begins with the oldest frame. Of a frame's ready closures it leaves some to the owner
/// (`lead_`), and half if there are no more.
///
/// A look that has gone on for long has noted objects that have ended. Then one begins that goes as far, and
/// has only those that there are.
Closure* Thread::find_ready(bool travels, bool& others) {
    Look look{travels, closures_again};
    const bool as_far = looked_at_ && notes_.size() > notes_max_;
    Closure* found = looked_at_ && !as_far ? find_ready(looked_at_->next, look) : nullptr;
    const bool goes_on = found != nullptr;
    look.closures_max = as_far ? ~std::uint32_t{0} : closures_max;
    for (Closure* frame = top_; frame && !found; frame = look.running) {
        look.leaves = lead_;
        for (;;) {
            notes_.clear();
            look.left = 0;
            look.running = nullptr;
            look.closures = 0;
            found = find_ready(frame->first, look);
            if (found || look.left == 0) break;
            look.leaves = lead_ = look.left / 2;
        }
    }
    if (as_far) notes_max_ = std::max(notes_usual, 2 * notes_.size());
    looked_at_ = goes_on || look.closures >= closures_again ? found : nullptr;
    others = look.others;
    return found;
}

/// In the order of one frame, from `first` on.
Closure* Thread::find_ready(Closure* first, Look& look) {
    for (Closure* closure = first; closure && look.closures != look.closures_max;
         closure = closure->next, ++look.closures) {
        auto state = closure->state.load(std::memory_order_acquire);
        const bool ready = see(*closure, static_cast<Closure::State>(state));
        if (state == Closure::running) look.running = closure;
        if (!ready || state != Closure::created || !closure->type->task) continue;
        if (look.travels && !closure->type->task->travels()) {
            look.others = true;
            continue;
        }
        if (look.left < look.leaves) {
            ++look.left;
            continue;
        }
        if (closure->state.compare_exchange_strong(state, Closure::stolen, std::memory_order_acq_rel)) {
            bind(*closure);
            return closure;
        }
        look.running = closure;
    }
    return nullptr;
}

void Thread::terminated(Closure& closure, std::span<Cell* const> outputs, runtime::Context& caller) {
    bool awaited = false;
    {
        const SpinLock::Guard guard(lock_);
        Access* const accesses = closure.accesses();
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            // A body that has written nothing leaves the object as it was. Looked at now, because later tasks
            // may write the cell.
            const bool wrote = outputs[i] && outputs[i]->written;
            if (outputs[i] && !wrote) release(*outputs[i], *closure.type->formals[i].value);
            accesses[i].data = wrote ? outputs[i] : nullptr;
        }
        closure.state.store(Closure::terminated, std::memory_order_seq_cst);
        awaited = awaited_ == &closure;
        if (awaited) {
            awaited_ = nullptr;
        } else if (open_) {
            set_offers(true);
        }
    }
    // The thread may be over from here on.
    runtime::Node& node = threads_.node();
    if (awaited) return end_.complete(node, caller);
    if (node.wants_work()) node.wake_one(caller);
}

namespace {

/// Whether a closure has a reference to the cell of an access: to what tasks of its frame have written, to an
/// input that its thief has not fetched, or to an output.
bool owns(const Access& access, const Closure::State state) {
    switch (state) {
        case Closure::created:
            return false;
        case Closure::running:
            return access.is(Access::replaced);
        case Closure::stolen:
            return access.data && (access.mode == Mode::r || access.mode == Mode::rw);
        default:
            return access.data && access.mode != Mode::r;
    }
}

void drop(const Closure::State state, Closure& closure) {
    const bool stolen = state == Closure::stolen;
    if (stolen && closure.moved) return;
    if (stolen || state == Closure::created) closure.type->destroy_values(closure);
    Access* const accesses = closure.accesses();
    for (std::uint32_t i = 0; i < closure.type->accesses; ++i)
        if (!accesses[i].alias() && owns(accesses[i], state))
            release(*accesses[i].data, *closure.type->formals[i].value);
}

}  // namespace

/// The bodies that ran were unwound, and with them their arguments by value.
void Thread::abandon() {
    for (Closure* frame = top_; frame;) {
        Closure* running = nullptr;
        for (Closure* closure = frame->first; closure; closure = closure->next) {
            const auto state = static_cast<Closure::State>(closure->state.load(std::memory_order_relaxed));
            if (state == Closure::running) running = closure;
            drop(state, *closure);
        }
        end_objects(*frame);
        frame = running;
    }
    top_ = nullptr;
}

}  // namespace heddle::dataflow
