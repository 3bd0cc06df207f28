// The tasks that wait for one worker in the order of a schedule: the worker takes the first, a thief the
// last. Any worker of the node, or its receiver, may put tasks in.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "runtime/core/spin_lock.hpp"
#include "runtime/core/task_type.hpp"
#include "runtime/sources/min_max_heap.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

/// A task that was placed on its worker before the run, and whose data are there. Its payload begins with
/// `argument`.
struct RankedTask {
    std::uint64_t rank = 0;  ///< the lower, the earlier; no two of a node alike
    const TaskType* type = nullptr;
    std::uint64_t argument = 0;

    bool operator<(const RankedTask& other) const { return rank < other.rank; }
};

/// Ranked tasks of one worker. Mostly they become ready in the order of their ranks. These are in a sorted
/// row, whose first and last task are found at once; only the others are in a heap.
class RankedTasks {
public:
    std::size_t size() const { return size_; }

    void push(const RankedTask& task) {
        ++size_;
        if (begin_ == row_.size()) {
            row_.clear();
            begin_ = 0;
        } else if (task < row_.back()) {
            return others_.push(task);
        } else if (2 * begin_ > row_.size() && begin_ >= few) {
            row_.erase(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(begin_));
            begin_ = 0;
        }
        row_.push_back(task);
    }

    /// The task of the lowest rank. Not empty.
    const RankedTask& first() const { return first_in_row() ? row_[begin_] : others_.first(); }

    /// Of the lowest rank. Not empty.
    RankedTask pop_first() {
        --size_;
        return first_in_row() ? row_[begin_++] : others_.pop_first();
    }

    /// Of the highest rank. Not empty.
    RankedTask pop_last() {
        --size_;
        if (begin_ == row_.size() || (!others_.empty() && row_.back() < others_.last()))
            return others_.pop_last();
        const RankedTask last = row_.back();
        row_.pop_back();
        return last;
    }

private:
    bool first_in_row() const {
        const auto next = row_.begin() + static_cast<std::ptrdiff_t>(begin_);
        return next != row_.end() && (others_.empty() || *next < others_.first());
    }

    static constexpr std::size_t few = 32;  ///< gone from the beginning, until their room is used again

    std::size_t size_ = 0;
    std::vector<RankedTask> row_;
    std::size_t begin_ = 0;
    MinMaxHeap<RankedTask> others_;
};

/// The ranked tasks of one worker, for all contexts of its node. Its node counts the queues that have tasks:
/// that changes less often than the number of tasks.
class RankedQueue {
public:
    /// The first task is counted in `nonempty` before it is in the queue.
    void put(const RankedTask& task, WaitingCount& nonempty) {
        const SpinLock::Guard guard(lock_);
        if (tasks_.size() == 0) nonempty.add();
        tasks_.push(task);
        show(std::memory_order_seq_cst);
    }

    struct Taken {
        RankedTask task;
        /// The queue is empty now. The thread that took the task counts `nonempty` down, but first shows
        /// itself active, or the task leaving.
        bool last = false;
    };

    /// The task of the lowest rank, which its own worker runs next.
    std::optional<Taken> take_first() {
        return take(0, [](auto& tasks) { return tasks.pop_first(); });
    }

    /// For a thief: the task of the highest rank, which its own worker would come to last. Null if all are
    /// reserved.
    std::optional<Taken> take_last() {
        return take(reserved_.load(std::memory_order_seq_cst), [](auto& tasks) { return tasks.pop_last(); });
    }

    std::uint32_t size() const { return size_.load(std::memory_order_seq_cst); }

    /// Leaves the owner its first `tasks` tasks (0 or 1): 1 if it will run one without being asked to,
    /// because it is idle or about to end a task; 0 while it is busy. Called by the owner only.
    void reserve(std::uint32_t tasks, std::memory_order order) { reserved_.store(tasks, order); }

    /// How many tasks a thief may take.
    std::uint32_t stealable() const {
        const std::uint32_t tasks = size();
        const std::uint32_t reserved = reserved_.load(std::memory_order_seq_cst);
        return tasks > reserved ? tasks - reserved : 0;
    }

    /// The lowest rank, or `no_rank`. Another context may be changing it.
    std::uint64_t first_rank() const { return first_rank_.load(std::memory_order_relaxed); }
    static constexpr std::uint64_t no_rank = std::numeric_limits<std::uint64_t>::max();

private:
    /// Leaves `left` tasks.
    template <class Pop>
    std::optional<Taken> take(std::uint32_t left, Pop pop) {
        if (size() <= left) return std::nullopt;
        const SpinLock::Guard guard(lock_);
        if (tasks_.size() <= left) return std::nullopt;
        const RankedTask task = pop(tasks_);
        // A stale size costs a thief one failed attempt.
        show(std::memory_order_release);
        return Taken{task, tasks_.size() == 0};
    }

    void show(std::memory_order order) {
        first_rank_.store(tasks_.size() == 0 ? no_rank : tasks_.first().rank, std::memory_order_relaxed);
        size_.store(static_cast<std::uint32_t>(tasks_.size()), order);
    }

    std::atomic<std::uint32_t> size_{0};
    std::atomic<std::uint32_t> reserved_{1};
    std::atomic<std::uint64_t> first_rank_{no_rank};
    SpinLock lock_;  ///< over `tasks_`
    RankedTasks tasks_;
};

}  // namespace heddle::runtime
