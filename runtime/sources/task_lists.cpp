// Runs tasks that wait for any worker of a node, and hands arrived ones on to other nodes.
#include "runtime/sources/task_lists.hpp"

#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "runtime/core/gift.hpp"
#include "runtime/node.hpp"
#include "runtime/worker.hpp"

namespace heddle::runtime {

bool TaskList::run(Worker& worker, Slot* head) {
    return worker.take_and_run([&] { return list_.take(); },
                               [&](Token& task) {
                                   worker.charge(worker.costs->token);
                                   worker.count_task(task.from);
                                   worker.execute(*task.type, head, task.payload);
                               },
                               [&](const Token& task) { node_.steals().send_result(worker, task); });
}

void ReadyTasks::put(const TaskType& type, std::span<const std::byte> arguments) {
    HEDDLE_ASSERT(arguments.size() <= payload_bytes);
    auto task = std::make_unique<Token>();
    task->type = &type;
    task->home.core = Home::no_worker;
    task->from = TaskNote::nowhere;
    std::memcpy(task->payload, arguments.data(), arguments.size());
    TaskList::put(std::move(task));
}

// Those that came from other nodes go on only if more wait than the workers here can begin: a task that is
// handed on before a worker runs it could travel without end.
void ArrivedTasks::give(Gift& gift) {
    while (gift.wants_more() && list_.size() > node_.cores()) {
        gift.leaves();
        const auto token = list_.take();
        if (!token) break;
        gift.add(*token->type, token->home, token->payload);
    }
}

}  // namespace heddle::runtime
