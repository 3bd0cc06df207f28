// Runs a node: wakes sleeping workers, counts active ones, and stops the run.
#include "runtime/core/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <typeinfo>
#include <utility>

#include "base/error.hpp"
#include "runtime/core/readable.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::runtime {

namespace {

// A node that is leaving, to which the way is closed, ends without them.
const Handler stop_handler(
    "node.stop", Handler::Kind::control,
    [](Node& node, NodeId, auto) { node.stop(node.receiver(), node.receiver_outbox()); },
    Handler::IfGone::drop);

/// A program asks node 0 to end the run.
const Handler end_handler("node.end", Handler::Kind::control, [](Node& node, NodeId, auto) {
    node.end_run(node.receiver(), node.receiver_outbox());
});
/// Node 0 has ended it.
const Handler ended_handler(
    "node.ended", Handler::Kind::control,
    [](Node& node, NodeId, auto) { node.end_here(node.receiver(), node.receiver_outbox()); },
    Handler::IfGone::drop);
/// All handlers that had begun have ended.
const Handler settled_handler("node.settled", Handler::Kind::control,
                              [](Node& node, NodeId, auto) { node.settled(); });

const Handler report_handler(
    "node.report", Handler::Kind::control, [](Node& node, NodeId from, auto message) {
        NodeReport report;
        Reader reader(message);
        if (!report.read(reader)) throw MalformedMessage("it is no report");
        if (report.node != from)
            throw MalformedMessage(fmt::format("it is a report of node {}", report.node));
        node.reports().add(std::move(report));
        if (const std::uint32_t waiting = node.reports().waiting.load(std::memory_order_seq_cst)) {
            node.receiver().backend->unpark(node.receiver(), waiting - 1);
        }
    });

const Handler record_handler("node.record", Handler::Kind::control,
                             [](Node& node, NodeId from, auto message) {
                                 Recorder* const recorder = node.receiver().recorder;
                                 if (!recorder || !recorder->absorb(from, message))
                                     throw MalformedMessage("it is no record");
                             });

}  // namespace

Node::Node(NodeId id, Backend& backend, const Schedule& schedule, const ProgramFactory& make_program,
           RunReach& reach)
    : id_(id),
      backend_(backend),
      topology_(backend.topology()),
      schedule_(schedule),
      reach_(reach),
      program_(make_program(id)),
      workers_(topology_.cores),
      handlers_(all_handlers()),
      members_(topology_.at_start ? std::make_unique<Members>(*this) : nullptr),
      sleeping_(topology_.cores, CoreSet::Initially::empty),
      active_(topology_.cores, CoreSet::Initially::full),
      deadlock_watch_(*this),
      deques_(*this),
      arrived_(*this),
      steals_(*this),
      forwarding_(topology_.routes ? std::make_unique<Forwarding>(*this) : nullptr),
      termination_(
          id, topology_.nodes, [this] { return passive(); }, [this] { return deadlock_watch_.waiters(); }),
      receiver_outbox_(receiver_, *this),
      strands_(*this),
      ready_(*this),
      shared_tokens_(*this),
      balancer_(*this),
      ranked_(*this),
      working_(topology_.cores) {
    sources_.add(strands_);
    sources_.add(ready_);
    sources_.add(arrived_);
    sources_.add(shared_tokens_);
    sources_.add(deques_, WorkSources::Begun::unless_deep);
    sources_.add(ranked_, WorkSources::Begun::unless_deep);
    receiver_.backend = &backend;
    receiver_.id = {id, topology_.cores};
    for (CoreId core = 0; core < topology_.cores; ++core) workers_.emplace_back(*this, core);
    if (members_) {
        termination_.begin(*members_->list());
        balancer_.follow(*members_->list());
    }
    program_->set_up(*this);
}

// Strands that wait refer to the program.
Node::~Node() {
    strands_.unwind();
    for (Worker& worker : workers_) worker.drop_tasks();
    workers_.clear();
}

Context& Node::context(CoreId core) {
    return core < cores() ? static_cast<Context&>(workers_[core]) : receiver_;
}

void Node::work(CoreId core) {
    workers_[core].run();
    leave(workers_[core]);
}

void Node::leave() {
    if (!members_) return;
    mailbox_.begin();
    members_->leave(receiver_outbox_);
    receiver_outbox_.flush();
    handle_mail();
}

void Node::expect_same_nodes(const std::string& what) const {
    if (members_)
        throw Error(fmt::format("{} the same nodes from the beginning to the end of a run", what),
                    "leave platform.nodes_at_start out, and the events of members");
}

bool Node::has_left() const {
    return members_ && members_->has_left();
}

void Node::wake_sleeper(Context& caller) {
    sleeping_.any_from(0, [&](CoreId core) {
        if (!sleeping_.remove(core)) return false;
        backend_.unpark(caller, core);
        return true;
    });
}

void Node::wake_sleepers(Context& caller) {
    sleeping_.any_from(0, [&](CoreId core) {
        if (sleeping_.remove(core)) backend_.unpark(caller, core);
        return false;
    });
}

void Node::wake_all(Context& caller) {
    for (CoreId i = 0; i < cores(); ++i) {
        sleeping_.remove(i);
        if (i != caller.id.core) backend_.unpark(caller, i);
    }
}

void Node::published(Worker& worker) {
    wake_one(worker);
    if (is_leaving()) [[unlikely]]
        members_->give_away(worker);
    if (!steals_.anybody_waits()) return;
    steals_.serve_waiting(worker.outbox());
    if (steals_.anybody_waits()) worker.deque().ask();
}

void Node::make_ready(Context& caller, const TaskType& type, std::span<const std::byte> arguments) {
    if (caller.id.core < cores() && type.detached()) {
        Worker& worker = workers_[caller.id.core];
        if (worker.may_detach()) {
            return worker.detach(
                type, [&](std::byte* payload) { std::memcpy(payload, arguments.data(), arguments.size()); });
        }
    }
    put_ready(caller, type, arguments);
}

void Node::put_ready(Context& caller, const TaskType& type, std::span<const std::byte> arguments) {
    ready_.put(type, arguments);
    wake_one(caller);
}

// Invariant: a worker shows itself active, then counts the activation, and then takes a task or token; and a
// task that a worker makes is taken or run before that worker is passive. Suppose there is work at the second
// look. If it waits, the look sees it. Else a worker has it, which showed itself active before it was looked
// for, and is seen; or after that, and then the activation that it counted since is.
bool Node::passive() const {
    const std::uint64_t before = activations_.load(std::memory_order_seq_cst);
    const auto nothing_waits = [this] {
        return !sources_.waits() && leaving_.load(std::memory_order_seq_cst) == 0;
    };
    return deadlock_watch_.may_look() && nothing_waits() && active_.empty() && nothing_waits() &&
           activations_.load(std::memory_order_seq_cst) == before;
}

void Node::end_activity(Worker& worker) {
    worker.outbox().flush();
    pause_activity(worker.id.core);
    activity_paused(worker);
}

void Node::activity_paused(Worker& worker) {
    if (!active_.empty()) return;
    if (steals_.anybody_waits()) {
        steals_.refuse_waiting(worker.outbox());
        worker.outbox().flush();
    }
    look_for_end(worker.outbox());
}

/// No work, request, timer or call of this node will change anything.
bool Node::is_still() const {
    return passive() && !steals_.asks() && sources_.due() == never &&
           outside_.load(std::memory_order_seq_cst) == 0;
}

bool Node::has_nothing_to_do() const {
    return is_still() && deadlock_watch_.waiters() == 0 && !expects_work();
}

bool Node::needs_message() const {
    return is_still() && deadlock_watch_.waiters() != 0;
}

bool Node::is_kept() const {
    return states_.keep_node() || !program_->may_leave();
}

bool Node::expects_work() const {
    return std::any_of(workers_.begin(), workers_.end(),
                       [&](const Worker& worker) { return sources_.expects(worker); });
}

void Node::depart(Context& caller) {
    stopping_.store(true, std::memory_order_seq_cst);
    wake_all(caller);
}

void Node::look_for_end(Outbox& outbox) {
    if (members_) [[unlikely]]
        members_->look(outbox);
    if (termination_.look(outbox)) end(outbox);
}

/// By node 0: no task is left, and no message is under way.
void Node::end(Outbox& outbox) {
    if (ended_early()) return;  // what waits is unwound
    if (termination_.waiters() != 0) return deadlock_watch_.name_waiters(outbox);
    stop(outbox.context(), outbox);
}

void Node::end_run(Context& caller, Outbox& outbox) {
    if (id_ == 0) return end_here(caller, outbox);
    if (!asked_to_end_.exchange(true, std::memory_order_seq_cst)) outbox.post(0, end_handler, {});
}

void Node::end_here(Context& caller, Outbox& outbox) {
    ended_early_.store(true, std::memory_order_seq_cst);
    stop(caller, outbox);
    // A task sees it when it forks or joins.
    for (Worker& worker : workers_) worker.deque().ask();
}

// Invariant: from the end on no handler of work runs, and workers run what they have begun. So once all
// workers have come here or to the end of their loop, and calls beside them and the handler that was running
// have ended, nothing uses what is on the stacks that are unwound.
void Node::settle(Worker& worker) {
    count_ended(worker);
    while (ended_workers_.load(std::memory_order_seq_cst) != cores() ||
           outside_.load(std::memory_order_seq_cst) != 0)
        backend_.park(worker, never);
    if (!settling_.exchange(true, std::memory_order_seq_cst)) deliver_here(worker, settled_handler, {}, {});
    while (!settled_.load(std::memory_order_seq_cst)) backend_.park(worker, never);
}

void Node::count_ended(Worker& worker) {
    // A program may catch all exceptions, and so come here again.
    if (worker.note_end()) return;
    if (ended_workers_.fetch_add(1, std::memory_order_seq_cst) + 1 == cores()) wake_all(worker);
}

void Node::settled() {
    settled_.store(true, std::memory_order_seq_cst);
    wake_all(receiver_);
}

void Node::expect_nothing_left() const {
    std::string left;
    const auto note = [&](const std::string& what) { left += (left.empty() ? "" : ", ") + what; };
    const auto any_worker = [&](const auto& holds) {
        return std::any_of(workers_.begin(), workers_.end(),
                           [&](const Worker& worker) { return holds(worker); });
    };
    for (const WorkSource* const source : sources_.all()) {
        const bool waits =
            source->may_wait() &&
            (source->waits() || any_worker([&](const Worker& worker) { return source->waits_for(worker); }));
        if (waits || any_worker([&](const Worker& worker) { return source->expects(worker); }))
            note(readable(typeid(*source).name()));
    }
    for (const Worker& worker : workers_)
        if (worker.deque().shared() != 0) note(fmt::format("the deque of worker {}", worker.id.core));
    if (leaving_.load(std::memory_order_seq_cst) != 0) note("tasks that leave");
    if (left.empty()) return;
    throw Error(fmt::format("the run has ended, and node {} has work left: {}", id_, left),
                "this is an error of the scheduler: please report it with the configuration and the seed");
}

void Node::stop(Context& caller, Outbox& outbox) {
    if (stopping_.exchange(true, std::memory_order_seq_cst)) return;
    const Handler& handler = ended_early() ? ended_handler : stop_handler;
    if (!members_) {
        termination_.for_children([&](NodeId child) { outbox.post(child, handler, {}); });
    } else if (id_ == 0) {
        // Not along a tree: the nodes may know of different members when the program ends the run.
        for (const NodeId other : members_->end(outbox)) outbox.post(other, handler, {});
    }
    wake_all(caller);
}

std::uint64_t Node::tasks() const {
    std::uint64_t sum = 0;
    for (const Worker& worker : workers_) sum += worker.tasks();
    return sum;
}

NodeReport Node::report() const {
    NodeReport report;
    report.node = id_;
    report.answer = program_->answer();
    report.evidence = program_->evidence();
    report.stolen_from = steals_.stolen_from();
    if (members_) report.membership = members_->membership();
    report.counters = receiver_outbox_.counters();
    steals_.add_granted(report.counters);
    for (const Worker& worker : workers_) {
        report.counters += worker.counted();
        report.counters += worker.outbox().counters();
        report.counters.tasks += worker.tasks();
        report.counters.busy += worker.busy();
        report.last_task_end = std::max(report.last_task_end, worker.last_task_end());
    }
    // If other nodes worked longer, the execution adds the rest, because it knows the makespan.
    const Time known = std::max(report.last_task_end, reach_.get());
    for (CoreId core = 0; core < cores(); ++core) report.counters.times += times(core, known);
    for (const auto& [victim, tasks] : report.stolen_from) report.counters.steals_between_nodes += tasks;
    states_.report(report);
    return report;
}

ActivityTimes Node::times(CoreId core, Time makespan) const {
    return workers_[core].times.until(makespan);
}

void Node::tell(Recorder* recorder) {
    for (Worker& worker : workers_) worker.tell(recorder);
    receiver_.recorder = recorder;
}

/// Gives node 0's process what this node's recorder was told, where that is another process.
void Node::send_record(Worker& worker) {
    for (auto part = worker.recorder->take_part(); !part.empty(); part = worker.recorder->take_part())
        worker.outbox().post(0, record_handler, part);
}

void Node::leave(Worker& worker) {
    if (working_.fetch_sub(1, std::memory_order_seq_cst) != 1) return;
    if (id_ != 0) {
        if (members_ && members_->turned_away()) return;
        const NodeReport own = report();
        if (worker.recorder) send_record(worker);
        Writer message;
        own.write(message);
        worker.outbox().post(0, report_handler, message.bytes());
        if (members_ && members_->departs()) members_->say_left(worker.outbox());
        return;
    }
    const NodeId expected = members_ ? members_->ever() : topology_.nodes;
    reports_.waiting.store(worker.id.core + 1, std::memory_order_seq_cst);
    while (reports_.count() + 1 < expected) backend_.park(worker, never);
}

}  // namespace heddle::runtime
