// Gives the backend a factory of nodes, and combines the answers and counters of all nodes at the end.
#include "runtime/run/execution.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/task_type.hpp"
#include "runtime/stealing/policy.hpp"

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
        } else if (value.combine == AnswerValue::Combine::sum_40_bits) {
            same->value = std::fmod(same->value + value.value, 0x1p40);
        } else {
            same->value = std::max(same->value, value.value);
        }
    }
}

}  // namespace

struct Execution::State {
    State(Backend& world, const Schedule& choices, ProgramFactory make, Recorder* told)
        : backend(world),
          schedule(choices),
          make_program(std::move(make)),
          recorder(told),
          nodes(world.topology().nodes),
          seen(world.topology().nodes) {}

    Backend& backend;
    Schedule schedule;
    ProgramFactory make_program;
    Recorder* recorder;
    RunReach reach;
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<std::atomic<const Node*>> seen;  ///< the same, for the eyes of other threads

    void begin_recording();
    void add_absent(std::vector<NodeReport>& reports) const;
    void account(RunResult& result, std::vector<NodeReport>& reports) const;
};

void Execution::State::begin_recording() {
    if (!recorder) return;
    const runtime::Topology& topology = backend.topology();
    recorder->begin(topology.nodes, topology.cores, [this, &topology] {
        return std::min(backend.elapsed() - topology.recorded_late, reach.get());
    });
}

/// Nodes that never joined have done nothing.
void Execution::State::add_absent(std::vector<NodeReport>& reports) const {
    std::vector<bool> present(backend.topology().nodes);
    for (const NodeReport& report : reports) present[report.node] = true;
    for (NodeId node = 0; node < present.size(); ++node) {
        if (present[node]) continue;
        reports.emplace_back().node = node;
        reports.back().membership.began = never;
    }
}

/// What all workers did until the makespan. Nodes of other processes knew of their own tasks only: from their
/// last one on they count as idle.
void Execution::State::account(RunResult& result, std::vector<NodeReport>& reports) const {
    const CoreId cores = backend.topology().cores;
    for (NodeReport& report : reports) {
        ActivityTotals& times = report.counters.times;
        if (report.membership.began == never) {
            times[Activity::idle] = TimeSum(result.makespan) * cores;
            ActivityTimes absent;
            absent[Activity::idle] = result.makespan;
            if (nodes[report.node]) result.workers.insert(result.workers.end(), cores, absent);
        } else if (const auto& node = nodes[report.node]) {
            times = {};
            for (CoreId core = 0; core < cores; ++core) {
                times += result.workers.emplace_back(node->times(core, result.makespan));
            }
        } else {
            times[Activity::idle] += TimeSum(result.makespan) * cores - times.sum();
        }
    }
}

Execution::Execution(Backend& backend, const Schedule& schedule, ProgramFactory make_program,
                     Recorder* recorder)
    : state_(std::make_unique<State>(backend, schedule, std::move(make_program), recorder)) {
    // An unknown policy is refused here, before a world is built.
    const Topology alone{.nodes = 1, .cores = 1, .group = {0}};
    make_victim_policy({{}, &alone, &schedule.stealing, Random(0)});
    if (schedule.start == Start::tree && backend.topology().at_start)
        throw Error("schedule.start: tree gives every node its share, and nodes may join and leave",
                    "let all nodes take part from the beginning, or leave schedule.start out");
    number_task_types();
    number_handlers();
}

Execution::~Execution() = default;

RunResult Execution::run() {
    state_->begin_recording();
    state_->backend.run([this](NodeId id) -> NodeProgram& {
        auto& node = state_->nodes[id];
        node = std::make_unique<Node>(id, state_->backend, state_->schedule, state_->make_program,
                                      state_->reach);
        node->tell(state_->recorder);
        state_->seen[id].store(node.get());
        return *node;
    });
    const auto& nodes = state_->nodes;
    if (std::none_of(nodes.begin(), nodes.end(),
                     [](const auto& node) { return node && node->ended_early(); })) {
        for (const auto& node : nodes)
            if (node) node->expect_nothing_left();
    }
    RunResult result;
    const auto& first = state_->nodes.front();
    if (!first) return result;

    std::vector<NodeReport> reports = first->reports().all();
    reports.push_back(first->report());
    state_->add_absent(reports);
    std::sort(reports.begin(), reports.end(),
              [](const NodeReport& a, const NodeReport& b) { return a.node < b.node; });
    result.complete = true;
    for (const NodeReport& report : reports)
        result.makespan = std::max(result.makespan, report.last_task_end);
    state_->account(result, reports);
    if (state_->recorder) state_->recorder->finish(result.makespan);
    for (NodeReport& report : reports) {
        result.evidence.push_back(std::move(report.evidence));
        std::ranges::move(report.sharing.arrays, std::back_inserter(result.sharing.arrays));
        std::ranges::move(report.sharing.pages, std::back_inserter(result.sharing.pages));
        combine(result.answer, report.answer);
        result.total += report.counters;
        result.nodes.push_back(report.counters);
        if (report.membership.began != Time::zero() || report.membership.ended != Time::zero())
            result.members[report.node] = report.membership;
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
