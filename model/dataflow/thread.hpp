// A dataflow thread: a control flow that runs the closures of its stack in the reference order (the KAAPI
// paper, sections 2.3 and 3.3). Task bodies get it as their first parameter: it forks. It runs on a strand.
//
// Work first: the owner, which runs the thread, computes no readiness. At the moment when it comes to a
// closure, all that comes before it in the reference order has ended. So it is ready, and its object's
// cells are those of its root.
//
// Invariant: a thread is private or open. While it is private only its owner looks at its graph, and a state
// changes without a compare-and-swap. Only the owner opens it: when another context asks (Deque::asked), and
// before it suspends. While it is open, whatever a thief reads is written under `lock_`: the owner's list of
// closures and the cells of roots. A thief looks and takes under `lock_` (thread_steal.cpp).
//
// Invariant: what a look has noted of objects is true, or they are ready earlier than it says, as long as the
// latest closure that it has gone through is in its frame's list. Until then the owner runs none that the
// look has not seen.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <utility>

#include "model/dataflow/closure.hpp"
#include "model/dataflow/notes.hpp"
#include "model/dataflow/stack.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/task_record.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/strands/strand.hpp"

namespace heddle::dataflow {

class Lending;
class Threads;
template <class T>
class shared;
template <auto function>
struct Task;

/// What threads count. Sums of a node are reported as values of the answer.
struct Counts {
    std::uint64_t closures = 0;         ///< forked
    std::uint64_t accesses = 0;         ///< of these
    std::uint64_t readiness_steps = 0;  ///< accesses that thieves looked at
    std::uint64_t renamings = 0;        ///< cells made because a stolen task writes or accumulates
    std::uint64_t suspensions = 0;      ///< of threads that came to a stolen closure before its end

    Counts& operator+=(const Counts& other);
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): its members go by their users
class Thread {
public:
    explicit Thread(Threads& threads);
    ~Thread();
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

    // --- for task bodies
    /// Makes a task: a call function(thread, arguments...) that runs after the present body, at the latest,
    /// and maybe on another worker or node. Formal parameters are values, which are copied, and accesses to
    /// shared objects (shared.hpp). A passing of modes that is not allowed does not compile.
    template <auto function, class... Given>
    void fork(Given&&... arguments) {
        Closure& closure = Task<function>::make(*this, std::forward<Given>(arguments)...);
        ++counts_.closures;
        counts_.accesses += Task<function>::accesses;
        if (slow() || !fast_) [[unlikely]]
            return fork_slow(closure);
        append(closure);
    }

    /// Returns when all tasks that the present body has forked have ended. Afterwards the body may read what
    /// they wrote to objects that it has declared. The worker may be another one.
    void sync();

    /// Declares `units` units of the program's work (Program::unit).
    void work(std::uint64_t units = 1) { worker_->work(units); }

    /// The worker that runs the thread, until the body waits: in `sync`, for a mutex, a condition or a group.
    runtime::Worker& worker() const { return *worker_; }
    /// The node's program.
    template <class P>
    P& program() const {
        return static_cast<P&>(worker_->program());
    }

    /// Of the stack of the thread now: closures, accesses, objects.
    std::size_t stack_bytes() const { return stack_.bytes(); }

    // --- for groups (group.hpp)
    /// Runs `body()`, but none of what it forks. Returns the first of these closures; their `next` are in the
    /// order of the forks. They, and the objects that it declares, live as long as those of the present body,
    /// in which it must be called, and whose tasks have ended afterwards. `declared`: gets these objects.
    template <class Body>
    Closure* record(const Body& body, std::unordered_set<const Access*>& declared) {
        Closure& outer = begin_record();
        struct End {
            Thread& self;
            Closure& outer;
            bool whole = false;
            ~End() { self.end_record(outer, whole); }
        } end{*this, outer};
        body();
        end.whole = true;
        declared = std::move(declared_);
        return current_->first;
    }
    bool records() const { return recording_; }
    /// Whether its first body runs, not one of a task.
    bool in_first_body() const { return current_ == top_; }
    Lending& lending();
    /// Whether groups have objects of its bodies. Then forks look at them.
    void lends(bool lends);
    /// `cell`, of which the caller gives up a reference, becomes the value of an object of the present body.
    void bring(Access& root, Cell& cell, const ValueType& type);
    /// The body uses an object of its own, in a direct mode. A group may have it.
    void use(Access& root, Mode mode) {
        if (root.is(Access::lent)) [[unlikely]]
            call_home(root, mode);
    }
    /// The body replaces its value.
    void replace(Access& root) {
        if (root.is(Access::lent)) [[unlikely]]
            call_off(root);
    }
    std::uint64_t forked() const { return counts_.closures; }
    const Counts& counted() const { return counts_; }
    /// Of what it has forked since it had counted so much, another node counts the same. The caller must have
    /// no tasks that have not ended.
    void recount(const Counts& counted) {
        counts_ = counted;
        forked_before_ = counted.closures;
    }
    /// Suspends the thread's strand until `event` is done. The worker may be another one afterwards.
    void wait(runtime::Event& event) {
        open(true);
        suspend_until(event);
    }

    // --- for objects and closures
    /// Links a closure to the frame of the present body.
    void add(Closure& closure) {
        const runtime::SpinLock::Guard guard(lock_);
        append(closure);
    }
    /// What its closures need, such as their types, until it ends or is abandoned.
    void keep(std::shared_ptr<const void> needed) { needed_ = std::move(needed); }
    /// Whether other contexts may take closures of this thread. It begins so.
    void allow_thieves(bool allowed) { thieves_ = allowed; }
    /// Memory in the frame of the present body.
    void* take(std::size_t bytes) {
        return stack_.take(bytes, [this] { look_at_window(); });
    }
    Closure& body() const { return *current_; }
    /// An object of the present body. `own`: its cell in the same frame. Null: it has `cell`, with a
    /// reference.
    void declare(Object& object, const ValueType& type, Cell* own, Cell* cell, bool needs_end = true);
    /// Throws Error if the body has forked tasks since the last `sync`.
    void expect_no_tasks(const char* doing) const;

    // --- for strands
    /// Runs `begin(*this)` as the body of the thread's first frame, and all that it forks. On `strand`.
    /// `task`: that body is a task.
    template <class Begin>
    void execute(runtime::Strand& strand, bool task, const Begin& begin) {
        enter(strand);
        begin_frame();
        if (task) {
            worker_->count_task();
            recorded(TaskNote::root, [&] { begin(*this); });
        } else {
            begin(*this);
        }
        end_frame();
        leave();
    }

    // --- for thieves, from any context of the node (thread_steal.cpp)
    /// Whether it may have a closure that is ready, and is open: one load.
    bool offers() const { return offers_.load(std::memory_order_seq_cst); }
    /// The same, or it has not offered what its owner made ready after a look that found nothing, and thieves
    /// need not wait any more.
    bool offers_to(const runtime::Context& thief) const;
    /// After a look that found nothing: no other one begins before.
    Time rests_until() const { return rests_until_.load(std::memory_order_seq_cst); }
    /// Whether no worker runs it, because it waits.
    bool suspended() const { return suspended_.load(std::memory_order_seq_cst); }
    /// Takes a ready closure of the oldest frame that has one, or null. Its accesses then have the
    /// cells of its inputs as `data`. `travels`: one that may leave the node. `thief`: the context that
    /// looks, and is charged.
    Closure* take_ready(bool travels, runtime::Context& thief);
    /// A stolen closure has ended: its accesses have the cells of its outputs. `caller`: a context of the
    /// node.
    void terminated(Closure& closure, std::span<Cell* const> outputs, runtime::Context& caller);

    /// When the run is over.
    Counts counts() const {
        Counts all = counts_;
        all.readiness_steps += steps_;
        return all;
    }
    Threads& threads() const { return threads_; }

    /// Ends what is left in a run that was ended early.
    void abandon();

private:
    friend class Threads;

    /// What the owner waits for.
    class StolenEnd final : public runtime::Event {
    public:
        std::string what() const override { return "the end of a stolen closure"; }
    };

    /// The thread knows which worker runs its strand, also after the body has waited for something else.
    // NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor): no code deletes it by its base
    class Following final : public runtime::Strand::Follower {
    public:
        explicit Following(Thread& thread) : thread_(thread) {}
        void went_on() override { thread_.go_on(); }

    private:
        Thread& thread_;
    };

    bool slow() const { return worker_->deque().asked(); }

    /// Charges an operation of the owner, which waits for the looks of thieves.
    void charge_in_turn(Time cost) {
        if (charged_) worker_->charge_in_turn(cost, looked_at_until_);
    }

    [[gnu::cold]] void look_at_window();
    void open_window();

    /// The closure becomes the last of the present body's frame.
    void append(Closure& closure) {
        *last_ = &closure;
        last_ = &closure.next;
    }

    [[gnu::cold]] void call_home(Access& root, Mode mode);
    [[gnu::cold]] void call_home(Closure& closure);
    [[gnu::cold]] void call_off(Access& root);
    void look_whether_fast() { fast_ = !open_ && !charged_ && !records_tasks_ && !window_full_ && !lends_; }

    /// A body, with its record if there is a recorder. It may end on another worker.
    template <class Body>
    void recorded(std::uint32_t type, const Body& body) {
        runtime::OpenRecord record;
        if (records_tasks_) record.begin(*worker_, type);
        body();
        if (records_tasks_) record.end(*worker_);
    }

    Closure& begin_record();
    void end_record(Closure& outer, bool whole);
    [[gnu::cold]] void note_declared(const Object& object);

    // --- the owner (thread.cpp)
    void enter(runtime::Strand& strand);
    void go_on();
    void suspend_until(runtime::Event& event);
    void begin_frame();
    void end_frame();
    void leave();
    void run_frame(Closure& frame);
    void start(Closure& closure, Closure& frame);
    [[gnu::noinline]] void start_slow(Closure& closure, Closure& frame);
    void end(Closure& closure, Closure& frame);
    [[gnu::noinline]] void fork_slow(Closure& closure);
    [[gnu::noinline]] bool begin_slow(Closure& closure, Closure& frame);
    void end_slow(Closure& closure, Closure& frame);
    void pass_up(Closure& closure);
    void end_objects(Closure& frame);
    void await(Closure& closure);
    std::uint32_t longer_lead(const Closure& awaited) const;
    void pass(Closure& frame);
    static void merge(Closure& closure);
    std::uint32_t commit(Closure& frame, const Closure* last);
    void install(Access& root, Cell& cell, const ValueType& type, Closure& frame);

    // --- opening (thread.cpp)
    /// So many operations after the last request a thread becomes private again: some hundred microseconds of
    /// the smallest tasks. If all were forks, it stays open: its tasks, or the rest of the body, may take
    /// long, and a thief would wait for the end.
    void be_patient() {
        patience_ = 4096;
        begun_ = false;
    }
    void open(bool offers);
    void look_whether_asked();
    void offer_again();
    void set_offers(bool offers);

    // --- thieves, under `lock_` (thread_steal.cpp)
    /// Of so many objects a look has notes, at least, before one begins that has fewer: 1 MiB.
    static constexpr std::size_t notes_usual = std::size_t{1} << 16;
    /// What one look of a thief is about.
    struct Look {
        bool travels;                ///< only closures that may leave the node
        std::uint32_t closures_max;  ///< of a frame
        std::uint32_t closures = 0;  ///< that it has gone through
        std::uint32_t leaves = 0;    ///< ready ones of a frame, to the owner
        std::uint32_t left = 0;      ///< that it has left
        Closure* running = nullptr;  ///< whose frame is the next
        bool others = false;         ///< are ready, but may not leave the node
    };
    Closure* find_ready(bool travels, bool& others);
    Closure* find_ready(Closure* first, Look& look);
    bool see(Closure& closure, Closure::State state);
    bool see(Access& access, Closure::State state);
    void bind(Closure& closure);

    // What every operation of the owner looks at comes first.
    runtime::Worker* worker_ = nullptr;  ///< that runs the strand (Strand::Follower)
    Closure** last_ = nullptr;           ///< where the next closure of the present body is linked
    Closure* current_ = nullptr;         ///< whose body runs
    bool fast_ = false;                  ///< private, and operations are not charged
    bool open_ = false;                  ///< written by the owner, under `lock_`
    bool charged_ = false;               ///< operations are charged, or workers must look for messages
    bool records_tasks_ = false;         ///< there is a recorder
    bool window_full_ = false;           ///< the present body has forked enough for now
    bool recording_ = false;             ///< what the present body forks is not run
    bool lends_ = false;                 ///< groups have objects
    bool begun_ = false;                 ///< not all operations of `patience_` so far were forks
    Stack stack_;
    Counts counts_;

    std::uint64_t forked_before_ = 0;  ///< Counts::closures when the present body began or its tasks ended
    std::uint32_t patience_ = 0;       ///< operations until the thread becomes private, if no context asks
    std::uint32_t signal_in_ = 0;      ///< operations until sleepers are told again
    Closure* top_ = nullptr;           ///< the first frame
    runtime::Strand* strand_ = nullptr;
    Following following_{*this};
    std::byte* kept_ = nullptr;  ///< the end of the latest object of the present body
    std::unique_ptr<Lending> lending_;
    std::unordered_set<const Access*> declared_;  ///< by the body that is recorded
    std::shared_ptr<const void> needed_;
    Threads& threads_;

    // Written by thieves.
    alignas(64) runtime::SpinLock lock_;
    std::atomic<bool> offers_{false};
    std::atomic<bool> suspended_{false};
    bool thieves_ = true;                          ///< they may take closures
    bool counted_ = false;                         ///< among the threads that wait and offer
    std::atomic<std::uint32_t> failures_{0};       ///< looks that found nothing since the last that did
    std::atomic<Time> rests_until_{Time::zero()};  ///< after such a look its owner offers nothing
    std::atomic<bool> held_back_{false};           ///< meanwhile its owner may have made something ready
    Notes notes_;                                  ///< of the present look
    std::size_t notes_max_ = notes_usual;          ///< a look with more does not go on
    std::uint32_t lead_ = 0;                       ///< ready closures that a new look leaves to the owner
    Closure* looked_at_ = nullptr;  ///< the latest closure of the look that thieves go on with; null: none
    Closure* awaited_ = nullptr;
    StolenEnd end_;
    std::uint64_t steps_ = 0;  ///< Counts::readiness_steps
    Time looked_at_until_{};   ///< where looks are charged; no other look begins before
};

inline void Thread::declare(Object& object, const ValueType& type, Cell* own, Cell* cell, bool needs_end) {
    object.root = nullptr;
    object.own = own;
    object.data = cell;
    object.noted = 0;
    object.mode = Mode::rw;
    object.index = 0;
    object.link = Access::Link::object;
    object.flags = needs_end ? Access::listed : 0;
    object.type = &type;
    if (recording_) [[unlikely]]
        note_declared(object);
    if (needs_end) object.next = std::exchange(current_->objects, &object);
    kept_ = stack_.top();
}

}  // namespace heddle::dataflow
