// One node of a run: its workers, the tokens that came to it, its active messages and its share of the
// termination detection. A backend calls it through NodeProgram; it calls no clock, thread or network itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/fixed_array.hpp"
#include "runtime/backend.hpp"
#include "runtime/comm/forwarding.hpp"
#include "runtime/comm/mailbox.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/core/core_set.hpp"
#include "runtime/core/deadlock_watch.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/run/counters.hpp"
#include "runtime/run/members.hpp"
#include "runtime/run/program.hpp"
#include "runtime/run/report.hpp"
#include "runtime/run/schedule.hpp"
#include "runtime/run/termination.hpp"
#include "runtime/sources/deques.hpp"
#include "runtime/sources/ranked_queues.hpp"
#include "runtime/sources/shared_tokens.hpp"
#include "runtime/sources/task_lists.hpp"
#include "runtime/sources/work_source.hpp"
#include "runtime/stealing/balancer.hpp"
#include "runtime/stealing/steal_service.hpp"
#include "runtime/strands/node_strands.hpp"

namespace heddle::runtime {

class Node final : public NodeProgram {
public:
    /// `reach`: shared by the nodes of the process. It, and the backend and schedule, must outlive the node.
    Node(NodeId id, Backend& backend, const Schedule& schedule, const ProgramFactory& make_program,
         RunReach& reach);
    ~Node() override;

    // --- what the backend calls
    Context& context(CoreId core) override;
    void work(CoreId core) override;
    void deliver(NodeId from, std::span<const std::byte> message, Body body) override;
    Room room(NodeId from, std::span<const std::byte> message, std::uint64_t bytes) override;
    void leave() override;
    bool has_left() const override;

    /// Runs a handler for a message from this node to itself, on the caller and in its time, at once or,
    /// where another handler runs, right after that one. No other thread has to wake for it.
    void deliver_here(Context& caller, const Handler& handler, std::span<const std::byte> message, Body body);

    /// In a handler: a message has been put together that came over gateways.
    void deliver_forwarded(NodeId from, std::span<const std::byte> message, Body body);

    NodeId id() const { return id_; }
    CoreId cores() const { return static_cast<CoreId>(workers_.size()); }
    const Topology& topology() const { return topology_; }
    Backend& backend() { return backend_; }
    const Schedule& schedule() const { return schedule_; }
    Worker& worker(CoreId core) { return workers_[core]; }
    /// Whether the node's only worker does all that happens here: there is no other one, and no other node
    /// whose messages a receiver would handle. Calls beside the workers (Backend::io) only unpark.
    bool one_thread() const { return topology_.cores == 1 && topology_.nodes == 1; }
    Program& program() { return *program_; }
    RunReach& reach() { return reach_; }
    /// What an execution model keeps for this node (runtime/core/states.hpp).
    template <class T>
    T& state() {
        return states_.get<T>(*this);
    }

    /// Watches over memory that messages read and write, and references that workers follow.
    class MemoryWatch {
    public:
        virtual ~MemoryWatch() = default;
        /// May throw Error if that memory is not in use any more.
        virtual void touched(const void* begin, std::size_t bytes) const = 0;
    };
    /// Before the run. `watch` must outlive it.
    void watch_memory(const MemoryWatch& watch) { memory_watches_.push_back(&watch); }
    /// Called before a message reads or writes memory of this node, or a worker does by way of a reference.
    void touched(const void* begin, std::size_t bytes) const {
        for (const MemoryWatch* const watch : memory_watches_) watch->touched(begin, bytes);
    }

    /// The context and outbox of handlers. For use in handlers only.
    Context& receiver() { return receiver_; }
    Outbox& receiver_outbox() { return receiver_outbox_; }
    /// Null where one network joins all nodes.
    Forwarding* forwarding() { return forwarding_.get(); }
    /// Null where nodes neither join nor leave.
    Members* members() { return members_.get(); }
    /// Throws Error if nodes may join or leave the run, which a program cannot follow that divides its work
    /// among all of them. `what`: "filaments need".
    void expect_same_nodes(const std::string& what) const;
    /// This node is to leave: it gives its work away, and begins none that it need not.
    bool is_leaving() const { return members_ && members_->leaving(); }
    /// It has asked to leave by now: it begins no task that came from another node.
    bool hands_on() const { return members_ && members_->hands_on(); }
    /// Whether this node has no work, and waits for nothing.
    bool has_nothing_to_do() const;
    /// Whether strands or tasks wait, and nothing on this node will end that: only a message could.
    bool needs_message() const;
    /// Whether it has something that other nodes could ask for, so that it must stay.
    bool is_kept() const;
    /// This node's workers end, the others go on.
    void depart(Context& caller);
    /// For all other nodes that take part now.
    template <class Visit>
    void for_others(const Visit& visit) const {
        if (members_) return members_->for_others(visit);
        for (NodeId other = 0; other < topology_.nodes; ++other)
            if (other != id_) visit(other);
    }
    /// Of a worker of this node, or its receiver.
    Outbox& outbox_of(const Context& context);
    /// What was enclosed in the message that is being handled, or nothing.
    Body take_body() { return std::move(body_); }

    /// All kinds of work that may wait here.
    WorkSources& sources() { return sources_; }
    const WorkSources& sources() const { return sources_; }

    // --- those to which the core itself gives work
    ArrivedTasks& arrived() { return arrived_; }
    RankedQueues& ranked() { return ranked_; }
    /// Empty if schedule.token_queue is not `node`.
    SharedTokens& shared_tokens() { return shared_tokens_; }

    Strands& strands() { return strands_; }
    /// Whether a strand was ever started here: Strands::used, in a line that workers read anyway.
    bool has_strands() const { return has_strands_.load(std::memory_order_seq_cst); }
    void note_strands() { has_strands_.store(true, std::memory_order_seq_cst); }
    DeadlockWatch& deadlock_watch() { return deadlock_watch_; }

    /// How many tasks this node is giving away: taken from where workers see them, and not yet counted as
    /// sent. Without tasks that a worker of this node waits for.
    std::atomic<std::uint32_t>& leaving() { return leaving_; }
    /// Calls of the program that run beside the workers, and may use what is on their stacks.
    std::atomic<std::uint32_t>& outside() { return outside_; }

    /// Any worker of this node may run that task now. A detached task of the caller's own may stay with it.
    void make_ready(Context& caller, const TaskType& type, std::span<const std::byte> arguments);

    /// The same, for no worker in particular.
    void put_ready(Context& caller, const TaskType& type, std::span<const std::byte> arguments);

    StealService& steals() { return steals_; }
    Balancer& balancer() { return balancer_; }
    /// Whether it may send tasks.
    bool balances() const { return schedule_.balancing.policy != Balancing::Policy::none; }
    Termination& termination() { return termination_; }
    Reports& reports() { return reports_; }

    // --- sleeping and waking (see Worker::rest)
    CoreSet& sleeping() { return sleeping_; }
    /// Whether a sleeping worker of this node, or another node that waits, would take what a worker shares.
    bool wants_work() const { return !sleeping_.empty() || steals_.anybody_waits() || is_leaving(); }
    void wake_one(Context& caller) {
        if (!sleeping_.empty()) wake_sleeper(caller);
    }
    /// Each worker that sleeps now.
    void wake_sleepers(Context& caller);
    void wake_all(Context& caller);

    /// Tasks of `worker` have become shared: wakes a sleeping worker, and gives tasks to nodes that wait.
    void published(Worker& worker);

    // --- activity: a worker is active from before it takes a task until it has none (for the termination
    // detection)
    void begin_activity(CoreId core) {
        active_.add(core);
        activations_.fetch_add(1, std::memory_order_seq_cst);
        deadlock_watch_.began_activity();
    }
    void end_activity(Worker& worker);
    /// A worker whose task has waited long is not active while it sleeps (Worker::rest_long). It calls both.
    void pause_activity(CoreId core) { active_.remove(core); }
    void activity_paused(Worker& worker);

    /// Calls `found(core)` for the workers that may have a task to steal, from `begin` on and round to it,
    /// until one call returns true. Returns whether one did.
    template <class Found>
    bool any_victim(CoreId begin, const Found& found) {
        if (!sources_.waits_with_idle_workers()) return active_.any_from(begin, found);
        for (CoreId i = 0; i < cores(); ++i)
            if (found((begin + i) % cores())) return true;
        return false;
    }
    const CoreSet& active() const { return active_; }

    /// Looks whether the run is over. The caller owns the outbox. It must call this when the node may have
    /// become passive, and when a passive node's counts of messages may have changed.
    void look_for_end(Outbox& outbox);

    // --- the end
    bool stopping() const { return stopping_.load(std::memory_order_seq_cst); }
    /// The program has its answer: the run ends on all nodes, without waves. Tasks that run come to their
    /// end, or to a fork, join or wait, and are unwound there; what has not begun does not run. `caller` and
    /// its outbox: a worker of this node, or the receiver.
    void end_run(Context& caller, Outbox& outbox);
    /// The same on this node, when node 0 says so.
    void end_here(Context& caller, Outbox& outbox);
    /// On a node that unwinds what waits: returns when the calling worker's stack may be unwound.
    void settle(Worker& worker);
    void settled();
    /// The calling worker begins nothing more.
    void count_ended(Worker& worker);
    /// The program has ended the run: tasks that wait are unwound. At any other end of a node no task waits.
    bool ended_early() const { return ended_early_.load(std::memory_order_seq_cst); }
    /// Throws Error if something is left that should have run: an error of the scheduler's.
    void expect_nothing_left() const;
    void end(Outbox& outbox);
    void stop(Context& caller, Outbox& outbox);

    /// This node's share of the result. Complete once all workers have left.
    NodeReport report() const;
    std::uint64_t tasks() const;

    /// What a worker did until the end of the run's last task.
    ActivityTimes times(CoreId core, Time makespan) const;

    /// Tells `recorder` of everything from now on. Before the run.
    void tell(Recorder* recorder);

private:
    bool passive() const;
    bool is_still() const;
    bool expects_work() const;
    void expect_well_formed(NodeId from, std::span<const std::byte> message) const;
    void handle(NodeId from, std::span<const std::byte> message, Body body);
    void handle_mail();
    void run_handler(const Handler& handler, NodeId from, std::span<const std::byte> message);
    void wake_sleeper(Context& caller);
    void send_record(Worker& worker);
    void leave(Worker& worker);

    // First what workers look at again and again, in few lines of the cache, which the simulator fetches
    // before it runs a node (SimMachine::prefetch_lists). Of these lines the first two are not written.
    NodeId id_;
    Backend& backend_;
    const Topology& topology_;
    const Schedule& schedule_;
    RunReach& reach_;
    std::unique_ptr<Program> program_;
    States<Node> states_;
    FixedArray<Worker> workers_;
    const std::span<const Handler* const> handlers_;
    std::unique_ptr<Members> members_;

    // May change with every task.
    alignas(64) std::atomic<std::uint32_t> leaving_{0};
    std::atomic<std::uint32_t> outside_{0};
    CoreSet sleeping_;
    CoreSet active_;
    std::atomic<std::uint64_t> activations_{0};

    std::atomic<bool> stopping_{false};
    std::atomic<bool> ended_early_{false};
    std::atomic<bool> has_strands_{false};
    DeadlockWatch deadlock_watch_;
    Deques deques_;
    ArrivedTasks arrived_;
    StealService steals_;
    WorkSources sources_;

    // What each message needs, from its context on (SimMachine::prefetch).
    std::unique_ptr<Forwarding> forwarding_;
    Termination termination_;
    Context receiver_;
    Outbox receiver_outbox_;
    Body body_;
    Mailbox mailbox_;  ///< its turn gives a thread the receiver's context, its outbox and the body

    Strands strands_;
    ReadyTasks ready_;
    SharedTokens shared_tokens_;
    Balancer balancer_;
    Reports reports_;
    std::vector<const MemoryWatch*> memory_watches_;
    alignas(64) RankedQueues ranked_;

    alignas(64) std::atomic<std::uint32_t> working_;  ///< workers that have not left
    std::atomic<bool> asked_to_end_{false};
    std::atomic<std::uint32_t> ended_workers_{0};
    std::atomic<bool> settling_{false};
    std::atomic<bool> settled_{false};
};

}  // namespace heddle::runtime
