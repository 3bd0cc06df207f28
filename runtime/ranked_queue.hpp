// The tasks that wait for one worker in the order of a schedule: the worker takes the first, a thief the
// last. Any context of the node may put tasks in.
#pragma once

#include <atomic>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>

#include "runtime/spin_lock.hpp"
#include "runtime/task_type.hpp"

namespace heddle::runtime {

/// A task that was placed on its worker before the run, and whose data are there. Its payload begins with
/// `argument`.
struct RankedTask {
    std::uint64_t rank = 0;  ///< the lower, the earlier; no two of a node alike
    const TaskType* type = nullptr;
    std::uint64_t argument = 0;

    bool operator<(const RankedTask& other) const { return rank < other.rank; }
};

class RankedQueue {
public:
    void put(const RankedTask& task) {
        const SpinLock::Guard guard(lock_);
        tasks_.insert(task);
        size_.store(static_cast<std::uint32_t>(tasks_.size()), std::memory_order_seq_cst);
    }

    /// The task of the lowest rank, which its own worker runs next.
    std::optional<RankedTask> take_first() {
        return take([](const auto& tasks) { return tasks.begin(); });
    }

    /// The task of the highest rank: the one that its own worker would come to last.
    std::optional<RankedTask> take_last() {
        return take([](const auto& tasks) { return std::prev(tasks.end()); });
    }

    std::uint32_t size() const { return size_.load(std::memory_order_seq_cst); }

private:
    template <class Choose>
    std::optional<RankedTask> take(Choose choose) {
        if (size() == 0) return std::nullopt;
        const SpinLock::Guard guard(lock_);
        if (tasks_.empty()) return std::nullopt;
        const auto chosen = choose(tasks_);
        const RankedTask task = *chosen;
        tasks_.erase(chosen);
        size_.store(static_cast<std::uint32_t>(tasks_.size()), std::memory_order_seq_cst);
        return task;
    }

    SpinLock lock_;  ///< over `tasks_`
    std::set<RankedTask> tasks_;
    std::atomic<std::uint32_t> size_{0};
};

}  // namespace heddle::runtime
