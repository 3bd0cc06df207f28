// Switches between the stacks of strands, and between them and the worker's own.
#include "runtime/strands/strand_runner.hpp"

#include <utility>

#include "base/assert.hpp"
#include "base/given_stack.hpp"
#include "base/relax.hpp"
#include "runtime/core/task_record.hpp"
#include "runtime/strands/strand_switch.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::runtime {

namespace {

namespace context = boost::context;

/// What receiving for a strand counts as, so that the loop has its turn after 16 waits.
constexpr std::uint32_t receive_switches = 16;

/// One to four microseconds, if the worker has a core to itself.
constexpr std::uint32_t looks_before_leaving = 128;

/// A worker takes so many stacks at once, and keeps twice as many.
constexpr std::uint32_t stacks_at_once = 16;

}  // namespace

StrandRunner::StrandRunner(Worker& worker, Strands& strands)
    : worker_(worker),
      strands_(strands),
      receives_(worker.node().topology().receives),
      looks_(worker.node().topology().own_cores && !(receives_ && worker.node().cores() == 1)
                 ? looks_before_leaving
                 : 0),
      pool_(strands.spare()) {}

StrandRunner::~StrandRunner() = default;

// --- lists

void StrandRunner::put_own(Strand& strand) {
    own_.put(strand);
    // The first is this worker's own next.
    if (own_.size() > 1 && worker_.node().wants_work()) publish_some(1);
}

void StrandRunner::publish_some(std::uint32_t kept) {
    const std::uint32_t stealable = show_all_but(kept);
    // With nothing kept, this worker will run the first.
    if (stealable > (kept == 0 ? 1U : 0U) && worker_.steals_within_node()) worker_.node().wake_one(worker_);
}

// Invariant: while a worker does something else for long, none of its ready strands is where only it sees
// them. So a worker that goes to sleep meanwhile finds them first. One that sleeps already is woken, and each
// thief wakes the next one as long as there are more (Strands::run).
void StrandRunner::offer_all() {
    if (!worker_.steals_within_node() || worker_.node().cores() == 1) return;
    if (show_all_but(0) != 0) worker_.node().wake_one(worker_);
}

/// Returns how many strands of this worker thieves may take now.
std::uint32_t StrandRunner::show_all_but(std::uint32_t kept) {
    StrandList stay;
    while (stay.size() < kept && !own_.empty()) stay.put(own_.take());
    const SpinLock::Guard guard(lock_);
    while (!own_.empty()) put(own_.take());
    own_ = stay;
    show();
    return shared_.size();
}

void StrandRunner::put_shared(Strand& strand) {
    const SpinLock::Guard guard(lock_);
    put(strand);
    show();
}

/// The caller holds the lock, as for the next two.
void StrandRunner::put(Strand& strand) {
    strands_.ready(strand.pinned()).fetch_add(1, std::memory_order_seq_cst);
    (strand.pinned() ? pinned_ : shared_).put(strand);
}

Strand& StrandRunner::take(StrandList& list) {
    Strand& strand = list.take();
    show();
    strands_.ready(strand.pinned()).fetch_sub(1, std::memory_order_seq_cst);
    return strand;
}

void StrandRunner::show() {
    stealable_.store(shared_.size(), std::memory_order_seq_cst);
    arrived_.store(shared_.size() + pinned_.size(), std::memory_order_seq_cst);
}

Strand* StrandRunner::take_arrived() {
    const SpinLock::Guard guard(lock_);
    StrandList& list = pinned_.empty() ? shared_ : pinned_;
    return list.empty() ? nullptr : &take(list);
}

bool StrandRunner::steal(StrandRunner& thief) {
    if (stealable_.load(std::memory_order_seq_cst) == 0) return false;
    const SpinLock::Guard guard(lock_);
    if (shared_.empty()) return false;
    thief.own_.put(take(shared_));
    return true;
}

// --- stacks

/// False if there is no room for one: then the strand is ready as before.
bool StrandRunner::attach_stack(Strand& strand) {
    if (!free_) {
        take_stacks();
        if (!free_) {
            own_.put(strand);
            return false;
        }
    }
    StrandStack& stack = *std::exchange(free_, free_->next);
    --free_count_;
    stack.next = nullptr;
    stack.strand = &strand;
    strand.stack_ = &stack;
    strand.rest_ = std::move(stack.idle);
    if (strand.rest_) return true;
    strand.rest_ = context::fiber(std::allocator_arg, GivenStack{stack.memory},
                                  [&stack](context::fiber&& back) { return life(stack, std::move(back)); });
    return true;
}

void StrandRunner::take_stacks() {
    try {
        free_ = strands_.stacks().take(stacks_at_once);
    } catch (...) {
        note_failure();
    }
    free_count_ = 0;
    for (const StrandStack* stack = free_; stack; stack = stack->next) ++free_count_;
}

void StrandRunner::free_stack(StrandStack& stack) {
    try {
        strands_.stacks().check(stack);
    } catch (...) {
        note_failure();
    }
    stack.strand = nullptr;
    stack.next = free_;
    free_ = &stack;
    if (++free_count_ <= 2 * stacks_at_once) return;
    StrandStack* last = free_;
    for (std::uint32_t i = 1; i < stacks_at_once; ++i) last = last->next;
    StrandStack* const given = std::exchange(free_, std::exchange(last->next, nullptr));
    free_count_ -= stacks_at_once;
    strands_.stacks().give_back(given);
}

/// The life of a stack: strand after strand.
context::fiber StrandRunner::life(StrandStack& stack, context::fiber&& back) {
    note_arrival(stack, true);
    arrived(*stack.strand, std::move(back));
    for (;;) {
        Strand& strand = *stack.strand;
        try {
            run_body(strand);
        } catch (const context::detail::forced_unwind&) {
            stack.notes.before_exit();
            throw;
        } catch (...) {
            strand.runner_->note_failure();
        }
        try {
            Strand* const next = strand.runner_->next_in_turn();
            strand.runner_->leave(strand, next, Strand::Left::ended);
        } catch (const context::detail::forced_unwind&) {
            stack.notes.before_exit();
            throw;
        }
    }
}

void StrandRunner::run_body(Strand& strand) {
    const bool recorded = strand.options_.task && strand.worker().recorder;
    OpenRecord record;
    if (recorded) record.begin(strand.worker(), TaskNote::strand);
    strand.body_(strand);
    if (recorded) record.end(strand.worker());
    strand.body_ = nullptr;
}

// --- switches

// Invariant: between two looks for other work the worker switches to strands `switches_max` times at most. A
// run counts on where the last one ended, because messages and other workers may make a strand ready after
// each. If few are left, the worker looks elsewhere before the next run, which therefore begins again.
bool StrandRunner::run(Slot* head) {
    Strand* const first = next_ready();
    if (!first) return false;
    // All of the base is kept here, because a strand that waits as a task does runs others above itself.
    struct Base {
        StrandRunner& runner;
        context::fiber fiber = std::move(runner.base_);
        FiberNotes* notes = runner.base_notes_;
        Strand* current = runner.current_;
        Slot* head = runner.head_;

        explicit Base(StrandRunner& owner) : runner(owner) {}
        Base(const Base&) = delete;
        Base& operator=(const Base&) = delete;
        ~Base() {
            runner.base_ = std::move(fiber);
            runner.base_notes_ = notes;
            runner.current_ = current;
            runner.head_ = head;
        }
    };
    {
        const Base base(*this);
        base_notes_ = current_ ? &current_->stack_->notes : nullptr;
        head_ = head;
        if (switches_left_ < receive_switches) switches_left_ = switches_max;
        --switches_left_;
        go(*first);
        if (switches_left_ < receive_switches) worker_.strands_had_their_turn();
    }
    publish(0);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return true;
}

/// From the base to a strand. Returns when a strand of this worker switches back, and has no reason to go on.
void StrandRunner::go(Strand& first) {
    Strand* strand = &first;
    do {
        if (!prepare(*strand)) return;  // it would begin
        switch_to(*strand);
        strand = last_;
    } while (strand->left_ == Strand::Left::waits && receives_for(*strand));
    if (strand->left_ != Strand::Left::ready) settle(*strand);
}

/// What a strand waits for that has left its stack to the base. True if it is done now.
bool StrandRunner::receives_for(const Strand& strand) {
    // Not above a task that waits, because thieves may ask for tasks below it.
    if (!receives_ || failure_ || base_notes_ || head_ != worker_.base()) return false;
    if (switches_left_ < receive_switches) return false;
    switches_left_ -= receive_switches;
    return worker_.receive_until(*strand.waits_for_);
}

/// `strand` is prepared.
void StrandRunner::switch_to(Strand& strand) {
    strand.from_ = nullptr;
    StrandStack& stack = *strand.stack_;
    // Also when the base is unwound, which comes out of `resume` as an exception.
    struct Return {
        StrandRunner& runner;
        FiberNotes& notes;
        [[gnu::always_inline]] ~Return() {
            notes.after_resume();
            if (runner.base_notes_) {
                runner.worker_.fiber_notes.runs(*runner.base_notes_);
            } else {
                runner.worker_.fiber_notes.runs_itself();
            }
        }
    };
    if (worker_.recorder) [[unlikely]]
        worker_.note_strand(stack, true);
    stack.notes.before_resume();
    worker_.fiber_notes.runs(stack.notes);
    context::fiber back;
    {
        const Return at_base{*this, stack.notes};
        back = resumed(std::move(strand.rest_));
    }
    last_->rest_ = std::move(back);
    if (worker_.recorder) [[unlikely]]
        worker_.note_strand(*last_->stack_, false);
}

/// Another worker may be about to do what a strand of this one waits for: looking takes less time than
/// leaving, sleeping and being woken.
bool StrandRunner::is_soon_done(const Waitable& waitable) const {
    if (failure_ || any_ready()) return false;
    for (std::uint32_t look = 0; look < looks_; ++look) {
        if (waitable.done()) return true;
        relax();
    }
    return false;
}

void Strand::wait_in_place(Waitable& waitable) {
    HEDDLE_ASSERT(!forks());
    const CoreId before = options_.pinned_to;
    // Read only while it does not run.
    options_.pinned_to = worker().id.core;
    in_place_ = true;
    wait(waitable);
    in_place_ = false;
    options_.pinned_to = before;
}

void StrandRunner::settle(Strand& strand) {
    if (strand.left_ == Strand::Left::ended) {
        strand.stack_->idle = std::move(strand.rest_);
        free_stack(*strand.stack_);
        pool_.give_back(strand);
        return;
    }
    count(counts_.waited, 1);
    strand.waits_since_ = worker_.backend->about(worker_);
    // From here on another worker may run the strand.
    if (strand.waits_for_->await(strand.waiter_)) return;
    count(counts_.resumed, 1);
    own_.put(strand);
}

/// A strand that waits or has ended, and that the present one was switched to from.
void StrandRunner::settle_behind(Strand& strand) {
    if (worker_.recorder) [[unlikely]]
        note_switch(strand, *current_);
    settle(strand);
}

void StrandRunner::note_switch(Strand& left, Strand& entered) {
    worker_.note_strand(*left.stack_, false);
    worker_.note_strand(*entered.stack_, true);
}

// The worker failed, or was abandoned, on a strand's stack. What is unwound brings back the base below it
// (run).
void StrandRunner::unwind() {
    while (base_) {
        if (FiberNotes* const notes = base_notes_) {
            notes->before_resume();
            base_ = {};
            notes->after_unwind();
        } else {
            worker_.fiber_notes.runs_itself();
            worker_.fiber_notes.before_resume();
            base_ = {};
            worker_.fiber_notes.after_unwind();
        }
    }
}

}  // namespace heddle::runtime
