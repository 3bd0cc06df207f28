// Lists the micro-benchmarks (probes) of a calibration, runs one, and takes its times.
#include "calibration/probe.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::calibration {

std::uint64_t Effort::operations(std::uint64_t stated) const {
    return std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::llround(scale * static_cast<double>(stated))));
}

runtime::Schedule quiet_schedule() {
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    return schedule;
}

std::vector<Probe> probes(const Effort& effort, const Reach& reach) {
    std::vector<Probe> all = {local_probe(effort),
                              tree_probe(effort),
                              shared_tree_probe(effort),
                              strand_probe(effort),
                              endpoint_probe(effort),
                              closure_probe(effort),
                              thread_message_probe(effort),
                              token_probe(effort),
                              speed_probe(effort),
                              kernel_probe(effort),
                              memory_probe(effort, reach.cores),
                              placed_task_probe(effort),
                              placed_input_probe(effort)};
    if (reach.cores > 1) {
        all.push_back(elsewhere_probe(effort));
        all.push_back(thief_probe(effort));
        all.push_back(readiness_probe(effort));
        all.push_back(wake_probe(effort));
        if (reach.far_core != 0) all.push_back(far_look_probe(effort, reach.far_core, reach.cores));
    }
    if (reach.nodes < 2) return all;
    all.push_back(round_trip_probe(effort));
    all.push_back(receiving_probe(effort));
    if (reach.cores > 1) all.push_back(enqueue_probe(effort));
    all.push_back(send_probe(effort));
    all.push_back(receive_probe(effort, 2));
    all.push_back(poll_probe(effort, 2));
    all.push_back(asleep_probe(effort));
    if (reach.nodes > 2) all.push_back(receive_probe(effort, 3));
    all.push_back(page_probe(effort));
    return all;
}

Readings run(const Probe& probe, runtime::Backend& backend) {
    runtime::Execution execution(backend, probe.schedule, probe.make);
    const runtime::RunResult result = execution.run();
    Readings all;
    if (!result.complete) return all;
    for (const runtime::Bytes& evidence : result.evidence) {
        Readings of_node = from_bytes(evidence);
        std::ranges::move(of_node, std::back_inserter(all));
    }
    return all;
}

void ProbeProgram::read(runtime::Worker& worker, const std::string& quantity, double size,
                        std::initializer_list<std::uint64_t> counts,
                        const std::function<void(std::uint64_t)>& code) {
    std::vector<std::uint64_t> order(counts);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[worker.random().below(i)]);
    for (const std::uint64_t count : order) {
        settle(worker);
        const double begin = seconds_now(worker);
        code(count);
        add({quantity, size, static_cast<double>(count), seconds_now(worker) - begin});
    }
}

}  // namespace heddle::calibration
