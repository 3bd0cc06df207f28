// A workload: a program with settings and a check of its answer. To add a workload, write a file like fib.cpp
// that ends with a Registration.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cluster_view.hpp"
#include "base/settings.hpp"
#include "runtime/core/task_type.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/run/program.hpp"
#include "runtime/run/schedule.hpp"

namespace heddle::workloads {

/// What a workload says of its answer.
struct Verdict {
    enum class Kind : std::uint8_t { right, wrong, unchecked };
    Kind kind = Kind::unchecked;
    std::string
        reason;  ///< where wrong: expected and found. Where unchecked: why. Where right: against what.
};

/// Compares an answer with what is expected of it, value by value. `source` says where the expectation comes
/// from.
Verdict judge(const runtime::Answer& answer, const runtime::Answer& expected, const std::string& source);

/// What a task of a graph is called.
struct TaskLabel {
    std::string kernel;              ///< the kind of work, such as potrf; may be empty
    std::string name;                ///< of this very task; may be empty
    std::optional<WorkerId> placed;  ///< where it was placed before the run
    std::vector<std::uint64_t> predecessors = {};
};

/// Predictions about a run, made before it begins. A value that cannot be predicted is empty.
struct Forecast {
    std::optional<double> makespan_seconds;     ///< if every message had the network to itself
    std::optional<double> lower_bound_seconds;  ///< no schedule of the same work on this cluster is shorter
    std::optional<double> work_bound_seconds;   ///< nor would be if messages took no time
    std::optional<double> data_bytes;           ///< sent between nodes, where nothing is stolen
};

/// One workload with its settings read. Immutable while it runs; the nodes' programs may refer to it.
class Workload {
public:
    virtual ~Workload() = default;

    /// The cluster that the run is on, and how tasks are placed there and stolen. Called once, before any
    /// program is made; on every process, with the same result. Workloads that place nothing ignore it.
    /// Throws Error.
    virtual void prepare(const ClusterView& /*cluster*/, const runtime::Schedule& /*schedule*/) {}

    /// What the placement promises. Called after `prepare`.
    virtual Forecast forecast() const { return {}; }

    /// The task of that number in the run's task graph; nothing if there is none. Called after `prepare`.
    virtual std::optional<TaskLabel> label(std::uint64_t /*task*/) const { return {}; }

    /// The program of one node. Called once for each node of this process.
    virtual std::unique_ptr<runtime::Program> program(NodeId node) const = 0;

    /// Judges a complete run by its combined answer, or by what its nodes show (Program::evidence). Called
    /// once, on node 0.
    virtual Verdict check(const runtime::RunResult& result) const = 0;

    /// The tasks that may be stolen. One whose arguments cannot travel confines the run to one node.
    virtual std::vector<const runtime::TaskType*> tasks() const = 0;
};

/// A registered workload.
struct Kind {
    std::string name;
    std::string help;
    std::vector<Setting> settings;
    std::unique_ptr<Workload> (*make)(const Settings& settings);
};

/// All registered workloads, by name.
const std::vector<Kind>& all();

/// The workload of that name. Throws Error with the nearest known name.
const Kind& find(const std::string& name);

/// Registers a workload before `main`: `const Registration registration{{"fib", "...", {...}, make}};`
struct Registration {
    explicit Registration(Kind kind);
};

}  // namespace heddle::workloads
