// Tells node 0 of long waits. If nothing can go on, it collects from all nodes what waits for what.
#include "runtime/core/deadlock_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::runtime {

namespace {

constexpr std::size_t lines_max = 16;  ///< of each node, and in the message

const Handler suspicion_handler("deadlock.suspicion", Handler::Kind::control, [](Node& node, NodeId, auto) {
    node.deadlock_watch().on_suspicion(node.receiver_outbox());
});

const Handler watch_handler(
    "deadlock.watch", Handler::Kind::control,
    [](Node& node, NodeId, auto) { node.deadlock_watch().on_watch(node.receiver()); }, Handler::IfGone::drop);

const Handler lines_handler("deadlock.lines", Handler::Kind::control,
                            [](Node& node, NodeId from, auto message) {
                                Reader reader(message);
                                std::vector<std::string> lines(reader.get<std::uint32_t>() % (lines_max + 1));
                                for (std::string& line : lines) line = reader.get_text();
                                reader.check();
                                node.deadlock_watch().add_lines(from, lines);
                            });

const Handler question_handler(
    "deadlock.question", Handler::Kind::control,
    [](Node& node, NodeId from, auto) {
        // A node that has left meanwhile has nothing that waits: node 0 answers for it.
        if (from == node.id()) return node.deadlock_watch().add_lines(from, {});
        const std::vector<std::string> lines = node.deadlock_watch().lines();
        Writer answer;
        answer.put(static_cast<std::uint32_t>(lines.size()));
        for (const std::string& line : lines) answer.put_text(line);
        node.receiver_outbox().post(from, lines_handler, answer.bytes());
    },
    Handler::IfGone::here);

}  // namespace

bool DeadlockWatch::watches() const {
    return told_.load(std::memory_order_seq_cst) || tasks_.load(std::memory_order_seq_cst) != 0 ||
           (node_.has_strands() && node_.strands().waiting() != 0);
}

std::uint64_t DeadlockWatch::waiters() const {
    std::uint64_t count = node_.strands().waiting();
    for (CoreId core = 0; core < node_.cores(); ++core)
        count += node_.worker(core).long_wait().waitable.load(std::memory_order_seq_cst) ? 1 : 0;
    return count;
}

bool DeadlockWatch::may_look() const {
    return quiet_.load(std::memory_order_seq_cst) ||
           (tasks_.load(std::memory_order_seq_cst) == 0 && node_.strands().waiting() == 0);
}

void DeadlockWatch::fell_quiet(Outbox& outbox) {
    quiet_.store(true, std::memory_order_seq_cst);
    if (!suspected_.exchange(true, std::memory_order_seq_cst)) {
        if (node_.id() == 0) {
            on_suspicion(outbox);
        } else {
            outbox.post(0, suspicion_handler, {});
        }
    }
    node_.look_for_end(outbox);
    outbox.flush();
}

void DeadlockWatch::on_suspicion(Outbox& outbox) {
    if (told_.exchange(true, std::memory_order_seq_cst)) return;
    node_.for_others([&](NodeId other) { outbox.post(other, watch_handler, {}); });
    on_watch(outbox.context());
}

// Invariant: every member is told. A suspicion is noted before the members are listed, and a new member is
// listed before it is looked whether there was one. So one of the two tells it. It keeps what comes before
// the welcome (Members::holds).
void DeadlockWatch::follow(Outbox& outbox, NodeId node) {
    if (told_.load(std::memory_order_seq_cst)) outbox.post(node, watch_handler, {});
}

/// Workers that sleep without a deadline sleep with one from now on.
void DeadlockWatch::on_watch(Context& caller) {
    told_.store(true, std::memory_order_seq_cst);
    node_.wake_all(caller);
}

std::vector<std::string> DeadlockWatch::lines() const {
    std::vector<std::string> lines = node_.strands().waiters(lines_max);
    for (CoreId core = 0; core < node_.cores() && lines.size() < lines_max; ++core) {
        const Worker::LongWait& wait = node_.worker(core).long_wait();
        const Waitable* const waitable = wait.waitable.load(std::memory_order_seq_cst);
        if (!waitable) continue;
        lines.push_back(fmt::format("a task on worker {} waits for {} since {}", core, waitable->what(),
                                    print_time(Time(wait.since.load(std::memory_order_relaxed)))));
    }
    return lines;
}

void DeadlockWatch::name_waiters(Outbox& outbox) {
    waiters_ = node_.termination().waiters();
    // Nodes may join and leave while they are asked.
    std::vector<NodeId> others;
    node_.for_others([&](NodeId other) { others.push_back(other); });
    answers_missing_ = static_cast<NodeId>(others.size() + 1);
    // Before any node is asked: from then on the answers are the handlers', which add theirs.
    add_lines(0, lines());
    for (const NodeId other : others) outbox.post(other, question_handler, {});
    outbox.flush();
}

void DeadlockWatch::add_lines(NodeId from, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) found_.push_back(fmt::format("on node {} {}", from, line));
    if (--answers_missing_ == 0) refuse();
}

void DeadlockWatch::refuse() const {
    const std::size_t shown = std::min(found_.size(), lines_max);
    const std::span<const std::string> first(found_.data(), shown);
    throw Error(
        fmt::format("deadlock: {} strands and tasks wait, and nothing is under way that could wake them: "
                    "{}{}",
                    waiters_, fmt::join(first, "; "), waiters_ > shown ? "; and others" : ""),
        "let another task, strand or message do what they wait for");
}

}  // namespace heddle::runtime
