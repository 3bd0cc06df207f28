// Checks the machine of a list scheduler, and computes mean times and delays, which schedulers use often.
#include "partitioners/schedulers/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

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
    if (machine.routes && !machine.routes->uniform() &&
        std::uint64_t{machine.routes->nodes()} * machine.processors_per_node < machine.processors) {
        throw Error("there are more processors than the routes have nodes for",
                    "give the routes between all nodes");
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

Machine Machine::of_cluster(const ClusterView& cluster, std::span<const std::vector<double>> costs) {
    Machine machine =
        nodes(cluster.grid, cluster.core_speed, {}, {cluster.message_seconds, cluster.seconds_per_byte});
    machine.speeds = cluster.speeds;
    machine.routes = cluster.routes;
    machine.bytes_besides = cluster.bytes_besides;
    machine.set_costs(costs);
    return machine;
}

void Machine::set_costs(std::span<const std::vector<double>> costs) {
    times.clear();
    if (costs.empty()) return;
    if (costs.front().size() != processors) {
        throw Error(fmt::format("the graph's costs are for {} processors, and the machine has {}",
                                costs.front().size(), processors),
                    fmt::format("choose platform.nodes and platform.cores so that there are {} workers",
                                costs.front().size()));
    }
    times.reserve(costs.size() * processors);
    for (const std::vector<double>& row : costs) {
        for (ProcessorIndex i = 0; i < processors; ++i)
            times.push_back(row[i] / (speeds.empty() ? speed : speeds[i]));
    }
}

Problem::Problem(const TaskGraph& graph, Machine machine) : graph_(&graph), machine_(std::move(machine)) {
    check(machine_, graph.tasks());
    processors_ = is_unbounded() ? std::max<TaskIndex>(graph.tasks(), 1) : machine_.processors;
    std::vector<double>& speeds = machine_.speeds;
    if (!speeds.empty() && std::equal(speeds.begin() + 1, speeds.end(), speeds.begin())) {
        machine_.speed = speeds.front();
        speeds.clear();
    }
    equal_speeds_ = machine_.times.empty() && speeds.empty();
    equal_distances_ = !machine_.routes || machine_.routes->uniform();
    const bool all_far = !machine_.routes && machine_.within_node.latency == machine_.between_nodes.latency &&
                         machine_.within_node.time_per_byte == machine_.between_nodes.time_per_byte;
    single_ = machine_.processors_per_node == 1 || all_far;
    mean_delay_ = mean_cost();
    if (machine_.routes) routes_bounds_ = machine_.routes->bounds();
    if (in_picoseconds()) refuse_endless_tasks();
    if (!equal_speeds_) find_times();
    find_least_work_time();
}

MessageCost Problem::mean_cost() const {
    MessageCost between = machine_.between_nodes;
    if (machine_.routes) {
        const RouteTable::Mean mean = machine_.routes->mean();
        between = {mean.latency + machine_.bytes_besides * mean.seconds_per_byte, mean.seconds_per_byte};
    }
    if (is_unbounded()) return between;
    if (processors_ < 2) return {};
    const double all = processors_, each = single_ ? 1 : machine_.processors_per_node;
    const double full_nodes = std::floor(all / each), rest = all - full_nodes * each;
    const double near = (full_nodes * each * (each - 1) + rest * std::max(rest - 1, 0.0)) / (all * (all - 1));
    const auto mean = [near](double within, double far) { return near * within + (1 - near) * far; };
    return {mean(machine_.within_node.latency, between.latency),
            mean(machine_.within_node.time_per_byte, between.time_per_byte)};
}

/// A task takes longest on the slowest processor, or where its table of times says so.
void Problem::refuse_endless_tasks() const {
    const std::vector<double>& speeds = machine_.speeds;
    const auto slowest =
        static_cast<ProcessorIndex>(std::min_element(speeds.begin(), speeds.end()) - speeds.begin());
    for (TaskIndex task = 0; task < tasks(); ++task) {
        ProcessorIndex worst = speeds.empty() ? 0 : slowest;
        for (ProcessorIndex i = 0; !machine_.times.empty() && i < processors_; ++i)
            if (unrounded_time(task, i) > unrounded_time(task, worst)) worst = i;
        const double seconds = unrounded_time(task, worst);
        if (seconds < to_seconds(last_moment)) continue;
        throw Error(fmt::format("{} takes {} s on processor {}, and virtual time ends after 106 days "
                                "(9.2e6 s)",
                                graph_->name(task), seconds, worst),
                    "make the graph's tasks shorter, or the cores faster");
    }
}

void Problem::find_times() {
    mean_times_.reserve(tasks());
    least_times_.reserve(tasks());
    for (TaskIndex task = 0; task < tasks(); ++task) {
        double sum = 0, least = time(task, 0);
        for (ProcessorIndex processor = 0; processor < processors_; ++processor) {
            sum += time(task, processor);
            least = std::min(least, time(task, processor));
        }
        mean_times_.push_back(sum / processors_);
        least_times_.push_back(least);
    }
}

// In time T a processor of speed s does s T of the work at most; of more processors than tasks, only as many
// of the fastest can be used as there are tasks.
void Problem::find_least_work_time() {
    const double used = std::min<double>(processors_, std::max<TaskIndex>(tasks(), 1));
    double sum = 0;
    if (machine_.speeds.empty() || !machine_.times.empty()) {
        for (TaskIndex task = 0; task < tasks(); ++task) sum += least_time(task) / used;
        least_work_time_ = sum;
        return;
    }
    std::vector<double> speeds = machine_.speeds;
    std::sort(speeds.begin(), speeds.end(), std::greater<>());
    speeds.resize(static_cast<std::size_t>(used));
    for (const double speed : speeds) sum += speed;
    // A time may be rounded down by half a picosecond.
    const double rounding = in_picoseconds() ? 0.5e-12 * static_cast<double>(tasks()) / used : 0;
    least_work_time_ = std::max(0.0, graph_->total_work() / sum - rounding);
}

double Problem::least_delay(double bytes) const {
    double between = machine_.between_nodes.of(bytes);
    if (in_picoseconds()) {
        const RouteTable::Mean& least = routes_bounds_.least;
        const double carried = std::round(bytes) + machine_.bytes_besides;
        between = std::max(0.0, (least.latency + carried * least.seconds_per_byte) * (1 - 1e-12) - 1e-12);
    }
    const bool near = machine_.processors_per_node > 1;
    return near ? std::min(between, machine_.within_node.of(bytes)) : between;
}

double Problem::most_delay(double bytes) const {
    double between = machine_.between_nodes.of(bytes);
    if (in_picoseconds()) {
        const RouteTable::Mean& most = routes_bounds_.most;
        const double carried = std::round(bytes) + machine_.bytes_besides;
        // An infinite time of a byte is no number if nothing is carried.
        between = std::isfinite(most.latency)
                      ? (most.latency + carried * most.seconds_per_byte) * (1 + 1e-12) + 1e-12
                      : most.latency;
    }
    return std::max(between, machine_.within_node.of(bytes));
}

ProcessorIndex Problem::same_time_until(TaskIndex task, ProcessorIndex processor, ProcessorIndex end) const {
    if (equal_speeds_) return end;
    const double* const figures = machine_.times.empty()
                                      ? machine_.speeds.data()
                                      : machine_.times.data() + std::size_t{task} * machine_.processors;
    ProcessorIndex last = processor + 1;
    while (last < end && figures[last] == figures[processor]) ++last;
    return last;
}

std::pair<ProcessorIndex, ProcessorIndex> Problem::processors_of(ProcessorIndex node) const {
    if (single_) return {node, node + 1};
    const ProcessorIndex each = machine_.processors_per_node;
    const std::uint64_t first = std::uint64_t{node} * each;
    return {static_cast<ProcessorIndex>(first),
            static_cast<ProcessorIndex>(std::min<std::uint64_t>(first + each, processors_))};
}

}  // namespace heddle::schedulers
