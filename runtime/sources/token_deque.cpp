// Puts and takes tasks at both ends of the shared token queue under a lock.
#include "runtime/sources/token_deque.hpp"

#include <algorithm>

namespace heddle::runtime {

void TokenDeque::put(Context& caller, End end, const TaskType& type, std::span<const std::byte> arguments,
                     NodeId from) {
    take_turn(caller);
    LooseTask task;
    task.type = &type;
    task.from = from;
    std::ranges::copy(arguments, task.payload);
    size_.add();
    const SpinLock::Guard guard(lock_);
    if (end == End::latest) {
        tasks_.push_back(task);
    } else {
        tasks_.push_front(task);
    }
}

std::optional<LooseTask> TokenDeque::take(Context& caller, End end) {
    if (size() == 0) return std::nullopt;
    take_turn(caller);
    const SpinLock::Guard guard(lock_);
    if (tasks_.empty()) return std::nullopt;
    const LooseTask task = end == End::latest ? tasks_.back() : tasks_.front();
    if (end == End::latest) {
        tasks_.pop_back();
    } else {
        tasks_.pop_front();
    }
    size_.subtract();
    return task;
}

}  // namespace heddle::runtime
