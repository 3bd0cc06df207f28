// Runs tasks that wait for any worker of a node, and hands arrived ones on to other nodes.
#include "runtime/sources/task_lists.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/sources/gift.hpp"

namespace heddle::runtime {

TaskLists::TaskLists(Node& node, CoreId lists) : node_(node) {
    for (CoreId i = 0; i < lists; ++i) lists_.push_back(std::make_unique<SharedList<Token>>(waiting_));
}

void TaskLists::put(std::unique_ptr<Token> task) {
    const std::size_t list =
        lists_.size() == 1 ? 0 : next_.fetch_add(1, std::memory_order_relaxed) % lists_.size();
    lists_[list]->put(std::move(task));
}

std::unique_ptr<Token> TaskLists::take(CoreId core) {
    for (std::size_t i = 0; i < lists_.size(); ++i)
        if (auto task = lists_[(core + i) % lists_.size()]->take()) return task;
    return nullptr;
}

bool TaskLists::run(Worker& worker, Slot* head) {
    return worker.take_and_run([&] { return may_begin() ? take(worker.id.core) : nullptr; },
                               [&](Token& task) {
                                   worker.charge(worker.costs->token);
                                   worker.count_task(task.from);
                                   task.holds = Holds::nothing;
                                   worker.execute(*task.type, head, task.payload);
                                   task.holds = Holds::result;
                               },
                               [&](Token& task) { node_.steals().send_result(worker, task); });
}

void ReadyTasks::put(const TaskType& type, std::span<const std::byte> arguments) {
    HEDDLE_ASSERT(arguments.size() <= payload_bytes);
    auto task = std::make_unique<Token>();
    task->type = &type;
    task->home.core = Home::no_worker;
    task->from = TaskNote::nowhere;
    std::ranges::copy(arguments, task->payload);
    task->holds = Holds::arguments;
    TaskLists::put(std::move(task));
}

ArrivedTasks::ArrivedTasks(Node& node)
    : TaskLists(node,
                node.schedule().stealing.amount == Stealing::Amount::donation ? node.topology().cores : 1),
      donates_(node.schedule().stealing.amount == Stealing::Amount::donation) {}

bool ArrivedTasks::may_begin() const {
    return !node_.hands_on();
}

// Those that came from other nodes go on only if more wait than the workers here can begin: a task that is
// handed on before a worker runs it could travel without end.
std::uint32_t ArrivedTasks::beyond_need() const {
    const std::uint32_t needed = node_.is_leaving() ? 0 : node_.cores();
    return size() > needed ? size() - needed : 0;
}

void ArrivedTasks::give(Gift& gift) {
    while (!donates_ && gift.wants_more() && beyond_need() != 0) {
        gift.leaves();
        const auto token = take(0);
        if (!token) break;
        token->holds = Holds::nothing;
        gift.add(*token->type, token->home, token->payload);
    }
}

bool ArrivedTasks::donate_one(Gift& gift, CoreId core) {
    if (beyond_need() == 0) return false;
    gift.leaves();
    const auto token = take_own(core);
    if (!token) return false;
    token->holds = Holds::nothing;
    gift.add(*token->type, token->home, token->payload);
    return true;
}

}  // namespace heddle::runtime
