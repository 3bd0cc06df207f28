// Gives the tokens of a node's shared queue to its workers, the latest first, and to other nodes, the oldest
// first.
#include "runtime/sources/shared_tokens.hpp"

#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/sources/gift.hpp"

namespace heddle::runtime {

void SharedTokens::put(Worker& worker, const TaskType& type, std::span<const std::byte> arguments) {
    tokens_.put(worker, TokenDeque::End::latest, type, arguments);
    node_.wake_one(worker);
    if (node_.steals().anybody_waits()) node_.steals().serve_waiting(worker.outbox());
}

void SharedTokens::put_arrived(const TaskType& type, std::span<const std::byte> arguments, NodeId from) {
    tokens_.put(node_.receiver(), TokenDeque::End::oldest, type, arguments, from);
}

std::optional<LooseTask> SharedTokens::take(Worker& worker) {
    if (node_.hands_on()) [[unlikely]]
        return std::nullopt;
    auto task = tokens_.take(worker, TokenDeque::End::latest);
    if (task) worker.count_task(task->from);
    return task;
}

bool SharedTokens::run(Worker& worker, Slot* head) {
    return worker.take_and_run([&] { return take(worker); },
                               [&](LooseTask& task) { worker.execute(*task.type, head, task.payload); });
}

// As many stay as there are workers without work.
void SharedTokens::give(Gift& gift) {
    const std::uint32_t stay = node_.is_leaving() ? 0 : node_.cores() - node_.active().size();
    while (gift.wants_more() && size() > stay) {
        gift.leaves();
        const auto task = tokens_.take(gift.outbox().context(), TokenDeque::End::oldest);
        if (!task) break;
        gift.add(*task->type, task->payload);
    }
}

}  // namespace heddle::runtime
