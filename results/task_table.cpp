// Prints a line of CSV for each task of a run when the task ends.
#include "results/task_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/csv_table.hpp"
#include "results/exact_seconds.hpp"

namespace heddle::results {

namespace {

std::string number_or_nothing(bool known, std::uint64_t number) {
    return known ? std::to_string(number) : "";
}

}  // namespace

void TaskTable::begin(NodeId /*nodes*/, CoreId /*cores*/) {
    sink_.write(
        "task,name,kernel,node,worker,placed_node,placed_worker,ready_seconds,start_seconds,end_seconds,"
        "stolen_from_node,stolen_from_worker,flops,bytes,predecessors\n");
}

void TaskTable::task_ends(const TracedTask& task, const TaskWork& work, Time time) {
    const WorkerId placed = task.placed.value_or(WorkerId{});
    const WorkerId victim = task.note.victim;
    sink_.write(fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
        number_or_nothing(task.numbered(), task.note.number), csv_cell(task.name), csv_cell(task.kernel),
        task.worker.node, task.worker.core, number_or_nothing(task.placed.has_value(), placed.node),
        number_or_nothing(task.placed.has_value(), placed.core), exact_seconds(task.note.ready),
        exact_seconds(task.begin), exact_seconds(time), number_or_nothing(task.stolen(), victim.node),
        number_or_nothing(task.stolen() && victim.core != TaskNote::nowhere, victim.core), work.flops,
        work.bytes, fmt::join(task.predecessors, " ")));
}

void TaskTable::task_cut_off(const TracedTask& task, Time time) {
    task_ends(task, {}, time);
}

}  // namespace heddle::results
