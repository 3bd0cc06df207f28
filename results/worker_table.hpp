// Writes tables of workers in CSV: what each did with its time (workers.csv), and when (timeline.csv).
#pragma once

#include <vector>

#include "results/trace_format.hpp"

namespace heddle::results {

/// A row for each worker: tasks, and the time in each state. In simulation a row's times sum up to the
/// makespan, to the picosecond.
class WorkerTable final : public TraceFormat {
public:
    explicit WorkerTable(TraceSink& sink) : sink_(sink) {}

    void begin(NodeId nodes, CoreId cores) override;
    void state(WorkerId worker, Activity activity, Time time, bool first) override;
    void task_begins(const TracedTask& task) override;
    void states_end(Time time) override;

private:
    struct Line {
        Activity activity = Activity::idle;
        Time since{};
        ActivityTimes times;
        std::uint64_t tasks = 0;
        std::uint64_t stolen = 0;
    };
    Line& line_of(WorkerId worker) { return lines_[std::size_t{worker.node} * cores_ + worker.core]; }

    TraceSink& sink_;
    CoreId cores_ = 0;
    std::vector<Line> lines_;
};

/// A row for each stay of a worker in a state, in the order in which the stays end. The stays of a worker
/// leave no gaps from zero to the makespan.
class Timeline final : public TraceFormat {
public:
    explicit Timeline(TraceSink& sink) : sink_(sink) {}

    void begin(NodeId nodes, CoreId cores) override;
    void state(WorkerId worker, Activity activity, Time time, bool first) override;
    void states_end(Time time) override;

private:
    struct Stay {
        Activity activity = Activity::idle;
        Time since{};
    };
    void write(std::size_t place, Time end);

    TraceSink& sink_;
    CoreId cores_ = 0;
    std::vector<Stay> stays_;
};

}  // namespace heddle::results
