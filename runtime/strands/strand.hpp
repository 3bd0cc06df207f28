// A strand: a thread of control with a stack of its own, which can wait in the middle. Its worker goes on
// with other work meanwhile, and any worker of the node continues it, unless it is pinned to one.
//
//     Strand::start(worker, [&](Strand& self) {
//         self.wait(event);                  // other strands and tasks run here
//         self.worker().compute(work, code);  // on this worker, or on another one by now
//     });
//
// Created -> ready -> running -> ended, and from running by `wait` to waiting, by `yield` to ready. Switches
// happen in these two calls only. What it holds across them must not refer to a worker: `worker()` says
// which one it is now. A strand may fork tasks and join them. While it has forks that it has not joined, it
// waits as a task does: on its worker, which runs other tasks above it.
//
// Programs include runtime/strands/strands.hpp.
//
// A wait must not be inside a catch block, because the C++ library keeps the exception that is handled with
// the thread.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstdint>
#include <functional>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "runtime/core/wait.hpp"

namespace heddle::runtime {

struct Context;
struct Slot;
struct StrandStack;
class Node;
class StrandRunner;
class Worker;

class alignas(64) Strand {
public:
    using Body = std::function<void(Strand& self)>;

    static constexpr CoreId any_worker = ~CoreId{0};

    struct Options {
        const char* name = "a strand";  ///< for messages; kept by the caller
        CoreId pinned_to = any_worker;  ///< the only worker that runs it
        bool forks = true;  ///< it may fork tasks; one that does not may wait wherever it is (wait_in_place)
        bool task = true;   ///< counted and recorded as one. False: it carries tasks, or is a step of one,
                            ///< and whether there is such a strand depends on times
    };

    /// A new strand, ready on the caller's node. `caller`: a worker, or the receiver in a handler.
    static void start(Node& node, Context& caller, Body body, Options options);
    static void start(Node& node, Context& caller, Body body) {
        start(node, caller, std::move(body), Options{});
    }
    static void start(Worker& worker, Body body, Options options);
    static void start(Worker& worker, Body body) { start(worker, std::move(body), Options{}); }

    Strand() : waiter_(*this) {}
    Strand(const Strand&) = delete;
    Strand& operator=(const Strand&) = delete;

    // --- for its body
    /// The worker that runs it: until the next wait or yield.
    Worker& worker() const;

    /// Where it forks on that worker's deque: until the next wait or yield.
    Slot* head() const;

    /// Returns once `waitable` is done. Throws Error if forked tasks were not joined.
    void wait(Waitable& waitable);

    /// The same in the middle of any instruction of its body, which may hold what belongs to its worker: it
    /// goes on with the same one. Only a strand that does not fork (Options::forks).
    void wait_in_place(Waitable& waitable);

    /// Lets other ready strands of its worker run first.
    void yield();

    /// In a catch block: the exception ends the run, also if the body goes on. It is the error of other code
    /// that the body has run on this strand.
    void note_failure();

    const char* name() const { return options_.name; }
    CoreId pinned_to() const { return options_.pinned_to; }
    bool pinned() const { return options_.pinned_to != any_worker; }
    bool forks() const { return options_.forks; }

    /// Is told, on the strand's stack, each time that it goes on after a wait or a yield, because its worker
    /// may be another one.
    class Follower {
    public:
        virtual void went_on() = 0;

    protected:
        ~Follower() = default;
    };
    /// Null: none. The body takes it away before it ends.
    void follow(Follower* follower) { follower_ = follower; }

private:
    friend class SpareStrands;
    friend class StrandList;
    friend class StrandPool;
    friend class StrandRunner;
    friend class Strands;
    friend class StrandStacks;

    /// Why a strand has left its stack.
    enum class Left : std::uint8_t { waits, ready, ended };

    // What a switch looks at: one line of the cache.
    boost::context::fiber rest_;      ///< where it goes on; empty while it runs, and before its first turn
    Strand* next_ = nullptr;          ///< in a list
    Strand* from_ = nullptr;          ///< that its worker ran before; null: the base of its runner
    StrandRunner* runner_ = nullptr;  ///< that runs it, or ran it last; null before its first turn
    StrandStack* stack_ = nullptr;    ///< null before its first turn
    Left left_ = Left::ready;
    bool in_place_ = false;         ///< in the middle of an instruction
    Follower* follower_ = nullptr;  ///< null: none

    Waiter waiter_;
    Waitable* waits_for_ = nullptr;  ///< it may be gone once the strand goes on
    Time waits_since_{};
    Options options_;
    Body body_;
};

/// Strands in the order in which they were put.
class StrandList {
public:
    bool empty() const { return first_ == nullptr; }
    std::uint32_t size() const { return size_; }

    void put(Strand& strand) {
        strand.next_ = nullptr;
        (first_ ? last_->next_ : first_) = &strand;
        last_ = &strand;
        ++size_;
    }
    /// The first. Not empty.
    Strand& take() {
        Strand& strand = *first_;
        first_ = strand.next_;
        --size_;
        return strand;
    }

private:
    Strand* first_ = nullptr;
    Strand* last_ = nullptr;
    std::uint32_t size_ = 0;
};

}  // namespace heddle::runtime
