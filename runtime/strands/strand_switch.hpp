// How a strand is left for another one, in line with the code that leaves it. A processor predicts where a
// function returns to from the calls that it has seen, and is wrong after each switch. So the functions here
// are part of their callers, and a switch returns from none: that halves its price.
#pragma once

#include <utility>

#include "base/fiber_switch.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/strands/strand_runner.hpp"

namespace heddle::runtime {

[[gnu::always_inline]] inline Strand* StrandRunner::next_ready() {
    turn_ = !turn_;
    if (arrived_.load(std::memory_order_relaxed) != 0 && (turn_ || own_.empty())) {
        if (Strand* const strand = take_arrived()) return strand;
    }
    return own_.empty() ? nullptr : &own_.take();
}

/// False if there is no room for its stack.
[[gnu::always_inline]] inline bool StrandRunner::prepare(Strand& strand) {
    if (!strand.stack_) [[unlikely]] {
        if (!attach_stack(strand)) return false;
        if (strand.options_.task) worker_.count_task();
    }
    strand.runner_ = this;
    current_ = &strand;
    count_turn();
    return true;
}

/// The strand to go on with, or null: then the base has its turn.
[[gnu::always_inline]] inline Strand* StrandRunner::next_in_turn() {
    if (switches_left_ == 0 || failure_ || worker_.node().stopping()) [[unlikely]]
        return nullptr;
    Strand* const next = next_ready();
    if (!next || !prepare(*next)) return nullptr;
    --switches_left_;
    return next;
}

/// From a strand's stack to another one's, or to the base. Returns when a worker goes on with the strand.
/// After that it may be another runner's turn, so nothing of this one is used.
[[gnu::always_inline]] inline void StrandRunner::leave(Strand& self, Strand* next, Strand::Left why) {
    self.left_ = why;
    struct Arrival {
        StrandStack& stack;
        ~Arrival() { note_arrival(stack, false); }
    };
    StrandStack& stack = *self.stack_;
    boost::context::fiber back;
    {
        const Arrival arrival{stack};
        if (next) {
            next->from_ = &self;
            stack.notes.before_switch_to(next->stack_->notes);
            worker_.fiber_notes.runs(next->stack_->notes);
            back = resumed(std::move(next->rest_));
        } else {
            last_ = &self;
            stack.notes.before_suspend();
            back = resumed(std::move(base_));
        }
    }
    // A stack whose strand has ended is another strand's now.
    arrived(why == Strand::Left::ended ? *stack.strand : self, std::move(back));
}

/// For the sanitizers: a stack goes on after a switch. It may also be unwound, without a strand.
[[gnu::always_inline]] inline void StrandRunner::note_arrival(StrandStack& stack, bool first) {
    if (stack.strand && stack.strand->from_) {
        stack.notes.after_switch();
    } else if (first) {
        stack.notes.after_entry();
    } else {
        stack.notes.after_suspend();
    }
}

/// The first thing after a switch to `strand`, on its stack.
[[gnu::always_inline]] inline void StrandRunner::arrived(Strand& strand, boost::context::fiber&& back) {
    if (strand.from_) {
        has_left(*strand.from_, std::move(back));
    } else {
        strand.runner_->base_ = std::move(back);
    }
}

/// `strand` has left its stack, and goes on at `rest`. Shows it to others. On the stack of another strand, or
/// on the base.
[[gnu::always_inline]] inline void StrandRunner::has_left(Strand& strand, boost::context::fiber&& rest) {
    strand.rest_ = std::move(rest);
    if (strand.left_ != Strand::Left::ready) strand.runner_->settle_behind(strand);
}

[[gnu::always_inline]] inline void StrandRunner::wait(Strand& self, Waitable& waitable) {
    worker_.expect_no_forks(head_);
    worker_.charge(worker_.costs->strand_switch);
    Strand* const next = next_in_turn();
    // Counted as a switch: the worker's loop has its turn also where each wait ends so soon.
    if (!next && looks_ != 0 && switches_left_ != 0 && is_soon_done(waitable)) {
        --switches_left_;
        return;
    }
    self.waits_for_ = &waitable;
    leave(self, next, Strand::Left::waits);
}

[[gnu::always_inline]] inline void StrandRunner::yield(Strand& self) {
    worker_.expect_no_forks(head_);
    worker_.charge(worker_.costs->strand_switch);
    Strand* const next = next_in_turn();
    if (!next && switches_left_ != 0) {
        --switches_left_;
        if (!failure_ && !worker_.node().stopping()) return;
    }
    if (next && worker_.recorder) [[unlikely]]
        note_switch(self, *next);
    // Only this worker looks at its own list, and it does so on another stack.
    own_.put(self);
    leave(self, next, Strand::Left::ready);
}

inline Worker& Strand::worker() const {
    return runner_->worker();
}

inline void Strand::note_failure() {
    runner_->note_failure();
}

inline Slot* Strand::head() const {
    return runner_->head();
}

[[gnu::always_inline]] inline void Strand::wait(Waitable& waitable) {
    if (waitable.done()) return;
    runner_->wait(*this, waitable);
    if (follower_) follower_->went_on();
}

[[gnu::always_inline]] inline void Strand::yield() {
    runner_->yield(*this);
    if (follower_) follower_->went_on();
}

}  // namespace heddle::runtime
