// Compares the graphs of a group that the nodes have recorded: digests first, and the tasks if digests
// differ.
#include "model/dataflow/recorded_groups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/fnv1a.hpp"
#include "model/dataflow/node_run.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::dataflow {

namespace {

using runtime::Context;
using runtime::Enclosure;
using runtime::Handler;
using runtime::MalformedMessage;
using runtime::Node;
using runtime::Reader;
using runtime::SpinLock;
using runtime::Writer;

/// Names of groups that one node records are counted from 0.
constexpr std::uint32_t first_number = std::uint32_t{1} << 31;

void put_placed(Writer& writer, const PlacedGroup& group) {
    put_name(writer, group.first);
    writer.put(group.second);
}

PlacedGroup placed_in(Reader& reader) {
    const GroupName name = group_in(reader);
    return {name, reader.get<std::uint32_t>()};
}

const Handler recorded_handler("dataflow.recorded", Handler::Kind::work,
                               [](Node& node, NodeId from, auto message) {
                                   Reader reader(message);
                                   const PlacedGroup group = placed_in(reader);
                                   RecordedGroups::Said said;
                                   said.digest = reader.get<std::uint64_t>();
                                   said.iterations = reader.get<std::uint32_t>();
                                   if (!reader.done()) throw MalformedMessage("it is no digest of a group");
                                   node.state<RecordedGroups>().recorded_by(node.receiver(), group, from,
                                                                            said);
                               });

const Handler ended_handler("dataflow.ended", Handler::Kind::work, [](Node& node, NodeId from, auto message) {
    Reader reader(message);
    const auto groups = reader.get<std::uint32_t>();
    reader.check();
    node.state<RecordedGroups>().ended(from, groups);
});

[[noreturn]] void refuse_fewer(NodeId node, std::uint32_t groups) {
    throw Error(fmt::format("node 0 records group {}, and node {} has recorded {} and no more", groups + 1,
                            node, groups),
                "let `elsewhere` make all groups that `main` makes for every node to record");
}

void expect_iterations(NodeId node, std::uint32_t iterations, std::uint32_t on_node_0) {
    if (iterations == on_node_0) return;
    throw Error(
        fmt::format("node {} runs a group for {} iterations, and node 0 for {}", node, iterations, on_node_0),
        "let `elsewhere` run each group as often as `main` does");
}

const Handler same_handler("dataflow.same", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    node.state<RecordedGroups>().same(placed_in(reader));
});

const Handler differs_handler("dataflow.differs", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader head(message);
    const runtime::Body body = node.take_body();
    Reader reader(body ? std::span<const std::byte>(*body) : head.get_rest());
    const PlacedGroup group = placed_in(reader);
    TaskDescriptions tasks;
    for (std::uint64_t left = reader.get_size(); left != 0 && reader.ok(); --left)
        tasks.push_back(reader.get_text());
    reader.check();
    node.state<RecordedGroups>().differs(group, tasks);
});

}  // namespace

/// Over the texts with an end each.
std::uint64_t digest_of(const TaskDescriptions& tasks) {
    Fnv1a digest;
    for (const std::string& task : tasks) {
        digest.add_text(task);
        digest.add('\n');
    }
    return digest.value();
}

GroupName RecordedGroups::new_name() {
    const SpinLock::Guard guard(lock_);
    for (const auto& [node, groups] : ended_)
        if (groups == next_) refuse_fewer(node, groups);
    return {0, first_number + next_++};
}

void RecordedGroups::ends(Context& caller) {
    std::uint32_t groups = 0;
    {
        const SpinLock::Guard guard(lock_);
        groups = next_;
    }
    node_.outbox_of(caller).post(0, ended_handler, runtime::bytes_of(groups));
}

void RecordedGroups::ended(NodeId node, std::uint32_t groups) {
    const SpinLock::Guard guard(lock_);
    if (groups < next_) refuse_fewer(node, groups);
    ended_[node] = groups;
}

void RecordedGroups::recorded(Context& caller, const PlacedGroup& group, TaskDescriptions tasks) {
    const NodeId nodes = node_.topology().nodes;
    if (nodes == 1) return;
    const std::uint64_t digest = digest_of(tasks);
    std::map<NodeId, Said> early;
    {
        const SpinLock::Guard guard(lock_);
        Recorded& recorded = groups_[group];
        recorded.tasks = std::move(tasks);
        recorded.digest = digest;
        recorded.here = true;
        early = std::exchange(recorded.early, {});
    }
    for (const auto& [node, said] : early) recorded_by(caller, group, node, said);
}

void RecordedGroups::runs(Context& caller, const PlacedGroup& group, std::uint32_t iterations) {
    if (node_.topology().nodes == 1) return;
    Writer message;
    {
        const SpinLock::Guard guard(lock_);
        const auto found = groups_.find(group);
        Recorded& recorded = found->second;
        if (node_.id() == 0) {
            recorded.iterations = iterations;
            for (const auto& [node, others] : recorded.uncompared)
                expect_iterations(node, others, iterations);
            forget_if_compared(found);
            return;
        }
        put_placed(message, group);
        message.put(recorded.digest).put(iterations);
    }
    node_.outbox_of(caller).post(0, recorded_handler, message.bytes());
}

/// On node 0, when all nodes have said what they have. Under the lock.
void RecordedGroups::forget_if_compared(Groups::iterator group) {
    const Recorded& recorded = group->second;
    if (recorded.iterations && recorded.others + 1 == node_.topology().nodes) groups_.erase(group);
}

void RecordedGroups::recorded_by(Context& caller, const PlacedGroup& group, NodeId node, const Said& said) {
    Writer message;
    put_placed(message, group);
    bool same = false;
    {
        const SpinLock::Guard guard(lock_);
        const auto found = groups_.try_emplace(group).first;
        Recorded& recorded = found->second;
        if (!recorded.here) {
            recorded.early.emplace(node, said);
            return;
        }
        same = recorded.digest == said.digest;
        if (!same) {
            message.put_size(recorded.tasks.size());
            for (const std::string& task : recorded.tasks) message.put_text(task);
        } else {
            if (recorded.iterations) {
                expect_iterations(node, said.iterations, *recorded.iterations);
            } else {
                recorded.uncompared.emplace(node, said.iterations);
            }
            ++recorded.others;
            forget_if_compared(found);
        }
    }
    runtime::Outbox& outbox = node_.outbox_of(caller);
    if (same) return outbox.post(node, same_handler, message.bytes());
    outbox.post(node, differs_handler, {}, Enclosure{message.take_body(), 0});
}

void RecordedGroups::same(const PlacedGroup& group) {
    const SpinLock::Guard guard(lock_);
    groups_.erase(group);
}

void RecordedGroups::differs(const PlacedGroup& group, const TaskDescriptions& on_node_0) {
    TaskDescriptions here;
    {
        const SpinLock::Guard guard(lock_);
        here = groups_[group].tasks;
    }
    std::size_t task = 0;
    while (task < std::min(here.size(), on_node_0.size()) && here[task] == on_node_0[task]) ++task;
    const auto told = [&](const TaskDescriptions& tasks) {
        return task < tasks.size() ? tasks[task] : fmt::format("none, of {} tasks", tasks.size());
    };
    throw Error(fmt::format("node {} records another group than node 0. The first task that differs is task "
                            "{}: on node 0 {}; on node {} {}",
                            node_.id(), task, told(on_node_0), node_.id(), told(here)),
                "let every node fork the same tasks in the same order, with the same arguments and bytes");
}

}  // namespace heddle::dataflow
