// Spreads the first tasks of a program along a tree of workers: sends forks to the workers below, and runs
// those that come from above.
#include "runtime/sources/start_tree.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "runtime/comm/task_message.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::runtime {

namespace {

struct ShareHeader {
    TaskTypeId type;
    Home home;
    StartShare share;
};

std::unique_ptr<StartTask> make_task(const TaskType& type, NodeId from, Home home, const StartShare& share) {
    auto task = std::make_unique<StartTask>();
    task->type = &type;
    task->home = home;
    task->from = from;
    task->share = share;
    return task;
}

const Handler share_handler(
    "start.task", Handler::Kind::work,
    [](Node& node, NodeId from, auto message) {
        Reader reader(message);
        const auto header = reader.get<ShareHeader>();
        reader.check();
        const TaskType* const type = find_task_type(header.type);
        if (!type || type->detached() || header.share.core >= node.cores())
            throw MalformedMessage(fmt::format("node {} sends a task that cannot run here", from));
        auto task = make_task(*type, from, header.home, header.share);
        read_arguments(node, *type, reader.get_rest(), task->payload);
        task->holds = Holds::arguments;
        node.state<StartTree>().put(node.receiver(), header.share.core, std::move(task));
    },
    Handler::IfGone::here);

}  // namespace

void StartTree::send(Worker& sender, const StartShare& share, const TaskType& type, Home home,
                     const std::byte* arguments) {
    Node& node = sender.node();
    if (share.node == node.id()) {
        auto task = make_task(type, TaskNote::nowhere, home, share);
        std::memcpy(task->payload, arguments, type.arguments_bytes());
        task->holds = Holds::arguments;
        return node.state<StartTree>().put(sender, share.core, std::move(task));
    }
    const ShareHeader header{type.id(), home, share};
    post_arguments(node, sender.outbox(), share.node, share_handler, bytes_of(header), type, arguments);
}

bool StartTree::run(Worker& worker, Slot* head) {
    if (!waits_for(worker)) return false;
    const auto run = [&](StartTask& task) {
        worker.charge(worker.costs->token);
        worker.count_task(task.from);
        worker.take_share(task.share);
        task.holds = Holds::nothing;
        worker.execute(*task.type, head, task.payload);
        task.holds = Holds::result;
    };
    return worker.take_and_run([&] { return take(worker); }, run,
                               [&](StartTask& task) { node_.steals().send_result(worker, task); });
}

}  // namespace heddle::runtime
