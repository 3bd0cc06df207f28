// Tests what the workload jacobi says of its answer: how many sweeps are right, and that its digest does not
// depend on the nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/filament_workloads_testing.hpp"
#include "workloads/digest.hpp"

namespace heddle::testing_filaments {
namespace {

using testing::HasSubstr;
using workloads::Verdict;

/// What is said of an answer that no run gave.
Verdict judged(const Values& values, double sweeps, double change, double deviation = 0) {
    const workloads::Kind& kind = workloads::find("jacobi");
    Settings settings(kind.settings);
    for (const auto& [setting, value] : values) settings.set(setting, value);
    runtime::RunResult result;
    result.answer = {{"sweeps", sweeps}, {"largest_change", change}, {"deviation", deviation}, {"digest", 0}};
    return kind.make(settings)->check(result);
}

Outcome run(const Machine& machine, const Values& values) {
    runtime::SharedPages memory;
    memory.trigger = runtime::Trigger::checked;
    return run_workload(testing_dsm::inprocess_world(1, true), machine, memory, "jacobi", values);
}

TEST(Jacobi, AWrongNumberOfSweepsIsNoticed) {
    const Values tolerant{{"n", "256"}, {"tolerance", "1e-30"}};
    EXPECT_THAT(judged(tolerant, 3, 0.5).reason, HasSubstr("3 sweeps to a change of 0.5"));
    const Values large{{"n", "8000"}, {"sweeps", "20"}};
    EXPECT_EQ(judged(large, 3, 1e-7).kind, Verdict::Kind::wrong);
    EXPECT_EQ(judged(large, std::nan(""), 1e-7).kind, Verdict::Kind::wrong);
    EXPECT_EQ(judged(large, 21, 1e-7).kind, Verdict::Kind::wrong);
}

/// Where the sequential program takes too long, the changes of the sweeps are known.
TEST(Jacobi, ALargeGridIsSweptUntilItsChangeIsSmall) {
    constexpr double n = 8000;
    const double sine = std::sin(std::acos(-1) * 3999 / (n - 1));
    const double once = std::cos(std::acos(-1) / (n - 1));
    const auto change = [&](double sweep) {
        return sine * sine * (std::pow(once, sweep - 1) - std::pow(once, sweep));
    };
    const auto tolerant = [](double tolerance) {
        return Values{
            {"n", "8000"}, {"sweeps", "1000"}, {"tolerance", std::to_string(tolerance * 1e12) + "e-12"}};
    };
    const double before = change(49), after = change(50);
    const Verdict right = judged(tolerant((before + after) / 2), 50, after);
    EXPECT_EQ(right.kind, Verdict::Kind::right) << right.reason;
    EXPECT_EQ(judged(tolerant(2 * after), 50, after).kind, Verdict::Kind::wrong) << "one sweep was enough";
    EXPECT_EQ(judged(tolerant(after / 2), 50, after / 4).kind, Verdict::Kind::wrong) << "it changes more";
}

TEST(Jacobi, AsManySweepsAsWereMadeDecideWhetherBitsAreCompared) {
    const Outcome outcome = run({2, 2}, {{"n", "40"}, {"sweeps", "1000000"}, {"tolerance", "1e-3"}});
    EXPECT_EQ(outcome.verdict.kind, Verdict::Kind::right) << outcome.verdict.reason;
    EXPECT_THAT(outcome.verdict.reason, HasSubstr("the sequential program's bits"));
}

TEST(Jacobi, TheDigestIsTheSameOnAllNumbersOfNodes) {
    const Values values{{"n", "40"}, {"sweeps", "7"}};
    const double alone = run({1, 1}, values).value("digest");
    for (const NodeId nodes : {2U, 3U, 4U})
        EXPECT_EQ(run({nodes, 1}, values).value("digest"), alone) << nodes;
}

TEST(Jacobi, WithoutKernelsItSweepsAsOftenAsItMay) {
    const Outcome outcome =
        run({2, 1}, {{"n", "40"}, {"sweeps", "20"}, {"tolerance", "1e-3"}, {"kernels", "skip"}});
    EXPECT_EQ(outcome.value("sweeps"), 20);
}

TEST(Jacobi, WhatIsNoNumberIsInfinitelyFar) {
    double deviation = 0.5;
    workloads::deviate(deviation, 1, 1.25);
    EXPECT_EQ(deviation, 0.5);
    workloads::deviate(deviation, 1, 2);
    EXPECT_EQ(deviation, 1);
    workloads::deviate(deviation, std::nan(""), 2);
    workloads::deviate(deviation, 1, 2);
    EXPECT_EQ(deviation, std::numeric_limits<double>::infinity());
    EXPECT_EQ(judged({{"n", "16"}}, 20, 0, deviation).kind, Verdict::Kind::wrong);
}

TEST(Deviation, OfAnArrayWithWhatIsNoNumberIsInfinite) {
    double deviation = 0;
    workloads::deviate_in_norm(deviation, 2, 8);
    EXPECT_EQ(deviation, 0.5);
    workloads::deviate_in_norm(deviation, std::nan(""), 8);
    workloads::deviate_in_norm(deviation, 2, 8);
    EXPECT_EQ(deviation, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace heddle::testing_filaments
