// What the workloads in EARTH have in common: their settings, and the check that all their threads have
// terminated.
#pragma once

#include <fmt/format.h>

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
                       0});
        own.push_back({"checked", SettingKind::boolean, "false",
                       "keep the frames of terminated threads, and fail where one is still used"});
        return own;
    }

    runtime::Work unit() const override { return unit_; }

    /// What the program has found out. On any node; once.
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

}  // namespace heddle::workloads
