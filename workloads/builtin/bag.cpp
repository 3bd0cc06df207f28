// bag: independent tasks, placed before the run, and stolen during it if the policy says so. It is the
// simplest program to compare placement and stealing: even tasks need no stealing, uneven ones do.
#include <fmt/format.h>

#include <cmath>

#include "base/memory_need.hpp"
#include "base/random.hpp"
#include "base/task_graph.hpp"
#include "model/fork_join.hpp"
#include "partitioners/place_graph.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

namespace {

using model::Strand;

/// The tasks of the whole bag, and the worker that each starts on. The same on every node.
struct Bag {
    std::uint32_t tasks = 0;
    double cost = 0;    ///< flops of a task, on average
    double spread = 0;  ///< 0: all equal; 1: from nothing to twice the average
    std::uint64_t seed = 0;
    WorkerGrid grid;
    std::vector<std::vector<TaskIndex>> of_worker;

    std::uint64_t flops(TaskIndex task) const {
        if (spread == 0) return static_cast<std::uint64_t>(std::llround(cost));
        const double uniform = Random(seed).split(task).uniform();
        return static_cast<std::uint64_t>(std::llround(cost * (1 + spread * (2 * uniform - 1))));
    }
};

struct BagCount {
    std::uint64_t tasks = 0;
    std::uint64_t index_sum = 0;
};

/// Tasks `first` to `last` - 1 of a worker's list, by halves, so that a thief takes many at once.
struct BagRange {
    static constexpr auto name = "bag_range";
    static BagCount run(Strand strand, std::uint32_t owner, std::uint32_t first, std::uint32_t last);
};

class BagProgram final : public runtime::Program {
public:
    explicit BagProgram(const Bag& bag) : bag_(bag), counts_(bag.grid.cores) {}

    const Bag& bag() const { return bag_; }
    runtime::Work unit() const override { return {1, 0}; }

    void begin(runtime::Worker& worker) override {
        const std::uint32_t rank = worker.id.node * bag_.grid.cores + worker.id.core;
        // A node that has joined has none.
        const auto count =
            static_cast<std::uint32_t>(rank < bag_.of_worker.size() ? bag_.of_worker[rank].size() : 0);
        if (count == 0) return worker.begins_nothing();
        worker.count_task();
        const runtime::TaskRecord record(worker, model::TaskFunction<BagRange>::type.id());
        counts_[worker.id.core] = Strand(worker).call<BagRange>(rank, 0U, count);
    }

    runtime::Answer answer() const override {
        BagCount sum;
        for (const BagCount& count : counts_) {
            sum.tasks += count.tasks;
            sum.index_sum += count.index_sum;
        }
        return {{"tasks", static_cast<double>(sum.tasks)}, {"index_sum", static_cast<double>(sum.index_sum)}};
    }

private:
    const Bag& bag_;
    std::vector<BagCount> counts_;  ///< by core: each worker writes its own
};

BagCount BagRange::run(Strand strand, std::uint32_t owner, std::uint32_t first, std::uint32_t last) {
    if (last - first == 1) {
        const Bag& bag = strand.program<BagProgram>().bag();
        const TaskIndex task = bag.of_worker[owner][first];
        strand.work(bag.flops(task));
        return {1, task};
    }
    const std::uint32_t middle = first + (last - first) / 2;
    strand.fork<BagRange>(owner, middle, last);
    const BagCount left = strand.call<BagRange>(owner, first, middle);
    const BagCount right = strand.join<BagRange>();
    return {left.tasks + right.tasks, left.index_sum + right.index_sum};
}

class BagWorkload final : public Workload {
public:
    explicit BagWorkload(const Settings& settings) {
        bag_.tasks = settings.integer<std::uint32_t>("tasks");
        bag_.cost = settings.number("task_cost");
        bag_.spread = settings.number("spread");
        bag_.seed = settings.integer<std::uint64_t>("cost_seed");
        // Each in the graph, in its placement and in its worker's list; measured.
        constexpr double bytes_per_task = 80;
        need_memory(bytes_per_task * bag_.tasks, fmt::format("{} tasks", bag_.tasks), "lower workload.tasks",
                    settings.where("tasks"));
    }

    void prepare(const ClusterView& cluster, const runtime::Schedule& schedule) override {
        const WorkerGrid& grid = cluster.grid;
        bag_.grid = grid;
        bag_.of_worker.assign(grid.workers(), {});
        TaskGraphBuilder builder;
        for (std::uint32_t task = 0; task < bag_.tasks; ++task) {
            builder.add_task(static_cast<double>(bag_.flops(task)));
        }
        const TaskGraph graph = builder.build();
        partitioners::GraphToPlace what{&graph};
        what.file = schedule.placement_file;
        const Placement placed =
            partitioners::place_graph(schedule.placement, what, cluster, schedule.seed).placement;
        for (TaskIndex task = 0; task < bag_.tasks; ++task) {
            const WorkerId worker = placed.of(task);
            bag_.of_worker[std::size_t{worker.node} * grid.cores + worker.core].push_back(task);
        }
    }

    std::unique_ptr<runtime::Program> program(NodeId) const override {
        return std::make_unique<BagProgram>(bag_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        const runtime::Answer& answer = result.answer;
        const double n = bag_.tasks;
        return judge(answer, {{"tasks", n}, {"index_sum", n * (n - 1) / 2}}, "every task ran once");
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&model::TaskFunction<BagRange>::type};
    }

private:
    Bag bag_;
};

const Registration registration{
    {"bag",
     "independent tasks of equal or uneven cost: the simplest meeting of placement and stealing",
     {{"tasks", SettingKind::integer, "4000", "how many tasks", {}, 0, 1e8},
      {"task_cost",
       SettingKind::flops,
       "1Mf",
       "cost of a task, on average, where work is charged",
       {},
       0,
       flops_max},
      {"spread", SettingKind::number, "0", "0: equal tasks; 1: from nothing to twice the average", {}, 0, 1},
      {"cost_seed", SettingKind::integer, "1", "seed of the uneven costs", {}, 0, integer_max}},
     [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<BagWorkload>(settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
