// Explains why a recorded run took as long as it did: finds its critical path, and divides each worker's time
// among causes. In simulation all sums are exact to the picosecond.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "report/recorded.hpp"

namespace heddle::report {

enum class Cause : std::uint8_t {
    work,       ///< user work
    scheduler,  ///< operations in and around tasks
    message,    ///< data or a result on their way from another node
    steal,      ///< attempts to steal, and tasks on their way to their thief
    wake_up,    ///< a task was ready, and its worker rested
    no_task,    ///< no task was ready
};

inline constexpr std::array all_causes = {Cause::work,  Cause::scheduler, Cause::message,
                                          Cause::steal, Cause::wake_up,   Cause::no_task};

/// For people.
const char* name(Cause cause);

class CauseTimes {
public:
    Time& operator[](Cause cause) { return times_[static_cast<std::size_t>(cause)]; }
    Time operator[](Cause cause) const { return times_[static_cast<std::size_t>(cause)]; }
    Time sum() const;

private:
    std::array<Time, all_causes.size()> times_{};
};

/// A task of the critical path, and what passed between the end of the one before it and its start.
struct PathStep {
    std::size_t task = 0;  ///< index into Recorded::tasks
    CauseTimes before;
    CauseTimes within;  ///< of the task itself: its worker's states while it ran
};

/// Walks back from the task that ends last. What a task waited for is the task before it on its worker, if
/// that one kept the worker busy until it was ready; else the predecessor whose data came last. Times of the
/// steps, in order, sum up to the end of the last task. The run must be a graph (Recorded::is_graph). Throws
/// Error if tasks of a damaged record wait for each other.
std::vector<PathStep> critical_path(const Recorded& recorded);

/// The causes of each worker's time, in the order of Recorded::workers. Each sums up to the makespan. Rest
/// before a task of the graph is divided: until the end of that predecessor no task was ready; until its
/// data came there was a message, if the predecessor ran on another node; then it was ready. Where that is
/// not known, waiting counts as a message and idleness as no task.
std::vector<CauseTimes> causes_of_workers(const Recorded& recorded);

/// Time of all tasks, and of the longest chain of predecessors. The run must be a graph.
struct WorkAndSpan {
    TimeSum work{};
    Time span{};
};
WorkAndSpan work_and_span(const Recorded& recorded);

}  // namespace heddle::report
