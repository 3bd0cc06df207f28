// A table of the tasks of a run, in CSV: a row for each task, in the order in which they end.
#pragma once

#include "results/trace_format.hpp"

namespace heddle::results {

class TaskTable final : public TraceFormat {
public:
    explicit TaskTable(TraceSink& sink) : sink_(sink) {}

    void begin(NodeId nodes, CoreId cores) override;
    void task_ends(const TracedTask& task, const TaskWork& work, Time time) override;
    void task_cut_off(const TracedTask& task, Time time) override;

private:
    TraceSink& sink_;
};

}  // namespace heddle::results
