// Micro-benchmarks of the tasks of placed graphs: what one takes that does nothing, what each of its inputs
// adds, and what an input adds whose producer ran on another worker of the node.
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "calibration/probe.hpp"
#include "model/placed_graph.hpp"

namespace heddle::calibration {

namespace {

using model::PlacedGraph;
using runtime::Worker;

/// Rows of tasks, `columns` for each worker. Each has `inputs` tasks of the row before: itself and its
/// neighbours. These belong to another worker, if there are two.
struct Rows {
    CoreId cores = 1;
    std::uint32_t inputs = 0;
    std::uint32_t rows = 0;

    static constexpr std::uint32_t columns = 8;
    std::uint32_t width() const { return columns * cores; }
    TaskIndex tasks() const { return width() * rows; }
    CoreId core_of(TaskIndex task) const { return static_cast<CoreId>(task % width() % cores); }

    TaskGraph graph() const {
        TaskGraphBuilder builder;
        for (TaskIndex task = 0; task < tasks(); ++task) {
            builder.add_task(0);
            for (std::uint32_t i = 0; task >= width() && i < inputs; ++i) {
                const std::uint32_t column = (task + i + width() - 1) % width();
                builder.add_edge(task / width() * width() - width() + column, task, bytes);
            }
        }
        return builder.build();
    }
    Placement placement() const {
        std::vector<WorkerId> of_task;
        for (TaskIndex task = 0; task < tasks(); ++task) of_task.push_back({0, core_of(task)});
        return {{1, cores}, std::move(of_task)};
    }

    static constexpr double bytes = sizeof(std::uint64_t);
};

/// The graph and its plan, which programs share.
class Planned {
public:
    explicit Planned(const Rows& rows)
        : graph_(rows.graph()),
          plan_(graph_, rows.placement(), in_order(graph_), PlacedGraph::Order::strict,
                PlacedGraph::Data::declared) {}

    const PlacedGraph& plan() const { return plan_; }

private:
    static std::vector<TaskIndex> in_order(const TaskGraph& graph) {
        std::vector<TaskIndex> tasks(graph.tasks());
        std::iota(tasks.begin(), tasks.end(), TaskIndex{0});
        return tasks;
    }

    TaskGraph graph_;
    PlacedGraph plan_;
};

/// The first task of every so many rows says what time it is.
class PlacedProgram final : public ProbeProgram, public model::PlacedGraphPart {
public:
    PlacedProgram(const Effort& effort, std::string quantity, const Rows& rows, std::uint32_t rows_each,
                  std::shared_ptr<const Planned> planned)
        : ProbeProgram(effort),
          PlacedGraphPart(planned->plan(), 0),
          quantity_(std::move(quantity)),
          each_(rows_each * Rows::columns),
          between_(rows_each * rows.width()),
          planned_(std::move(planned)) {}

    void set_up(runtime::Node& node) override { attach(node); }
    void begin(Worker& worker) override { start(worker); }

protected:
    /// Hands on the sum of its inputs.
    model::Datum run(model::Strand strand, TaskIndex task, const model::Inputs& inputs) override {
        if (task % between_ == 0) read_time(strand.worker());
        std::uint64_t sum = task;
        for (const model::Input& input : inputs) {
            std::uint64_t value = 0;
            std::memcpy(&value, input.datum->data(), sizeof value);
            sum += value;
        }
        auto datum = std::make_shared<runtime::Bytes>(sizeof sum);
        std::memcpy(datum->data(), &sum, sizeof sum);
        return datum;
    }

private:
    /// All these tasks are of one worker.
    void read_time(Worker& worker) {
        const double now = seconds_now(worker);
        // The workers do not begin at the same time, and memory is new.
        if (++seen_ > warming_up) add({quantity_, 0, static_cast<double>(each_), now - before_});
        before_ = now;
    }

    static constexpr std::uint32_t warming_up = 3;

    std::string quantity_;
    std::uint32_t each_;     ///< tasks of a worker in a reading
    std::uint32_t between_;  ///< tasks of all workers
    std::shared_ptr<const Planned> planned_;
    std::uint32_t seen_ = 0;
    double before_ = 0;
};

Probe placed_probe(const Effort& effort, const std::string& quantity, std::string what, CoreId cores,
                   std::uint32_t inputs) {
    // An even number: the same worker reads the time again.
    const auto rows_each = static_cast<std::uint32_t>(2 * effort.operations(5));
    const Rows rows{cores, inputs, rows_each * (effort.repetitions + 4)};
    return {quantity,
            std::move(what),
            1,
            cores,
            quiet_schedule(),
            [=, planned = std::shared_ptr<const Planned>()](NodeId) mutable {
                if (!planned) planned = std::make_shared<const Planned>(rows);
                return std::make_unique<PlacedProgram>(effort, quantity, rows, rows_each, planned);
            }};
}

}  // namespace

Probe placed_task_probe(const Effort& effort) {
    return placed_probe(effort, "placed_task", "tasks of a placed graph", 1, 0);
}

Probe placed_input_probe(const Effort& effort) {
    return placed_probe(effort, "placed_inputs", "tasks of a placed graph that have inputs", 1,
                        placed_inputs);
}

Probe elsewhere_probe(const Effort& effort) {
    return placed_probe(effort, "inputs_elsewhere", "tasks whose inputs another worker makes", 2,
                        placed_inputs);
}

}  // namespace heddle::calibration
