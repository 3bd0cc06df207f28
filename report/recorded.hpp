// Reads the tables that `heddle run --record` wrote: the tasks of a run, and the states of its workers over
// time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/activity.hpp"
#include "base/time.hpp"
#include "report/runs.hpp"

namespace heddle::report {

struct RecordedTask {
    std::optional<std::uint64_t> number;  ///< in the task graph
    std::string name;
    std::string kernel;
    std::size_t worker = 0;  ///< index into Recorded::workers
    Time ready = never;      ///< `never`: not known
    Time start{};
    Time end{};
    bool stolen = false;
    std::uint32_t placed_node = 0;  ///< where it became ready
    std::vector<std::uint64_t> predecessors;
    /// Index of the predecessor whose data came last, as far as times tell; nothing if there is none.
    std::optional<std::size_t> enabler;
};

struct Stay {
    Activity activity = Activity::idle;
    Time begin{};
    Time end{};
};

struct RecordedWorker {
    std::uint32_t node = 0;
    std::uint32_t worker = 0;
    std::uint64_t tasks = 0;
    std::uint64_t stolen = 0;
    ActivityTimes times;
    std::vector<Stay> stays;               ///< one after the other, from zero to the makespan
    std::vector<std::size_t> tasks_begun;  ///< indices into Recorded::tasks, by start

    std::string name() const;
};

struct Recorded {
    Time makespan{};
    std::vector<RecordedTask> tasks;  ///< in the order in which they end
    std::vector<RecordedWorker> workers;
    std::map<std::uint64_t, std::size_t> by_number;  ///< tasks of the graph
    /// Each task has a number, and no task runs inside another one: so tasks and predecessors tell what the
    /// run waited for.
    bool is_graph = false;
};

/// Whether the worker of a task that has ended does nothing but scheduling until `time`: until then it tells
/// other tasks of that end, and can begin none.
bool schedules_until(const Recorded& recorded, const RecordedTask& ended, Time time);

/// Whether a run has all three tables.
bool is_recorded(const Run& run);

/// Reads the tables of a run. Throws Error if they cannot be read or do not fit together.
Recorded read_recorded(const Run& run);

}  // namespace heddle::report
