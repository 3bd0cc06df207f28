// The owner's side of a dataflow thread. It runs frames in the reference order, without recursion. It
// suspends when it comes to a stolen closure that has not ended.
#include "model/dataflow/thread.hpp"

#include <algorithm>
#include <boost/context/fiber.hpp>

#include "base/error.hpp"
#include "model/dataflow/lending.hpp"
#include "model/dataflow/threads.hpp"
#include "runtime/core/node.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::dataflow {

namespace {

using runtime::SpinLock;

/// After looks that found nothing, sleepers are told every second, fourth, ... operation, at most so many.
constexpr std::uint32_t signal_in_max = 16;

/// So many ready closures are left to the owner at most.
constexpr std::uint32_t lead_max = 63;

/// The frame of a thread's first body belongs to no task.
constexpr ClosureType frame_type{sizeof(Closure), sizeof(Closure), 0,       nullptr, nullptr,
                                 nullptr,         nullptr,         nullptr, nullptr, nullptr};

bool has_ended(const Closure& closure) {
    return closure.state.load(std::memory_order_acquire) == Closure::terminated;
}

bool has_contribution(const Access& access) {
    return access.mode == Mode::cw && !access.alias() && access.data;
}

/// Of a closure that has ended: whether it has accumulated something.
bool has_contributions(Closure& closure) {
    return std::any_of(closure.accesses(), closure.accesses() + closure.type->accesses, has_contribution);
}

Closure* new_frame(void* memory) {
    return ::new (memory)
        Closure{&frame_type, nullptr, nullptr, nullptr, nullptr, nullptr, {Closure::running}, false, false};
}

}  // namespace

Thread::Thread(Threads& threads) : threads_(threads) {
    const runtime::Topology& topology = threads.node().topology();
    charged_ = !topology.gates_open || topology.polled;
    records_tasks_ = threads.node().receiver().recorder != nullptr;
}

Thread::~Thread() = default;

// --- the life of a thread

void Thread::enter(runtime::Strand& strand) {
    strand_ = &strand;
    go_on();
    strand.follow(&following_);
}

/// On the strand, whose worker may be another one than before. A body may have waited for anything.
void Thread::go_on() {
    worker_ = &strand_->worker();
    threads_.runs(*worker_, this);
}

/// The worker runs no thread meanwhile.
void Thread::suspend_until(runtime::Event& event) {
    threads_.runs(*worker_, nullptr);
    strand_->wait(event);
    go_on();  // also if the event had happened
}

/// A thread begins open, because idle workers may be looking for work already.
void Thread::begin_frame() {
    top_ = new_frame(stack_.take(sizeof(Closure)));
    current_ = top_;
    last_ = &top_->first;
    kept_ = stack_.top();
    forked_before_ = counts_.closures;
    open(false);
}

void Thread::end_frame() {
    top_->mark = stack_.top();
    run_frame(*top_);
    end_objects(*top_);
}

void Thread::leave() {
    {
        const SpinLock::Guard guard(lock_);
        open_ = false;
        set_offers(false);
        if (notes_.size() > notes_usual) notes_ = Notes();
    }
    stack_.back_to(reinterpret_cast<std::byte*>(top_));
    top_ = nullptr;
    current_ = nullptr;
    needed_ = nullptr;
    lending_ = nullptr;
    lends_ = false;
    strand_->follow(nullptr);
    threads_.runs(*worker_, nullptr);
}

// The memory of closures that have ended is free again, except below an object that was declared after them.
//
// Invariant: an error of a forked task ends the run, also if the body catches it, because the thread cannot
// go on after that task. Until the body ends or waits it may fork: behind the task, in its own frame, and
// above all memory of the task.
void Thread::sync() {
    if (recording_) [[unlikely]]
        throw Error("sync() while the graph of a group is recorded: its tasks do not run yet",
                    "call it before the recording or after the group has run");
    Closure& self = *current_;
    std::byte* const kept = kept_;
    self.mark = stack_.top();
    const auto go_on_in_frame = [&] {
        forked_before_ = counts_.closures;
        current_ = &self;
        last_ = &self.first;
        kept_ = kept;
    };
    try {
        run_frame(self);
    } catch (const boost::context::detail::forced_unwind&) {
        throw;
    } catch (...) {
        strand_->note_failure();
        go_on_in_frame();
        while (*last_) last_ = &(*last_)->next;
        throw;
    }
    go_on_in_frame();
    stack_.back_to(kept);
}

/// A block is full: if the present body has forked as many closures as the window permits, it waits for them
/// after the next. The thread runs no other body meanwhile, so all that it has forked is of this one.
void Thread::look_at_window() {
    const std::uint64_t window = threads_.window();
    if (window == 0 || !current_ || recording_ || counts_.closures - forked_before_ < window) return;
    window_full_ = true;
    fast_ = false;
}

void Thread::open_window() {
    window_full_ = false;
    look_whether_fast();
}

void Thread::expect_no_tasks(const char* doing) const {
    if (!current_->first) return;
    throw Error(std::string("a task ") + doing + " a shared object while tasks that it has forked may use it",
                "call sync() before, or let a task do it");
}

// --- recording

/// The frame of what is recorded is linked to no other one, so no thief sees it.
Closure& Thread::begin_record() {
    if (recording_) throw Error("a recording within a recording", "record one group after the other");
    sync();
    Closure& outer = *current_;
    current_ = new_frame(stack_.take(sizeof(Closure)));
    last_ = &current_->first;
    declared_.clear();
    recording_ = true;
    fast_ = false;
    return outer;
}

/// `whole`: the body has returned, and has not thrown.
void Thread::end_record(Closure& outer, bool whole) {
    for (Closure* closure = whole ? nullptr : current_->first; closure; closure = closure->next)
        closure->type->destroy_values(*closure);
    Object** end = &outer.objects;
    while (*end) end = &(*end)->next;
    *end = std::exchange(current_->objects, nullptr);
    current_ = &outer;
    last_ = &outer.first;
    kept_ = stack_.top();
    forked_before_ = counts_.closures;  // what is recorded is no task of the body
    recording_ = false;
    look_whether_fast();
}

void Thread::note_declared(const Object& object) {
    declared_.insert(&object);
}

// --- the reference order

void Thread::run_frame(Closure& frame) {
    Closure* open_frame = &frame;
    for (;;) {
        Closure* const closure = open_frame->first;
        if (closure == nullptr) {
            if (open_frame == &frame) return;
            Closure* const ended = open_frame;
            open_frame = ended->parent;
            end(*ended, *open_frame);
            continue;
        }
        if (slow() || !fast_ || closure->state.load(std::memory_order_relaxed) != Closure::created)
            [[unlikely]] {
            if (!begin_slow(*closure, *open_frame)) continue;
            start_slow(*closure, *open_frame);
        } else {
            closure->state.store(Closure::running, std::memory_order_relaxed);
            start(*closure, *open_frame);
        }
        if (closure->first) {
            closure->mark = stack_.top();
            open_frame = closure;
        } else {
            end(*closure, *open_frame);
        }
    }
}

/// Runs the body.
inline void Thread::start(Closure& closure, Closure& frame) {
    closure.parent = &frame;
    closure.objects = nullptr;
    current_ = &closure;
    last_ = &closure.first;
    kept_ = stack_.top();
    forked_before_ = counts_.closures;
    closure.type->run(*this, closure);
}

/// With a recorder all bodies are begun here. What a thief or a group has added is no task.
void Thread::start_slow(Closure& closure, Closure& frame) {
    const runtime::TaskType* const task = closure.type->task;
    if (!task) return start(closure, frame);
    recorded(task->id(), [&] { start(closure, frame); });
}

/// The closure and all that it forked have ended.
inline void Thread::end(Closure& closure, Closure& frame) {
    if (closure.objects) [[unlikely]]
        end_objects(closure);
    if (open_ || closure.replaced) [[unlikely]]
        return end_slow(closure, frame);
    frame.first = closure.next;
    stack_.back_to(frame.mark);
}

void Thread::end_slow(Closure& closure, Closure& frame) {
    {
        const SpinLock::Guard guard(lock_);
        if (closure.replaced) pass_up(closure);
        pass(frame);
        if (open_) offer_again();
    }
    stack_.back_to(frame.mark);
}

/// The frame goes on after its first closure. What a look has found of objects holds as long as its latest
/// closure is in the frame, because the owner then runs nothing that thieves have not seen. Under the lock.
void Thread::pass(Closure& frame) {
    if (looked_at_ == frame.first) looked_at_ = nullptr;
    frame.first = frame.first->next;
}

/// What tasks of the closure's frame have written becomes the value of the closure's objects.
void Thread::pass_up(Closure& closure) {
    Access* const accesses = closure.accesses();
    for (std::uint32_t i = 0; i < closure.type->accesses; ++i) {
        Access& access = accesses[i];
        if (!access.is(Access::replaced) || access.alias()) continue;
        access.unset(Access::replaced);
        Cell& cell = *access.data;
        access.data = access.root->data;
        install(*access.root, cell, *closure.type->formals[i].value, *closure.parent);
    }
}

/// `cell`, of which the caller gives up a reference, becomes the object's. Under the lock if the thread is
/// open.
void Thread::install(Access& root, Cell& cell, const ValueType& type, Closure& frame) {
    Cell& before = *root.data;
    if (&before == &cell) return release(cell, type);
    const bool borrowed = root.root && root.data == root.root->data;
    root.data = &cell;
    if (!borrowed) release(before, type);
    // Its memory may be large.
    if (!root.root && &before == static_cast<Object&>(root).own) type.drop(before);
    if (root.root) {
        root.set(Access::replaced);
        Closure::of(root).replaced = true;
        return;
    }
    auto& object = static_cast<Object&>(root);
    if (object.is(Access::listed)) return;
    object.set(Access::listed);
    object.next = std::exchange(frame.objects, &object);
}

void Thread::end_objects(Closure& frame) {
    for (Object* object = std::exchange(frame.objects, nullptr); object; object = object->next) {
        if (object->data) release(*object->data, *object->type);
        if (object->own) object->type->drop(*object->own);
    }
}

// --- slow operations

void Thread::fork_slow(Closure& closure) {
    try {
        if (lends_ && !recording_) call_home(closure);
        charge_in_turn(worker_->costs->fork + worker_->costs->closure);
    } catch (...) {  // no list has the closure, and no other code ends its arguments
        closure.type->destroy_values(closure);
        throw;
    }
    if (recording_) return append(closure);
    if (!open_ && slow()) open(true);
    if (open_) {
        {
            const SpinLock::Guard guard(lock_);
            append(closure);
            offer_again();
        }
        // The latest stays, because forks are linked to it.
        if (const std::uint32_t ended = commit(*current_, &closure); ended != 0)
            charge_in_turn(ended * worker_->costs->join);
        look_whether_asked();
    } else {
        append(closure);
    }
    if (window_full_) {
        open_window();
        sync();
    }
}

/// Takes the closure for this thread. False: a thief had it, and it has ended, and the frame goes on after
/// it.
bool Thread::begin_slow(Closure& closure, Closure& frame) {
    if (window_full_) open_window();  // the body that has filled it has ended, or waits
    charge_in_turn(worker_->costs->join);
    worker_->poll();
    if (!open_ && slow()) open(true);
    if (open_) look_whether_asked();
    begun_ = true;
    std::uint32_t state = Closure::created;
    if (closure.state.compare_exchange_strong(state, Closure::running, std::memory_order_acq_rel))
        return true;
    if (state != Closure::terminated) await(closure);
    charge_in_turn((commit(frame, nullptr) - 1) * worker_->costs->join);
    return false;
}

/// Returns when the stolen closure has ended. Meanwhile the worker does other work, and thieves may take
/// other closures of this thread.
void Thread::await(Closure& closure) {
    open(true);
    {
        const SpinLock::Guard guard(lock_);
        if (closure.state.load(std::memory_order_relaxed) == Closure::terminated) return;
        end_.reset();
        awaited_ = &closure;
        suspended_.store(true, std::memory_order_seq_cst);
        set_offers(true);
    }
    ++counts_.suspensions;
    suspend_until(end_);
    const SpinLock::Guard guard(lock_);
    lead_ = longer_lead(closure);
    suspended_.store(false, std::memory_order_seq_cst);
    set_offers(offers());
    be_patient();
}

/// The owner has waited for a thief. If there is one thief, it begins further away from the owner, because
/// otherwise one of both waits for the other after each task. But it does not leave the owner most of the
/// frame. Several thieves leave nothing: what waits for the owner is what others need next. Under the lock.
std::uint32_t Thread::longer_lead(const Closure& awaited) const {
    if (threads_.node().topology().cores != 2) return 0;
    std::uint32_t behind = 0;
    for (const Closure* closure = awaited.next; closure && behind != 4 * lead_max; closure = closure->next)
        ++behind;
    return std::min(2 * lead_ + 1, behind / 4);
}

/// Adds what a closure that has ended has accumulated. No thief reads an object while contributions to it are
/// missing.
void Thread::merge(Closure& closure) {
    Access* const accesses = closure.accesses();
    for (std::uint32_t i = 0; i < closure.type->accesses; ++i) {
        if (!has_contribution(accesses[i])) continue;
        closure.type->formals[i].merge(*accesses[i].root->data, *accesses[i].data);
        release(*std::exchange(accesses[i].data, nullptr), *closure.type->formals[i].value);
    }
}

/// The outputs of the stolen closures at the frame's begin that have ended become the values of its objects.
/// All at once, because a thief that looks at the frame would go through them again and again. Ends before
/// `last`, which may be null. Returns how many there were.
std::uint32_t Thread::commit(Closure& frame, const Closure* last) {
    const auto ended = [&] { return frame.first && frame.first != last && has_ended(*frame.first); };
    std::uint32_t count = 0;
    while (ended()) {
        merge(*frame.first);
        const SpinLock::Guard guard(lock_);
        do {
            Closure& closure = *frame.first;
            Access* const accesses = closure.accesses();
            for (std::uint32_t i = 0; i < closure.type->accesses; ++i) {
                Access& access = accesses[i];
                if (access.alias() || !access.data || access.mode == Mode::r) continue;
                install(*access.root, *std::exchange(access.data, nullptr), *closure.type->formals[i].value,
                        frame);
            }
            pass(frame);
            ++count;
        } while (ended() && !has_contributions(*frame.first));
        if (open_) offer_again();
    }
    return count;
}

// --- open and private

void Thread::open(bool offers) {
    be_patient();
    if (open_) return;
    const SpinLock::Guard guard(lock_);
    looked_at_ = nullptr;
    lead_ = 0;
    open_ = true;
    fast_ = false;
    failures_.store(0, std::memory_order_relaxed);
    rests_until_.store(Time::zero(), std::memory_order_relaxed);
    signal_in_ = 0;
    set_offers(offers);
}

/// After an operation on an open thread: tells those that ask, or becomes private after some time.
void Thread::look_whether_asked() {
    runtime::Node& node = worker_->node();
    if (!slow() && !node.wants_work()) {
        if (--patience_ != 0) return;
        if (!begun_ && !node.one_thread()) return be_patient();
        const SpinLock::Guard guard(lock_);
        open_ = false;
        look_whether_fast();
        set_offers(false);
        return;
    }
    be_patient();
    if (!offers()) return;
    if (signal_in_ != 0 && --signal_in_ != 0) return;
    signal_in_ = std::min(1U << std::min(failures_.load(std::memory_order_relaxed), 8U), signal_in_max);
    worker_->deque().answer();
    node.published(*worker_);
}

/// The owner's operation may have made a closure ready. Under the lock.
///
/// Invariant: the thief whose look found nothing looks at `held_back_` when the rest is over, even if it
/// sleeps (Worker::look_again). So if the rest is not over after `held_back_` was set, that thief sees it.
void Thread::offer_again() {
    const auto rests = [this] { return worker_->backend->now(*worker_) < rests_until(); };
    if (offers()) return;
    if (rests() && (held_back_.exchange(true, std::memory_order_seq_cst) || rests())) return;
    set_offers(true);
}

/// Under the lock.
void Thread::set_offers(bool offers) {
    offers = offers && thieves_;
    if (held_back_.load(std::memory_order_relaxed)) held_back_.store(false, std::memory_order_seq_cst);
    if (offers_.load(std::memory_order_relaxed) != offers) offers_.store(offers, std::memory_order_seq_cst);
    const bool counts = offers && suspended();
    if (counts == counted_) return;
    counted_ = counts;
    threads_.count_waiting(counts);
}

}  // namespace heddle::dataflow
