#include "runtime/execution.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/node.hpp"
#include "runtime/stealing/policy.hpp"
#include "runtime/task_type.hpp"

namespace heddle::runtime {

namespace {

void combine(Answer& whole, const Answer& part) {
    for (const AnswerValue& value : part) {
        const auto same = std::find_if(whole.begin(), whole.end(),
                                       [&](const AnswerValue& other) { return other.name == value.name; });
        if (same == whole.end()) {
            whole.push_back(value);
        } else if (value.combine == AnswerValue::Combine::sum) {
            same->value += value.value;
        } else {
            same->value = std::max(same->value, value.value);
        }
    }
}

}  // namespace

struct Execution::State {
    State(Backend& world, const Schedule& choices, ProgramFactory make)
        : backend(world),
          schedule(choices),
          make_program(std::move(make)),
          nodes(world.topology().nodes),
          seen(world.topology().nodes) {}

    Backend& backend;
    Schedule schedule;
    ProgramFactory make_program;
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<std::atomic<const Node*>> seen;  ///< the same, for the eyes of other threads
};

Execution::Execution(Backend& backend, const Schedule& schedule, ProgramFactory make_program)
    : state_(std::make_unique<State>(backend, schedule, std::move(make_program))) {
    // An unknown policy is refused here, before a world is built.
    const Topology alone{1, 1, {0}};
    make_victim_policy({{}, &alone, schedule.stealing, Random(0)});
    number_task_types();
    number_handlers();
}

Execution::~Execution() = default;

RunResult Execution::run() {
    state_->backend.run([this](NodeId id) -> NodeProgram& {
        auto& node = state_->nodes[id];
        node = std::make_unique<Node>(id, state_->backend, state_->schedule, state_->make_program);
        state_->seen[id].store(node.get());
        return *node;
    });
    RunResult result;
    const auto& first = state_->nodes.front();
    if (!first) return result;

    std::vector<NodeReport> reports = first->reports().all();
    reports.push_back(first->report());
    std::sort(reports.begin(), reports.end(),
              [](const NodeReport& a, const NodeReport& b) { return a.node < b.node; });
    result.complete = true;
    for (NodeReport& report : reports) {
        result.evidence.push_back(std::move(report.evidence));
        combine(result.answer, report.answer);
        result.makespan = std::max(result.makespan, report.last_task_end);
        result.total += report.counters;
        result.nodes.push_back(report.counters);
        for (const auto& [victim, tasks] : report.stolen_from) result.steals[{report.node, victim}] += tasks;
    }
    return result;
}

std::uint64_t Execution::tasks() const {
    std::uint64_t sum = 0;
    for (const auto& node : state_->seen) {
        if (const Node* running = node.load()) sum += running->tasks();
    }
    return sum;
}

Time Execution::elapsed() const {
    return state_->backend.elapsed();
}

}  // namespace heddle::runtime
