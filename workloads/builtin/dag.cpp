// dag: runs a task graph, read or generated, placed before the run; tasks may be stolen. A task lasts as long
// as the graph says, and passes on a number computed from those of its predecessors. So the answer shows
// whether each task ran once, after its predecessors, with their data.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <optional>

#include "graphs/graph_source.hpp"
#include "graphs/kernel_costs.hpp"
#include "model/placed_graph.hpp"
#include "workloads/exact_sum.hpp"
#include "workloads/placed_run.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using model::PlacedGraph;
using model::Strand;

/// A task's number made of its predecessors'. Mixes well and costs little (the finalizer of splitmix64).
std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

class DagProgram final : public model::PlacedGraphProgram {
public:
    DagProgram(const PlacedGraph& plan, const graphs::GraphFile& file, NodeId node)
        : PlacedGraphProgram(plan, node), file_(file), of_core_(plan.placement().grid().cores) {}

    runtime::Answer answer() const override {
        Sums all;
        for (const Sums& sums : of_core_) {
            all.tasks += sums.tasks;
            all.checksum += sums.checksum;
        }
        return {{"tasks", static_cast<double>(all.tasks)}, {"checksum", all.checksum}};
    }

protected:
    model::Datum run(Strand strand, TaskIndex task, const model::Inputs& inputs) override {
        std::uint64_t value = mixed(task + 1);
        for (const model::Input& input : inputs) {
            std::uint64_t before = 0;
            std::memcpy(&before, input.datum->data(), std::min(sizeof before, input.datum->size()));
            value = mixed(value + before);
        }
        runtime::Worker& worker = strand.worker();
        worker.compute({flops(task, worker.id), 0}, {});
        Sums& sums = of_core_[worker.id.core];
        ++sums.tasks;
        sums.checksum += summand(value, file_.graph.tasks());
        auto datum = std::make_shared<runtime::Bytes>(sizeof value);
        std::memcpy(datum->data(), &value, sizeof value);
        return datum;
    }

private:
    /// Of one worker, which alone writes it.
    struct alignas(64) Sums {
        std::uint64_t tasks = 0;
        double checksum = 0;
    };

    /// The costs are those of the nodes that begin. A node that joins has none, so a task takes its mean
    /// there.
    double flops(TaskIndex task, WorkerId worker) const {
        const WorkerGrid& grid = plan().placement().grid();
        if (file_.costs.empty() || worker.node >= grid.nodes) return file_.graph.flops(task);
        return file_.costs[task][std::size_t{worker.node} * grid.cores + worker.core];
    }

    const graphs::GraphFile& file_;
    std::vector<Sums> of_core_;
};

/// Adds to an error the line of the YAML file that states the graph. `path`: of a file; else empty.
[[noreturn]] void rethrow_at(const Error& error, const Location& where, const std::string& path = {}) {
    throw error.reworded(
        fmt::format("workload.graph: {}{}{}", path, path.empty() ? "" : ": ", error.message()), where);
}

graphs::GraphFile generated(const std::string& source, const Settings& settings) {
    if (settings.stated("time_unit") || settings.number("bytes_unit") != 1 ||
        settings.text("format") != "auto") {
        throw Error("a generated graph has a format and units of its own",
                    "leave out format, time_unit and bytes_unit", settings.where("graph"));
    }
    try {
        return graphs::load_graph(source);
    } catch (const Error& error) {
        rethrow_at(error, settings.where("graph"));
    }
}

graphs::GraphFile read(const std::string& source, const Settings& settings) {
    graphs::ReadOptions options;
    if (settings.stated("time_unit")) options.flops_per_time_unit = settings.number("time_unit");
    options.bytes_per_weight_unit = settings.number("bytes_unit");
    if (settings.text("format") != "auto") options.format = graphs::format_named(settings.text("format"));
    const std::string path = settings.path("graph");
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return graphs::load_graph(path, options);
    try {
        return graphs::load_graph(source, options);  // which is neither a file nor a generator, and says so
    } catch (const Error& error) {
        rethrow_at(error, settings.where("graph"), error.where().file.empty() ? "" : path);
    }
}

class DagWorkload final : public Workload {
public:
    explicit DagWorkload(const Settings& settings) : seed_(settings.integer<std::uint64_t>("cost_seed")) {
        const std::string source = settings.text("graph");
        if (source.empty()) {
            throw Error("no graph is stated",
                        "set workload.graph to a file, or to a generator such as cholesky:tiles=10",
                        settings.where("graph"));
        }
        file_ = graphs::names_generator(source) ? generated(source, settings) : read(source, settings);
        const std::string kernels = settings.path("kernel_costs");
        if (!kernels.empty()) table_ = graphs::read_kernel_costs(kernels);
    }

    void prepare(const ClusterView& cluster, const runtime::Schedule& schedule) override {
        if (table_) file_ = with_kernel_costs(std::move(file_), *table_, cluster.core_speed, Random(seed_));
        file_ = graphs::in_flops(std::move(file_), cluster.core_speed);
        placed_ = place_for_run({&file_.graph, file_.writes, file_.data, file_.costs}, cluster, schedule,
                                PlacedGraph::Data::declared);
    }

    Forecast forecast() const override { return placed_->forecast; }

    std::optional<TaskLabel> label(std::uint64_t task) const override {
        return label_of(placed_->plan, task, file_);
    }

    std::unique_ptr<runtime::Program> program(NodeId node) const override {
        return std::make_unique<DagProgram>(placed_->plan, file_, node);
    }

    Verdict check(const runtime::RunResult& result) const override {
        const TaskGraph& graph = file_.graph;
        std::vector<std::uint64_t> values(graph.tasks());
        double checksum = 0;
        for (const TaskIndex task : graph.topological_order()) {
            std::uint64_t value = mixed(task + 1);
            for (const TaskGraph::Link& link : graph.predecessors(task))
                value = mixed(value + values[link.task]);
            values[task] = value;
            checksum += summand(value, graph.tasks());
        }
        return judge(result.answer, {{"tasks", static_cast<double>(graph.tasks())}, {"checksum", checksum}},
                     "the graph in topological order");
    }

    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

private:
    std::uint64_t seed_;
    graphs::GraphFile file_;
    std::optional<graphs::KernelTable> table_;
    std::optional<PlacedRun> placed_;
};

std::vector<std::string> format_names() {
    std::vector<std::string> names = {"auto"};
    for (const graphs::NamedFormat& format : graphs::formats()) names.push_back(format.name);
    return names;
}

const Registration registration{
    {"dag",
     "a task graph, from a file or generated, placed on the workers and run",
     {{"graph",
       SettingKind::input_path,
       "",
       "a file, or a generator with its settings: cholesky:tiles=10",
       {},
       0,
       0,
       [](const std::string& text) { return !graphs::names_generator(text); }},
      {"format", SettingKind::choice, "auto", "of the file", format_names()},
      {"time_unit",
       SettingKind::flops,
       "",
       "work of one unit of time in the file (a second on a core of the platform; 1Gf in files without "
       "units)",
       {},
       1e-300,
       flops_max},
      {"bytes_unit", SettingKind::bytes, "1B", "bytes of one unit of communication in the file", {}, 0, 1e15},
      {"kernel_costs", SettingKind::input_path, "",
       "a table of kernel, mean, deviation: costs for the graph's tasks"},
      {"cost_seed", SettingKind::integer, "1", "seed of the deviations", {}, 0, integer_max}},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<DagWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
