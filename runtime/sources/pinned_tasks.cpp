// Sends tasks to one certain worker, on any node, and their results back.
#include "runtime/sources/pinned_tasks.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "runtime/comm/task_message.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/readable.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

namespace {

struct Header {
    TaskTypeId type;
    CoreId core;
    SentTask* awaited;
};

std::unique_ptr<PinnedTask> make_task(const TaskType& type, NodeId home, SentTask* awaited) {
    auto task = std::make_unique<PinnedTask>();
    task->type = &type;
    task->home = home;
    task->awaited = awaited;
    return task;
}

const Handler task_handler("pinned.task", Handler::Kind::work, [](Node& node, NodeId from, auto message) {
    Reader reader(message);
    const auto header = reader.get<Header>();
    reader.check();
    const TaskType* const type = find_task_type(header.type);
    if (!type || type->detached() || header.core >= node.cores())
        throw MalformedMessage(fmt::format("node {} sends a task that cannot run here", from));
    auto task = make_task(*type, from, header.awaited);
    read_arguments(node, *type, reader.get_rest(), task->payload);
    task->holds = Holds::arguments;
    node.state<PinnedTasks>().put(node.receiver(), header.core, std::move(task));
});

const Handler result_handler("pinned.result", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    Reader reader(message);
    auto* const awaited = reader.get<SentTask*>();
    reader.check();
    awaited->arrive(node, reader.get_rest());
});

}  // namespace

// --- the sender

SentTask::~SentTask() {
    if (type_) type_->drop(holds_, result_);
}

void SentTask::send(Worker& sender, WorkerId to, const TaskType& type, std::byte* arguments) {
    Node& node = sender.node();
    if (to.node >= node.topology().nodes || to.core >= node.cores()) {
        type.drop(Holds::arguments, arguments);
        throw Error(fmt::format("a task for worker {} of node {}, and there are {} nodes of {} workers",
                                to.core, to.node, node.topology().nodes, node.cores()),
                    "nodes and their workers are numbered from 0");
    }
    HEDDLE_ASSERT(type.travels() && !type.detached());
    to_ = to;
    type_ = &type;
    if (to.node == node.id()) {
        auto task = make_task(type, to.node, this);
        std::memcpy(task->payload, arguments, type.arguments_bytes());
        task->holds = Holds::arguments;
        return node.state<PinnedTasks>().put(sender, to.core, std::move(task));
    }
    const Header header{type.id(), to.core, this};
    post_arguments(node, sender.outbox(), to.node, task_handler, bytes_of(header), type, arguments);
}

void SentTask::arrive(Node& node, Context& caller, const std::byte* result) {
    std::memcpy(result_, result, type_->result_bytes());
    holds_ = Holds::result;
    complete(node, caller);
}

void SentTask::arrive(Node& node, std::span<const std::byte> message) {
    read_result(node, *type_, message, result_);
    holds_ = Holds::result;
    complete(node, node.receiver());
}

std::string SentTask::what() const {
    return fmt::format("{} on worker {} of node {}", readable(type_->name()), to_.core, to_.node);
}

// --- the worker that it was sent to

bool PinnedTasks::run(Worker& worker, Slot* head) {
    if (!waits_for(worker)) return false;
    const auto run = [&](PinnedTask& task) {
        worker.charge(worker.costs->token);
        worker.count_task(task.home == node_.id() ? TaskNote::nowhere : task.home);
        task.holds = Holds::nothing;
        worker.execute(*task.type, head, task.payload);
        task.holds = Holds::result;
    };
    return worker.take_and_run([&] { return take(worker); }, run,
                               [&](PinnedTask& task) {
                                   task.holds = Holds::nothing;
                                   if (task.home == node_.id())
                                       return task.awaited->arrive(node_, worker, task.payload);
                                   post_result(node_, worker.outbox(), task.home, result_handler,
                                               bytes_of(task.awaited), *task.type, task.payload);
                               });
}

}  // namespace heddle::runtime
