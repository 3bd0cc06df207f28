// Tells the recorder, if the run has one, when a task begins and ends, and what it did. It never changes what
// is charged or sent.
#pragma once

#include <cstdint>
#include <vector>

#include "base/recorder.hpp"
#include "runtime/core/task_type.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

class Strand;

/// What a recorded worker remembers for its next record.
struct Recording {
    TaskNote next;             ///< the origin of the task that the worker is about to run
    TaskWork declared;         ///< by the task that runs, so far
    std::vector<Time> forked;  ///< by slot index; empty where forks cost no time
};

/// A task's record, from `begin` to `end`. In between the task may move with its strand to another worker. A
/// task that is unwound does not end: the recorder cuts it off. The caller must see that the worker has a
/// recorder.
class OpenRecord {
public:
    /// `type`: TaskType::id, TaskNote::root or TaskNote::strand. `number`: the task's number in a task graph.
    [[gnu::cold]] void begin(Worker& worker, std::uint32_t type, std::uint64_t number = TaskNote::no_number);
    /// `worker`: the one that runs the task now.
    [[gnu::cold]] void end(Worker& worker);

private:
    TaskWork outer_;  ///< what the task below on the stack has declared
};

/// Lives as long as a task runs. Records nest as tasks do on a worker's stack.
class TaskRecord {
public:
    /// As OpenRecord::begin.
    TaskRecord(Worker& worker, std::uint32_t type, std::uint64_t number = TaskNote::no_number)
        : worker_(worker.recorder ? &worker : nullptr) {
        if (worker_) [[unlikely]]
            begin(type, number);
    }
    ~TaskRecord() {
        if (worker_) [[unlikely]]
            end();
    }
    TaskRecord(const TaskRecord&) = delete;
    TaskRecord& operator=(const TaskRecord&) = delete;

private:
    [[gnu::cold]] void begin(std::uint32_t type, std::uint64_t number);
    [[gnu::cold]] void end();

    Worker* worker_;
    const Strand* strand_ = nullptr;  ///< on whose stack the task runs; null: the worker's own
    OpenRecord record_;
};

}  // namespace heddle::runtime
