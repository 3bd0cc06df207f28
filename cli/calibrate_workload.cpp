// Compares what a workload declares with what one core takes for it.
#include "cli/calibrate_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "base/units.hpp"
#include "calibration/readings.hpp"
#include "cli/text_table.hpp"
#include "cli/verbs.hpp"
#include "cli/worlds.hpp"
#include "runtime/run/execution.hpp"

namespace heddle::cli {

namespace {

enum class Charged : bool { work_alone, overheads_too };

/// The experiment on one core of that world.
configs::Experiment on_one_core(const std::string& file, const OverrideOptions& options,
                                const std::string& backend, Charged charged) {
    std::vector<configs::Override> overrides = overrides_of(options);
    const std::string origin = "heddle calibrate --workload";
    overrides.push_back({"backend", backend, origin});
    overrides.push_back({"platform.nodes", "1", origin});
    overrides.push_back({"platform.cores", "1", origin});
    if (backend == "sim") {
        // What is declared is compared with what is taken, not one measurement with another.
        overrides.push_back({"platform.compute", "declared", origin});
        for (const char* key : {"platform.noise.node", "platform.noise.task"})
            overrides.push_back({key, "0", origin});
    }
    if (charged == Charged::work_alone) overrides.push_back({"platform.overheads", "none", origin});
    configs::Experiment experiment = configs::read_experiment(file, overrides);
    settle(experiment, part_of_this_process());
    return experiment;
}

runtime::RunResult run_checked(const configs::Experiment& experiment) {
    const auto workload = experiment.make_workload();
    const auto world = make_world(experiment);
    workload->prepare(cluster_view(experiment, *world), experiment.schedule);
    runtime::Execution execution(*world, experiment.schedule,
                                 [&workload](NodeId node) { return workload->program(node); });
    runtime::RunResult result = execution.run();
    const workloads::Verdict verdict = workload->check(result);
    if (verdict.kind == workloads::Verdict::Kind::wrong)
        throw Error(fmt::format("{} gave a wrong answer: {}", experiment.kind->name, verdict.reason));
    return result;
}

}  // namespace

int calibrate_workload(const std::string& file, const OverrideOptions& overrides, std::uint32_t repetitions) {
    const auto simulated = [&](Charged charged) {
        return run_checked(on_one_core(file, overrides, "sim", charged));
    };
    const runtime::RunResult declared = simulated(Charged::work_alone);
    const double work = to_seconds(declared.makespan);
    if (work <= 0)
        throw Error("the workload declares no work",
                    "declare some (Strand::work, Worker::compute), as docs/own_workloads.md shows");
    const double overheads = to_seconds(simulated(Charged::overheads_too).makespan) - work;
    const configs::Experiment real = on_one_core(file, overrides, "native", Charged::overheads_too);
    std::vector<double> seconds;
    (void)run_checked(real);  // the first run meets cold caches and pages
    for (std::uint32_t i = 0; i < repetitions; ++i) seconds.push_back(to_seconds(run_checked(real).makespan));
    std::ranges::sort(seconds);
    const double taken = calibration::median(seconds);
    const auto& total = declared.total;
    const configs::Experiment described = on_one_core(file, overrides, "sim", Charged::work_alone);
    std::cout << fmt::format("{}: {} on one core\n", described.name, described.kind->name)
              << columns(
                     {{"  declared",
                       fmt::format("{} and {}, in {} tasks", print_flops(std::round(total.declared_flops)),
                                   show_bytes(total.declared_bytes), grouped(total.tasks))},
                      {"  that is",
                       fmt::format("{} at {} and {}, and {} of overheads", show_seconds(work),
                                   print_flops(described.platform.core_speed),
                                   print_bandwidth(described.platform.memory_bandwidth.by_streams().front()),
                                   show_seconds(overheads))},
                      {"  taken", fmt::format("{} ({} to {}, {} runs)", show_seconds(taken),
                                              show_seconds(seconds.front()), show_seconds(seconds.back()),
                                              repetitions)}},
                     2);
    const double rest = taken - overheads;
    if (rest <= 0) {
        std::cout << "  the overheads alone are more than that: calibrate the platform first\n";
        return success;
    }
    std::cout << fmt::format("  declare {:.3g} times as much\n", rest / work);
    return success;
}

}  // namespace heddle::cli
