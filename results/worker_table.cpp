// Adds up the states of each worker, and prints each stay when it ends.
#include "results/worker_table.hpp"

#include <fmt/format.h>

#include <string>

#include "results/exact_seconds.hpp"

namespace heddle::results {

void WorkerTable::begin(NodeId nodes, CoreId cores) {
    cores_ = cores;
    lines_.assign(std::size_t{nodes} * cores, {});
}

void WorkerTable::state(WorkerId worker, Activity activity, Time time, bool /*first*/) {
    Line& line = line_of(worker);
    line.times[line.activity] += time - line.since;
    line.activity = activity;
    line.since = time;
}

void WorkerTable::task_begins(const TracedTask& task) {
    Line& line = line_of(task.worker);
    ++line.tasks;
    if (task.stolen()) ++line.stolen;
}

void WorkerTable::states_end(Time time) {
    std::string header = "node,worker,tasks,stolen_tasks";
    for (const Activity activity : all_activities) header += fmt::format(",{}_seconds", name(activity));
    sink_.write(header + "\n");
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        Line& line = lines_[i];
        line.times[line.activity] += time - line.since;
        std::string row = fmt::format("{},{},{},{}", i / cores_, i % cores_, line.tasks, line.stolen);
        for (const Activity activity : all_activities) row += "," + exact_seconds(line.times[activity]);
        sink_.write(row + "\n");
    }
}

void Timeline::begin(NodeId nodes, CoreId cores) {
    cores_ = cores;
    stays_.assign(std::size_t{nodes} * cores, {});
    sink_.write("node,worker,state,start_seconds,end_seconds\n");
}

void Timeline::state(WorkerId worker, Activity activity, Time time, bool /*first*/) {
    const std::size_t place = std::size_t{worker.node} * cores_ + worker.core;
    write(place, time);  // also before the first state: a worker of which nothing was told is idle
    stays_[place] = {activity, time};
}

void Timeline::states_end(Time time) {
    for (std::size_t place = 0; place < stays_.size(); ++place) write(place, time);
}

void Timeline::write(std::size_t place, Time end) {
    const Stay& stay = stays_[place];
    if (end == stay.since) return;
    sink_.write(fmt::format("{},{},{},{},{}\n", place / cores_, place % cores_, name(stay.activity),
                            exact_seconds(stay.since), exact_seconds(end)));
}

}  // namespace heddle::results
