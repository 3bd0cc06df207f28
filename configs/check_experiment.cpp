// What no single value of an experiment shows: values that exclude each other, and files that are in the way.
#include "configs/check_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/output_file.hpp"
#include "base/paths.hpp"
#include "configs/output_files.hpp"
#include "workloads/work_kinds.hpp"

namespace heddle::configs {

namespace {

/// No path is one that results cannot name. No output would replace an input before or while it is read.
void check_paths(const Experiment& experiment) {
    const std::vector<std::string> inputs = files_read(experiment);
    std::ranges::for_each(inputs, expect_utf8);
    for (const NamedOutput& output : output_files(experiment)) {
        expect_utf8(output.path);
        if (replaces_one_of(output.path, inputs))
            throw Error(fmt::format("{} is {}, which the run reads", output.key, output.path),
                        "name another file for the output", output.where);
    }
}

/// The file that `platform.from` names says what holds unless the experiment differs.
bool is_from_base(const Location& where, const Experiment& experiment) {
    return !experiment.platform_from.empty() && where.file == experiment.platform_from;
}

/// A kernel that no workload has would have no effect; that of a base may come from a program with more
/// workloads. The resolved configuration states the base's kernels too.
void check_kernels(const Experiment& experiment, const std::vector<std::string>& base_kernels) {
    std::vector<std::string> known = base_kernels;
    for (const Kernel& kernel : workloads::kernels()) known.push_back(kernel.name);
    for (const KernelSpeed& one : experiment.kernels)
        if (std::ranges::find(known, one.kernel) == known.end())
            throw Error(fmt::format("platform.kernels: no workload has a kernel \"{}\"", one.kernel),
                        nearest_advice(one.kernel, known), experiment.where("platform.kernels"));
}

}  // namespace

void check_together(const Experiment& experiment, const std::vector<std::string>& base_kernels) {
    const auto& stealing = experiment.schedule.stealing;
    if (stealing.back_off_min > stealing.back_off_max) {
        const char* key = experiment.is_stated("schedule.stealing.back_off_max")
                              ? "schedule.stealing.back_off_max"
                              : "schedule.stealing.back_off_min";
        throw Error("schedule.stealing.back_off_min is more than back_off_max", "state both",
                    experiment.where(key));
    }
    if (experiment.reads_placement() && experiment.schedule.placement_file.empty())
        throw Error(
            "placement: file, and no file is named",
            "state schedule.placement_file, a table with the worker of each task (docs/schedulers.md)",
            experiment.where("schedule.placement"));
    check_kernels(experiment, base_kernels);
    check_paths(experiment);
    const auto workload = experiment.make_workload();
    if (experiment.platform.nodes < 2) return;
    for (const runtime::TaskType* task : workload->tasks()) {
        if (task->travels()) continue;
        const char* key = experiment.is_stated("platform.nodes") ? "platform.nodes" : "workload.name";
        throw Error(
            fmt::format("{} cannot run on {} nodes: the arguments or the result of its task {} cannot leave "
                        "their node",
                        experiment.kind->name, experiment.platform.nodes, task->name()),
            "set platform.nodes to 1, or give the task arguments of plain bytes without addresses",
            experiment.where(key));
    }
}

void check_networks(const Platform& platform, const Experiment& experiment) {
    if (platform.networks.empty()) return;
    const std::pair<std::string, bool> states[] = {{"shape", !platform.network.shape.empty()},
                                                   {"cables", !platform.network.cables.empty()}};
    for (const auto& [name, says_something] : states) {
        const std::string key = "platform.network." + name;
        if (!says_something || !experiment.is_stated(key) || is_from_base(experiment.where(key), experiment))
            continue;
        throw Error(fmt::format("{} is stated beside platform.networks", key),
                    fmt::format("state `{}` in the entry of each network that has it", name),
                    experiment.where(key));
    }
}

}  // namespace heddle::configs
