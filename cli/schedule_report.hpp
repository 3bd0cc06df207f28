// Reports a schedule and its quality: as a table, as JSON, and as a file that can be read back. The
// schedulers themselves are in partitioners/schedulers/.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/machine_options.hpp"
#include "graphs/graph_file.hpp"
#include "partitioners/schedulers/schedule.hpp"

namespace heddle::cli {

/// What is scheduled, and on what.
struct ScheduleTask {
    std::string source;      ///< of the graph, as it was typed
    std::string graph_hash;  ///< of the graph as it was read
    const graphs::GraphFile& graph;
    const MachineChoice& machine;
    const schedulers::Problem& problem;
};

/// A schedule with the checker's judgement. Times are in the machine's unit.
struct JudgedSchedule {
    std::string scheduler;
    std::uint64_t seed = 0;
    schedulers::Schedule schedule;
    double seconds = 0;  ///< taken to make it, of real time
    double lower_bound = 0;
    std::vector<std::string> violations;

    bool feasible() const { return violations.empty(); }
    bool proved_optimal() const;
};

/// Checks. `lower_bound`: of the problem; a better one that the scheduler proved counts instead. Throws Error
/// for a makespan beyond the range of numbers.
JudgedSchedule judge(const ScheduleTask& task, std::string scheduler, std::uint64_t seed,
                     schedulers::Schedule schedule, double seconds, double lower_bound);

/// One row for each schedule.
std::string schedule_table(const ScheduleTask& task, const std::vector<JudgedSchedule>& schedules);

/// One object, a line for each task; what `--json` prints and `--out` writes.
std::string schedule_json(const ScheduleTask& task, const JudgedSchedule& judged);

/// An object with `schedules`, a list of such objects.
std::string schedules_json(const ScheduleTask& task, const std::vector<JudgedSchedule>& schedules);

/// Tells graphs apart by their tasks, edges, weights and costs, not by their names: 16 hexadecimal digits.
std::string graph_hash(const graphs::GraphFile& graph);

}  // namespace heddle::cli
