// Computes the lower bound of a makespan. It is the largest of four: declared work over the speed of all
// cores, declared bytes over all memory bandwidth, calls of input and output over all disks, and the task
// graph's bound.
#include "results/lower_bound.hpp"

#include <algorithm>
#include <cstddef>

namespace heddle::results {

namespace {

/// What all cores compute together in a second, in flops, if every event that makes one faster came at once.
double speed_of_all(const Record& record) {
    double faster = 1;
    for (const NodeEvent& event : record.experiment.platform.events)
        faster = std::max(faster, event.speed.value_or(1));
    return record.topology.core_speed * record.topology.nodes * record.topology.cores * faster;
}

double machines(const Record& record) {
    return static_cast<double>(record.topology.nodes) / record.experiment.platform.processes;
}

/// The most that the cores of all machines stream together: on each as many of them as get the most.
double memory_bandwidth_of_all(const Record& record) {
    const Platform& platform = record.experiment.platform;
    const auto of_machine = [&](std::size_t streams) {
        const double shared = platform.memory_bandwidth.of(streams);
        if (platform.core_memory_bandwidth == 0) return shared;
        return std::min(shared, platform.core_memory_bandwidth * static_cast<double>(streams));
    };
    const auto cores = std::size_t{record.topology.cores} * platform.processes;
    double most = of_machine(cores);
    for (std::size_t streams = 1; streams < std::min(cores, platform.memory_bandwidth.by_streams().size());
         ++streams)
        most = std::max(most, of_machine(streams));
    return most * machines(record);
}

/// What all calls of input and output take, shared by the disks equally. A disk serves one call after the
/// other. Not the longest of the machines' own sums, because the schedule decides on which node a task calls.
double disk_seconds(const Record& record) {
    const Disk& disk = record.experiment.platform.disk;
    const runtime::Counters& total = record.result.total;
    const double calls = static_cast<double>(total.disk_calls) * to_seconds(disk.latency);
    return (calls + total.disk_bytes / disk.bandwidth) / machines(record);
}

bool has_gateways(const runtime::Topology& topology) {
    for (NodeId node = 0; topology.routes && node < topology.nodes; ++node)
        if (topology.routes->is_gateway(node)) return true;
    return false;
}

/// What the placement knows of the graph. Its plan has the messages of a network without events, and each on
/// one network; each gateway takes a whole fragment of it. If a run's messages may be faster, the bound is
/// that of the work alone.
std::optional<double> graph_seconds(const Record& record) {
    const Platform& platform = record.experiment.platform;
    if (!platform.events.empty()) return std::nullopt;
    const bool as_planned =
        platform.link_events.empty() && !platform.gateways.all_rails && !has_gateways(record.topology);
    return as_planned ? record.forecast.lower_bound_seconds : record.forecast.work_bound_seconds;
}

}  // namespace

std::optional<double> lower_bound_seconds(const Record& record) {
    const Platform& platform = record.experiment.platform;
    const runtime::Counters& total = record.result.total;
    if (record.experiment.backend != configs::Backend::sim || record.topology.core_speed <= 0 ||
        platform.noise.node > 0 || platform.noise.task > 0 ||
        record.experiment.compute == configs::Compute::measured)
        return std::nullopt;
    const double computing = total.declared_flops / speed_of_all(record);
    const double streaming = total.declared_bytes / memory_bandwidth_of_all(record);
    double bound = std::max({computing, streaming, disk_seconds(record)});
    bound = std::max(bound, graph_seconds(record).value_or(0));
    if (bound <= 0) return std::nullopt;

    // Virtual time counts whole picoseconds: each piece of work, or call, may end up to one earlier than
    // declared, and sums of doubles are rounded. Within that a run meets its bound.
    const double makespan = static_cast<double>(record.result.makespan.count()) / 1e12;
    const auto rounded = static_cast<double>(total.pieces + total.disk_calls);
    const double rounding = rounded * 1e-12 + makespan * 1e-9;
    return bound > makespan && bound - makespan <= rounding ? makespan : bound;
}

}  // namespace heddle::results
