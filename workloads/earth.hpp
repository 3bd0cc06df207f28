// Shared by the workloads in EARTH: their settings, and the check that all their threads have terminated. A
// workload of EARTH is registered by earth_workload, from a start function, a check and settings.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/earth.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

class EarthProgram : public model::earth::Program {
public:
    explicit EarthProgram(const Settings& settings)
        : Program(settings.boolean("checked")), unit_{settings.number("unit_cost"), 0} {}

    /// The settings of an EARTH workload: `own`, and those of all. `unit_cost`: of `unit`, initially.
    static std::vector<Setting> settings(std::vector<Setting> own, const std::string& unit_cost,
                                         const std::string& unit) {
        own.push_back({"unit_cost",
                       SettingKind::flops,
                       unit_cost,
                       "cost of " + unit + " where work is charged",
                       {},
                       0,
                       flops_max});
        own.push_back({"checked", SettingKind::boolean, "false",
                       "keep the frames of terminated threads, and fail where one is still used"});
        return own;
    }

    runtime::Work unit() const override { return unit_; }

    /// Gives the answer of this node; at most once on each. Values of the same name are combined over the
    /// nodes: added, unless they say `max`. So one node alone should give the answer of a program that has
    /// one result.
    void answer_with(runtime::Answer answer) { answer_ = std::move(answer); }

    runtime::Answer answer() const override {
        runtime::Answer answer = answer_;
        if (const auto left = unterminated()) answer.push_back({left_name, static_cast<double>(left)});
        return answer;
    }

    static constexpr auto left_name = "unterminated";

private:
    runtime::Work unit_;
    runtime::Answer answer_;
};

class EarthWorkload : public Workload {
public:
    Verdict check(const runtime::RunResult& result) const final {
        for (const auto& value : result.answer) {
            if (value.name != EarthProgram::left_name) continue;
            return {Verdict::Kind::wrong,
                    fmt::format(
                        "{} threads were never terminated: some slot waits for more signals than were sent",
                        value.value)};
        }
        return check_answer(result);
    }

protected:
    /// Judges the answer of a run whose threads have all terminated.
    virtual Verdict check_answer(const runtime::RunResult& result) const = 0;
};

/// The workload that earth_workload registers.
template <auto start, auto check_answer_of, class... ThreadedFunctions>
class PlainEarthWorkload final : public EarthWorkload {
public:
    explicit PlainEarthWorkload(const Settings& settings) : settings_(settings) {}

    std::unique_ptr<runtime::Program> program(NodeId) const override {
        return std::make_unique<Start>(settings_);
    }
    std::vector<const runtime::TaskType*> tasks() const override {
        return {&model::earth::Activation<ThreadedFunctions>::token...};
    }

protected:
    Verdict check_answer(const runtime::RunResult& result) const override {
        return check_answer_of(result.answer, settings_);
    }

private:
    class Start final : public EarthProgram {
    public:
        explicit Start(const Settings& settings) : EarthProgram(settings), settings_(settings) {}
        void main(model::earth::Em em) override { start(em, settings_); }

    private:
        const Settings& settings_;
    };

    const Settings settings_;
};

/// Registers an EARTH workload. `start(Em, const Settings&)` runs once, on node 0, and starts the first
/// threads; `check_answer(const runtime::Answer&, const Settings&)` returns a Verdict, and is asked only if
/// all threads have terminated. `ThreadedFunctions` are those of which the program makes tokens. The settings
/// `unit_cost` and `checked` are added to its own.
template <auto start, auto check_answer, class... ThreadedFunctions>
Registration earth_workload(std::string name, std::string help, std::vector<Setting> settings = {},
                            const std::string& unit_cost = "20f") {
    return Registration(
        {std::move(name), std::move(help),
         EarthProgram::settings(std::move(settings), unit_cost, "a unit of work"),
         [](const Settings& values) -> std::unique_ptr<Workload> {
             return std::make_unique<PlainEarthWorkload<start, check_answer, ThreadedFunctions...>>(values);
         }});
}

}  // namespace heddle::workloads
