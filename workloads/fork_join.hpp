// Makes a fork/join workload from its task functions, the function that starts it, and a check of the answer.
// A workload that needs more, such as a placement or state on each node, derives from Workload instead, as
// fib.cpp does.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/fork_join.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

/// The workload that fork_join_workload registers.
template <auto start, auto check_answer, class... TaskFunctions>
class ForkJoinWorkload final : public Workload {
public:
    explicit ForkJoinWorkload(const Settings& settings) : settings_(settings) {}

    std::unique_ptr<runtime::Program> program(NodeId) const override {
        return std::make_unique<Start>(settings_);
    }

    Verdict check(const runtime::RunResult& result) const override {
        return check_answer(result.answer, settings_);
    }

    std::vector<const runtime::TaskType*> tasks() const override {
        return {&model::TaskFunction<TaskFunctions>::type...};
    }

private:
    class Start final : public model::ForkJoinProgram {
    public:
        explicit Start(const Settings& settings) : settings_(settings) {}

        runtime::Work unit() const override { return {settings_.number("unit_cost"), 0}; }
        void root(model::Strand strand) override { answer_ = start(strand, settings_); }
        runtime::Answer answer() const override { return answer_; }

    private:
        const Settings& settings_;
        runtime::Answer answer_;
    };

    const Settings settings_;
};

/// Registers a workload. `start(Strand, const Settings&)` runs once, on the first worker of node 0, and
/// returns the answer; `check_answer(const runtime::Answer&, const Settings&)` returns a Verdict.
/// `TaskFunctions` are all functions that it forks. A setting `unit_cost` is added to its own: what one unit
/// of work costs in simulation (`work_units`, Strand::work).
template <auto start, auto check_answer, class... TaskFunctions>
Registration fork_join_workload(std::string name, std::string help, std::vector<Setting> settings = {},
                                const std::string& unit_cost = "20f") {
    settings.push_back(
        {"unit_cost", SettingKind::flops, unit_cost, "cost of a unit of work where work is charged", {}, 0});
    return Registration({std::move(name), std::move(help), std::move(settings),
                         [](const Settings& values) -> std::unique_ptr<Workload> {
                             return std::make_unique<ForkJoinWorkload<start, check_answer, TaskFunctions...>>(
                                 values);
                         }});
}

}  // namespace heddle::workloads
