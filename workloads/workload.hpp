// A workload: a program with settings and a check of its answer. Adding one takes a file like fib.cpp and, at
// its end, one Registration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/placement.hpp"
#include "base/settings.hpp"
#include "runtime/program.hpp"
#include "runtime/task_type.hpp"

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

/// One workload with its settings read. Immutable while it runs; the nodes' programs may refer to it.
class Workload {
public:
    virtual ~Workload() = default;

    /// The run's workers, and how tasks are placed on them (a name of partitioners::names()). Called once,
    /// before any program is made. Workloads that place nothing ignore it. Throws Error.
    virtual void prepare(const WorkerGrid& /*grid*/, const std::string& /*placement*/) {}

    /// The program of one node. Called once for each node of this process.
    virtual std::unique_ptr<runtime::Program> program(NodeId node) const = 0;

    /// Judges the combined answer of all nodes. Called once, on node 0.
    virtual Verdict check(const runtime::Answer& answer) const = 0;

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
