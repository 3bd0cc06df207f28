// The strands of one worker: those that are ready, and the switches between their stacks and the worker's.
//
// Ready strands are in lists. `own_` is the owner's: putting and taking there are plain memory operations.
// `shared_` is for all contexts of the node, under a lock: other contexts put there, and thieves take there.
// `pinned_` is like it, without thieves. The owner moves strands from `own_` to these two while other workers
// have no work, and before it becomes idle (`publish`).
//
// Invariant: a strand is in one list, or runs, or waits, or ended. The stack that a worker leaves is saved by
// the code that it goes on with (`has_left`), and only then the strand is shown to others: as ready, or to
// what it waits for. So no other worker runs on a stack that is not left yet.
//
// Invariant: a switch throws no error that is another strand's, because the body could catch it. What fails
// at a switch is noted (`failure_`): there is no room for the next strand's stack, or the last strand has
// written below its own. From then on the worker goes to its base at the next switch, and the run ends there.
// A strand without a stack stays ready meanwhile.
//
// Where workers receive (Topology::receives), a strand that waits and leaves its stack to the base is not
// shown at once: first the worker receives for some microseconds, on its own stack, and goes on with the
// strand if what it waits for is done. Invariant: meanwhile the strand is in no list and no waiter knows it,
// so that no context but this worker can run it, and a handler that completes what it waits for wakes
// nothing.
#pragma once

#include <atomic>
#include <boost/context/fiber.hpp>
#include <cstdint>
#include <exception>

#include "runtime/core/spin_lock.hpp"
#include "runtime/strands/strand.hpp"
#include "runtime/strands/strand_pool.hpp"
#include "runtime/strands/strand_stacks.hpp"

namespace heddle::runtime {

class Strands;

class StrandRunner {
public:
    StrandRunner(Worker& worker, Strands& strands);
    ~StrandRunner();
    StrandRunner(const StrandRunner&) = delete;
    StrandRunner& operator=(const StrandRunner&) = delete;

    // --- the owner, on the stack of its loop or of a task that waits
    /// Runs ready strands above `head`: some, one after the other. False if none was ready.
    bool run(Slot* head);
    bool any_ready() const { return !own_.empty() || arrived_.load(std::memory_order_seq_cst) != 0; }

    /// No strand was ready, so the worker looks for other work now.
    void looks_elsewhere() { switches_left_ = switches_max; }

    /// Lets thieves have what is ready here, except `kept` strands.
    void publish(std::uint32_t kept) {
        if (own_.size() > kept) [[unlikely]]
            publish_some(kept);
    }
    /// Lets them have all, because the owner is about to do something else for long.
    void offer() {
        if (!own_.empty()) [[unlikely]]
            offer_all();
    }

    // --- the owner, on a strand's stack
    void wait(Strand& self, Waitable& waitable);
    void yield(Strand& self);
    /// Of the exception that is being handled. The first is kept.
    void note_failure() {
        if (!failure_) failure_ = std::current_exception();
    }
    Slot* head() const { return head_; }
    /// The strand that runs now. Null: the worker's own loop does, or what it runs.
    Strand* current() const { return current_; }
    /// How often this worker has begun or gone on with a strand, or gone on with a task that waited. If a
    /// strand waits and only it goes on, that is once, or not at all if it has not left its stack.
    std::uint64_t turns() const { return turns_; }
    void count_turn() { ++turns_; }

    /// A strand has become ready. By the owner.
    void put_own(Strand& strand);

    // --- any context of the node
    /// The same, by another context.
    void put_shared(Strand& strand);
    /// Takes one that is not pinned for `thief`'s list. False if none is left.
    bool steal(StrandRunner& thief);

    Worker& worker() const { return worker_; }
    StrandPool& pool() { return pool_; }

    /// Strands that began to wait here, and that this worker made ready again. Written by the owner.
    struct Counts {
        std::atomic<std::uint64_t> waited{0};
        std::atomic<std::uint64_t> resumed{0};
    };
    /// Only one thread at a time writes such a number.
    static void count(std::atomic<std::uint64_t>& counter, std::uint64_t more) {
        counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
    Counts& counts() { return counts_; }
    const Counts& counts() const { return counts_; }

    /// Unwinds what this worker's own stack was at when it failed. No worker runs any more.
    void unwind();

private:
    /// After so many switches in a row the worker looks for other work and messages: some microseconds.
    static constexpr std::uint32_t switches_max = 256;

    void publish_some(std::uint32_t kept);
    void offer_all();
    std::uint32_t show_all_but(std::uint32_t kept);
    void put(Strand& strand);
    Strand& take(StrandList& list);
    void show();
    Strand* next_ready();
    Strand* take_arrived();
    bool attach_stack(Strand& strand);
    void take_stacks();
    void free_stack(StrandStack& stack);
    static boost::context::fiber life(StrandStack& stack, boost::context::fiber&& back);
    bool prepare(Strand& strand);
    void go(Strand& first);
    void switch_to(Strand& strand);
    Strand* next_in_turn();
    void leave(Strand& self, Strand* next, Strand::Left why);
    static void note_arrival(StrandStack& stack, bool first);
    static void arrived(Strand& strand, boost::context::fiber&& back);
    static void has_left(Strand& strand, boost::context::fiber&& rest);
    void settle(Strand& strand);
    void settle_behind(Strand& strand);
    static void run_body(Strand& strand);
    [[gnu::cold]] void note_switch(Strand& left, Strand& entered);
    bool is_soon_done(const Waitable& waitable) const;
    bool receives_for(const Strand& strand);

    Worker& worker_;
    Strands& strands_;
    StrandList own_;
    std::uint64_t turns_ = 0;
    std::uint32_t switches_left_ = switches_max;  ///< until the worker looks for other work
    bool receives_ = false;                       ///< for a strand that waits
    std::uint32_t looks_;                         ///< at what a strand waits for, before it leaves its stack
    bool turn_ = false;                           ///< of the lists that others write to
    Strand* current_ = nullptr;
    Slot* head_ = nullptr;              ///< above which strands fork
    boost::context::fiber base_;        ///< the worker's stack, or of the strand that waits as a task does
    FiberNotes* base_notes_ = nullptr;  ///< of that strand's stack; null: the worker's own
    Strand* last_ = nullptr;            ///< that has switched to the base
    StrandStack* free_ = nullptr;       ///< stacks
    std::uint32_t free_count_ = 0;
    std::exception_ptr failure_;
    StrandPool pool_;
    Counts counts_;

    // Others write here.
    alignas(64) SpinLock lock_;  ///< over both lists
    StrandList shared_;
    StrandList pinned_;
    std::atomic<std::uint32_t> stealable_{0};  ///< the size of `shared_`
    std::atomic<std::uint32_t> arrived_{0};    ///< the sizes of both
};

}  // namespace heddle::runtime
