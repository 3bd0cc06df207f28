// A worker: the scheduler's thread of control on one core. It owns a deque, runs tasks, waits for stolen
// ones, and looks for work where its policy says. The fast path of a task is inline here; the rest is in the
// files worker*.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "base/random.hpp"
#include "runtime/backend.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/core/copy.hpp"
#include "runtime/core/deque.hpp"
#include "runtime/core/fork_rules.hpp"
#include "runtime/core/poll_pace.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/run/counters.hpp"
#include "runtime/run/member_list.hpp"
#include "runtime/sources/ranked_queue.hpp"
#include "runtime/sources/work_source.hpp"
#include "runtime/stealing/policy.hpp"

namespace heddle::runtime {

class Node;
class OpenRecord;
class Program;
class StrandRunner;
class TaskRecord;
class Waitable;
struct Recording;
struct StrandStack;

class Worker final : public Context {
public:
    Worker(Node& node, CoreId core);
    ~Worker();

    // --- for execution models
    // --------------------------------------------------------------------------------------
    Slot* base() const { return deque_.base(); }
    Program& program() const { return program_; }
    Node& node() const { return node_; }
    Outbox& outbox() { return outbox_; }
    const Outbox& outbox() const { return outbox_; }
    Random& random() { return random_; }
    /// What an execution model keeps for this worker (runtime/core/states.hpp).
    template <class T>
    T& state() {
        return states_.get<T>(*this);
    }

    /// Pushes the task already written at `head`. Three instructions, unless a thief has asked or operations
    /// are charged.
    void push(Slot* head) {
        if (!deque_.may_push(head)) [[unlikely]]
            push_slow(head);
    }

    /// Pops the topmost task, at `slot`. True: it was not stolen, and the caller runs it now. False: a thief
    /// ran it, and the result is in the slot's payload. Meanwhile any other work may have run here, above
    /// `slot`. What the caller runs takes `units` of work, which are declared here.
    bool pop(Slot* slot, std::uint64_t units = 0) {
        if (deque_.may_pop(slot)) [[likely]] {
            count_task();
            return true;
        }
        return pop_slow(slot, units);
    }

    /// True inside a detached task, on the same worker: it may detach others.
    bool may_detach() const { return loose_ != nullptr; }

    /// Leaves a task of a detached type, which no caller waits for. This worker runs it after the present
    /// one, the latest first, unless a thief takes it before. `write(payload)` writes its arguments.
    template <class Write>
    void detach(const TaskType& type, const Write& write) {
        HEDDLE_ASSERT(may_detach());
        Slot* slot = loose_;
        write(slot->payload);
        if (shares_tokens_ && type.travels()) [[unlikely]]
            return share(type, slot->payload);
        slot->type = &type;
        push(slot);
        loose_ = slot + 1;
    }

    /// Runs a task above `head`, and what it detaches.
    void execute(const TaskType& type, Slot* head, std::byte* payload);

    /// The program begins nothing on this worker (Program::begin).
    void begins_nothing() { begins_nothing_ = true; }

    /// Counts a task that this worker runs. Only this worker writes the number; others read it for progress.
    void count_task() { tasks_.store(tasks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

    /// What it runs is no task of the program, but has brought one, which is counted where it begins.
    void discount_task() { tasks_.store(tasks() - 1, std::memory_order_relaxed); }

    /// Declares `units` units of the program's work (Program::unit). Free where nothing is charged.
    void work(std::uint64_t units) {
        if (!gate_open_) [[unlikely]]
            work_slow(units, false);
    }
    /// More of the piece of work that it has declared last.
    void work_on(std::uint64_t units) { work_slow(units, true); }

    /// Runs `code` as user work of a declared cost. What has gathered for other nodes is sent before, and
    /// ready strands of this worker are offered to others. Forks are not: the caller's head is not known.
    void compute(const Work& cost, const std::function<void()>& code);

    /// Copies in memory, as user work: in simulation the lines that `what` moves pass the memory bus. Without
    /// addresses the copy is only declared, which natively takes no time. A quick one is declared only where
    /// work is charged.
    void copy(const Copy& what, void* to = nullptr, const void* from = nullptr) {
        HEDDLE_ASSERT((to == nullptr) == (from == nullptr));
        if (!gate_open_ || !what.quick()) return copy_slow(what, to, from);
        if (to != nullptr) std::memcpy(to, from, what.bytes);
    }

    /// Whether a contiguous copy of so many bytes is declared by no more than making it.
    bool copies_freely(std::uint64_t bytes) const { return gate_open_ && bytes <= Copy::quick_bytes; }

    /// Returns once `waitable` is done. `head`: the caller's head. A strand that has joined all its forks
    /// waits (Strand::wait). Any other caller stays on this worker, which runs other tasks above it
    /// meanwhile; so what it waits for must not depend on anything below them on this stack.
    void wait(Slot* head, Waitable& waitable);

    /// Throws Error if tasks that were forked at `head` or above have not been joined, as far as it is known.
    void expect_no_forks(const Slot* head) const {
        if (tracks_) expect_joined(deque_.index(head));
    }

    /// Returns once `waitable` is done, and runs nothing meanwhile: where a task is in the middle of an
    /// instruction, so that its head is not known. With a single module it receives messages. False if the
    /// program has ended the run and the wait was withdrawn.
    bool wait_idly(Waitable& waitable);

    /// A strand of this worker, which has no other work, waits for `awaited`: receives for some microseconds.
    /// True once it is done.
    bool receive_until(const Waitable& awaited);

    /// Between two tasks: takes what has come, where workers should.
    void poll() {
        if (polled_) [[unlikely]]
            poll_now();
    }

    StrandRunner& strands() { return *strands_; }
    const StrandRunner& strands() const { return *strands_; }
    /// Its strands have switched so often that other work comes next.
    void strands_had_their_turn() { strands_had_their_turn_ = true; }

    // --- for work sources (runtime/sources/work_source.hpp)
    /// Shows this worker active, takes a task by `take()`, which returns something like a pointer, and calls
    /// `run(*task)` and, when the task has ended, `after(*task)`. False if there was none.
    template <class Take, class Run, class After>
    bool take_and_run(const Take& take, const Run& run, const After& after) {
        show_active();
        auto task = take();
        const bool found = static_cast<bool>(task);
        if (found) {
            begin_task();
            run(*task);
            end_task();
            after(*task);
        }
        show_passive();
        return found;
    }
    template <class Take, class Run>
    bool take_and_run(const Take& take, const Run& run) {
        return take_and_run(take, run, [](const auto&) {});
    }

    /// If this worker has no task, it shows itself active before it takes one, and passive after that.
    void show_active();
    void show_passive();
    /// Around what it runs meanwhile. `reserved`: how many of its ranked tasks thieves leave it.
    void begin_task(std::uint32_t reserved = 0);
    void end_task();
    /// The same around strands that wait again at some time. `found`: they came from another worker.
    void begin_strands(bool found);
    void end_strands();
    /// It has work, or has made a strand of it: the next search starts from its beginning.
    void found_work();
    /// It has found nothing with a victim that may have something then: it does not sleep beyond that time.
    void look_again(Time at) { looks_again_ = std::min(looks_again_, at); }
    /// Calls `code`, which does not belong to the detached task that this worker may be running.
    template <class Code>
    void run_apart(const Code& code) {
        Slot* const outer = std::exchange(loose_, nullptr);
        code();
        loose_ = outer;
    }

    /// Counts a task that `from` gave (TaskNote::nowhere: no other node).
    void count_task(NodeId from) {
        count_task();
        if (recorder && from != TaskNote::nowhere) [[unlikely]]
            note_victim(from);
    }
    /// Charges and counts a task that was taken from another worker of this node.
    void count_steal() {
        charge(costs->steal);
        ++steals_.within_node;
    }
    /// Counts a look at a worker.
    void count_attempt() { ++steals_.attempts; }
    /// Counts a request to another node.
    void count_request(NodeId victim);
    /// Says for a record that the next task comes from `slot` of `victim`'s deque, or another source (null).
    void note_stolen(const Worker& victim, const Slot* slot) {
        if (recorder) [[unlikely]]
            note_origin(victim, slot);
    }
    /// For a record, where a strand runs what was stolen: takes what was said of the next task's victim, to
    /// say it again before that task begins.
    [[gnu::cold]] WorkerId take_victim();
    [[gnu::cold]] void note_victim(WorkerId victim);
    /// With a recorder only: the strand on `stack` goes on here, or is left.
    [[gnu::cold]] void note_strand(StrandStack& stack, bool enters);
    /// The state of a slot that worker `core` of the same node has taken. If its task has left the node, the
    /// state stays `pending` until the result comes.
    static constexpr std::uint64_t taken_by(CoreId core) { return std::uint64_t{core} + 2; }

    bool run_ranked(Slot* head);
    void run_taken(const RankedQueue::Taken& taken, Slot* head);

    /// While the run starts: from now on this worker's forks find work for these workers, itself first.
    void take_share(const StartShare& share);

    // --- for the node
    // ---------------------------------------------------------------------------------------------
    /// The whole life of the worker: the program's first task, then whatever can be found, until the run is
    /// over.
    void run();

    /// When the run is over and this worker's stack is gone: drops what the tasks hold that are left in its
    /// deque.
    void drop_tasks();

    /// A handler that this worker has run has failed: the run ends with that error.
    void note_failure(const std::exception_ptr& failure) {
        if (!failure_) failure_ = failure;
    }

    /// This worker begins nothing any more (Node::ended_early). True if it has said so before.
    bool note_end() { return std::exchange(ended_, true); }

    Deque& deque() { return deque_; }
    const Deque& deque() const { return deque_; }

    /// What a schedule has placed on this worker, and is ready.
    RankedQueue& ranked() { return ranked_; }
    const RankedQueue& ranked() const { return ranked_; }

    /// Keeps a ranked task of this worker's, which becomes ready just as another ends, to be run right after
    /// that. No other context sees it meanwhile. False if it must go into the queue, which costs more.
    bool keep(const RankedTask& task);

    /// Called by a task at the end of its own work, before it makes others ready: this worker will run the
    /// first of them itself, so thieves leave it one.
    void about_to_end() {
        if (depth_ == 1) ranked_.reserve(1, std::memory_order_relaxed);
    }
    bool steals_within_node() const { return steals_within_node_; }

    /// True once for each sleep: the caller must then unpark this worker.
    bool claim_sleeper();

    /// What a task on this worker's stack waits for, if it has waited for DeadlockWatch::patience, and since
    /// when.
    struct LongWait {
        std::atomic<const Waitable*> waitable{nullptr};
        std::atomic<Time::rep> since{0};
    };
    const LongWait& long_wait() const { return long_wait_; }

    /// What this worker's task waits for is done. Called before the message that did it is counted.
    void awaited_done(Context& caller);

    /// A request of this worker to another node was answered. True if it slept, and is woken for the answer.
    bool request_answered();

    /// A stolen task's result is in its slot.
    static void complete(Slot& slot) { slot.state.store(Slot::done, std::memory_order_seq_cst); }

    Counters& counters() { return counters_; }
    /// All that this worker counted, with the work that its tasks declared.
    Counters counted() const;
    std::uint64_t tasks() const { return tasks_.load(std::memory_order_relaxed); }
    Time last_task_end() const { return last_task_end_; }
    Time busy() const { return busy_; }

    /// Reports everything from now on to `told`; null: to none. Before the run.
    void tell(Recorder* told);

private:
    friend class OpenRecord;
    friend class TaskRecord;

    /// After so many tasks in a row from the first source that has some, another source comes first.
    static constexpr std::uint32_t runs_max = 256;

    /// Beyond this many tasks on one stack a waiting worker begins only what must begin for the run to go on:
    /// ready tasks and tokens.
    static constexpr std::uint32_t deep = 256;

    /// Changes the activity. Asks for the time only where it is another one than before.
    Activity enter_now(Activity next) {
        return next == times.current() ? next : enter(next, backend->now(*this));
    }
    /// Runs a task's function, and reports the task if there is a recorder.
    void run_function(const TaskType& type, Slot* head, std::byte* payload) {
        if (recorder) [[unlikely]]
            return run_recorded(type, head, payload);
        type.run()(*this, head, payload);
    }
    // With a recorder only (task_record.cpp).
    [[gnu::cold]] void run_recorded(const TaskType& type, Slot* head, std::byte* payload);
    [[gnu::cold]] void note_fork(const Slot* slot);
    /// The next task comes from `slot` of `victim`'s deque, or from its ranked queue (null).
    [[gnu::cold]] void note_origin(const Worker& victim, const Slot* slot);
    [[gnu::cold]] void note_victim(NodeId victim);
    [[gnu::cold]] void note_work(Work work);

    void drop_first_task(const TimeSheet& before);
    void note_task_end();
    void leave_task();

    void push_slow(Slot* head);
    // With rules only (worker_forks.cpp).
    [[gnu::cold]] bool fork_by_rules(Slot* head);
    [[gnu::cold]] bool calls_now(Slot* slot, std::uint64_t units);
    void set_rules();
    bool send_fork(Slot* head);
    void end_share();
    void keep_enough_shared(const Slot* head);
    void note_top(const Slot* head);
    [[noreturn, gnu::cold]] void refuse_push() const;
    [[noreturn, gnu::cold]] void refuse_unjoined(std::uint32_t head) const;
    /// The owner's head must be at index `head`: everything forked above it was joined.
    void expect_joined(std::uint32_t head) const {
        if (tracks_ && top_ != head) [[unlikely]]
            refuse_unjoined(head);
    }
    void count_slow_operation();
    void reopen_gates() {
        if (!gate_open_ || ruled_) return;
        if (audit_left_ != 0) [[unlikely]]
            count_slow_operation();
        deque_.reopen();
    }
    bool pop_slow(Slot* slot, std::uint64_t units);
    void run_above(Slot* slot);
    void work_slow(std::uint64_t units, bool goes_on);
    void compute_long(const Work& cost, const std::function<void()>& code);
    void compute_now(const Work& cost, const std::function<void()>& code);
    /// Unwinds a task that waits where the run has ended meanwhile (Node::ended_early).
    struct RunEnded {};
    struct OpenWait;
    void serve_request(const Slot* head);
    void share_all(const Slot* head);
    void wait_for(Slot* slot);
    void look_up();
    void give_turn(Slot* head);
    void leave_loose(Slot* head);
    bool run_sources(Slot* head, WorkSources::Begun begun);
    void share(const TaskType& type, const std::byte* payload);
    bool goes_on() const;
    void wait_until_copied(Slot* slot);
    bool run_something(Slot* head, const Waitable* awaited);
    bool run_behind_strands(Slot* head, const Waitable* awaited);
    template <class Code>
    void run_above_waiting(const Code& code);
    bool join_run();
    void run_to_end();
    void follow_members();
    void poll_now();
    void copy_slow(const Copy& what, void* to, const void* from);
    std::optional<RankedQueue::Taken> another_ranked();
    std::optional<RankedQueue::Taken> next_ranked();
    bool receives_after_each() const;
    void put_kept();
    bool steal_from(CoreId victim, Slot* head);
    bool ask_node(NodeId victim);
    void start_task(std::uint32_t reserved, Time now);
    void back_off(const Waitable* awaited);
    bool wait_on(const Waitable* awaited);
    void expect_time_to_pass(Time now);
    bool scan_node(CoreId begin, Slot* head);
    void rest(Time deadline, const Waitable* awaited);
    void sleep(Time deadline, const Waitable* awaited);
    void rest_long(Time deadline, const Waitable* awaited);
    bool forks_may_go() const;
    void expect_run_goes_on();
    Activity resting(const Waitable* awaited) const;
    bool something_to_do(const Waitable* awaited) const;
    bool idle() const { return depth_ == 0; }

    // From here to `ranked_`: what every task or every search reads or writes, so that it lies in few lines
    // of the cache. The simulator fetches them before a worker runs (SimMachine::prefetch).
    std::uint32_t failures_ = 0;    ///< rounds without success since the last task
    std::uint32_t audit_left_ = 0;  ///< slow operations until the gates may open
    Slot* loose_ = nullptr;  ///< above the detached tasks of the present one; null where it joins its tasks
    [[no_unique_address]] Deque deque_;
    // In the rest of the deque's last line, to which thieves write: what is not written while the worker
    // runs.
    bool gate_open_;
    bool polled_;  ///< between tasks
    bool shares_tokens_;
    Activity undeclared_;  ///< Topology::undeclared
    RunReach& reach_;
    Node& node_;

    // Of each task.
    std::atomic<std::uint64_t> tasks_{0};
    std::uint32_t depth_ = 0;  ///< tasks of the loop that are on this worker's stack, one above the other
    std::uint32_t top_ = 0;    ///< index of the owner's head
    bool tracks_ = true;       ///< `top_` is known: all pushes and pops so far came by the slow path
    bool ruled_ = false;       ///< forks follow `rules_`, and the gates stay closed
    Work unit_;
    struct {
        Work sum;
        std::uint64_t pieces = 0;
    } declared_;  ///< part of `counted()`

    // Of each search.
    Program& program_;
    Time last_task_end_{};
    Time task_begin_{};  ///< of the latest task of the loop that began on an empty stack
    Time last_task_{};   ///< how long the last such task took
    Time idle_since_{};  ///< when it first backed off since it last had work, without strands since
    Time wait_began_{};  ///< of the innermost task that waits, or when the worker had its last task
    Time busy_{};
    Time back_off_{};
    Time waits_until_{};        ///< the end of the latest such wait; `never`: it sleeps
    Time looks_again_ = never;  ///< see look_again
    std::shared_ptr<const MemberList> policy_members_;  ///< the nodes that `policy_` names; null: all nodes
    std::unique_ptr<VictimPolicy> policy_;
    const bool
        steals_within_node_;  ///< of every policy of its kind: other contexts ask while a new one comes
    bool idle_since_known_ = false;
    bool awaiting_answer_ = false;  ///< Deque::OfWorker::requesting as this worker last saw it
    bool keeps_ = false;
    bool search_goes_on_ = false;  ///< after the strands that it runs, if they end soon
    bool interrupted_ = false;     ///< by strands, in its wait between two rounds
    bool strands_had_their_turn_ = false;
    bool begins_nothing_ = false;
    bool gives_turn_ = false;   ///< see give_turn
    std::uint32_t rounds_ = 0;  ///< how often it has backed off since `rounds_begin_`
    std::uint16_t runs_ = 0;    ///< of the node's sources, since it last looked at all of them
    std::uint16_t turns_ = 0;
    LongWait long_wait_;
    Outbox outbox_;
    struct {
        std::uint64_t attempts = 0;
        std::uint64_t within_node = 0;
        std::uint64_t requests = 0;
        std::uint64_t far_requests = 0;
    } steals_;  ///< part of `counted()`
    RankedQueue ranked_;

    Counters counters_;
    Time rounds_begin_{};
    Random random_;
    States<Worker> states_;
    std::unique_ptr<StrandRunner> strands_;
    PollPace pace_;                   ///< where it polls in passing
    std::optional<RankedTask> kept_;  ///< set only while a ranked task ends and nothing else is on the stack
    std::deque<Waiter> waiters_;      ///< of tasks that wait, the innermost last
    std::exception_ptr failure_;      ///< the first error above a task that waited, or of its handlers
    bool ended_ = false;
    ForkRules rules_;
    std::unique_ptr<Recording> recording_;  ///< as long as there is a recorder
};

}  // namespace heddle::runtime
