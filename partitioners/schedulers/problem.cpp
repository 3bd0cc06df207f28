// Checks a machine and prepares the means that schedulers ask for again and again.
#include "partitioners/schedulers/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace heddle::schedulers {

namespace {

void check_cost(const MessageCost& cost, const char* where) {
    if (cost.latency >= 0 && cost.time_per_byte >= 0 && std::isfinite(cost.latency) &&
        std::isfinite(cost.time_per_byte)) {
        return;
    }
    throw Error(fmt::format("messages {} take {} and {} a byte", where, cost.latency, cost.time_per_byte),
                "latency and time per byte are numbers, 0 or more");
}

void check_speed(double speed) {
    if (!(speed > 0 && std::isfinite(speed))) {
        throw Error(fmt::format("a processor has speed {}", speed),
                    "a speed is a number of flops per unit of time, above 0");
    }
}

void check(const Machine& machine, TaskIndex tasks) {
    if (machine.processors == 0 || machine.processors_per_node == 0) {
        throw Error("a machine without processors", "give at least one processor and one processor a node");
    }
    const bool tables = !machine.speeds.empty() || !machine.times.empty();
    if (tables && machine.processors == unbounded) {
        throw Error("a table of speeds or times for an unbounded number of processors",
                    "say how many processors there are");
    }
    if (!machine.speeds.empty() && machine.speeds.size() != machine.processors) {
        throw Error(fmt::format("{} speeds for {} processors", machine.speeds.size(), machine.processors),
                    "give one speed a processor");
    }
    if (!machine.times.empty() && machine.times.size() != std::size_t{tasks} * machine.processors) {
        throw Error(fmt::format("{} times for {} tasks on {} processors", machine.times.size(), tasks,
                                machine.processors),
                    "give one time for each task on each processor");
    }
    check_speed(machine.speed);
    for (const double speed : machine.speeds) check_speed(speed);
    for (const double time : machine.times) {
        if (!(time >= 0 && std::isfinite(time))) {
            throw Error(fmt::format("a task takes {}", time), "a time is a number, 0 or more");
        }
    }
    check_cost(machine.within_node, "within a node");
    check_cost(machine.between_nodes, "between nodes");
}

}  // namespace

Machine Machine::equal(ProcessorIndex processors) {
    Machine machine;
    machine.processors = processors;
    machine.between_nodes.time_per_byte = 1;
    return machine;
}

Machine Machine::without_communication(ProcessorIndex processors) {
    Machine machine;
    machine.processors = processors;
    return machine;
}

Machine Machine::unrelated(ProcessorIndex processors, std::vector<double> times) {
    Machine machine = equal(processors);
    machine.times = std::move(times);
    return machine;
}

Machine Machine::nodes(WorkerGrid grid, double speed, MessageCost within_node, MessageCost between_nodes) {
    Machine machine;
    if (grid.workers() >= unbounded) throw Error("too many processors", "a machine has up to 4294967294");
    machine.processors = static_cast<ProcessorIndex>(grid.workers());
    machine.processors_per_node = grid.cores;
    machine.speed = speed;
    machine.within_node = within_node;
    machine.between_nodes = between_nodes;
    return machine;
}

Problem::Problem(const TaskGraph& graph, Machine machine) : graph_(&graph), machine_(std::move(machine)) {
    check(machine_, graph.tasks());
    processors_ = is_unbounded() ? std::max<TaskIndex>(graph.tasks(), 1) : machine_.processors;
    equal_speeds_ = machine_.times.empty() && machine_.speeds.empty();
    const bool equal_distances = machine_.within_node.latency == machine_.between_nodes.latency &&
                                 machine_.within_node.time_per_byte == machine_.between_nodes.time_per_byte;
    single_ = machine_.processors_per_node == 1 || equal_distances;

    if (is_unbounded()) {
        mean_delay_ = machine_.between_nodes;
    } else if (processors_ > 1) {
        const double all = processors_, each = single_ ? 1 : machine_.processors_per_node;
        const double full_nodes = std::floor(all / each), rest = all - full_nodes * each;
        const double near =
            (full_nodes * each * (each - 1) + rest * std::max(rest - 1, 0.0)) / (all * (all - 1));
        const auto mean = [near](double within, double between) {
            return near * within + (1 - near) * between;
        };
        mean_delay_ = {mean(machine_.within_node.latency, machine_.between_nodes.latency),
                       mean(machine_.within_node.time_per_byte, machine_.between_nodes.time_per_byte)};
    }
    if (equal_speeds_) return;
    mean_times_.reserve(graph.tasks());
    least_times_.reserve(graph.tasks());
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        double sum = 0, least = time(task, 0);
        for (ProcessorIndex processor = 0; processor < processors_; ++processor) {
            sum += time(task, processor);
            least = std::min(least, time(task, processor));
        }
        mean_times_.push_back(sum / processors_);
        least_times_.push_back(least);
    }
}

std::pair<ProcessorIndex, ProcessorIndex> Problem::processors_of(ProcessorIndex node) const {
    if (single_) return {node, node + 1};
    const ProcessorIndex each = machine_.processors_per_node;
    const std::uint64_t first = std::uint64_t{node} * each;
    return {static_cast<ProcessorIndex>(first),
            static_cast<ProcessorIndex>(std::min<std::uint64_t>(first + each, processors_))};
}

}  // namespace heddle::schedulers
