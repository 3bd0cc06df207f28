// Runs the shipped workloads on real threads, many times, under every policy: they give their known answers.
// Under ThreadSanitizer, this test checks the memory ordering of the deque and the node.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/stealing/policy.hpp"
#include "workloads/workload.hpp"

namespace heddle {
namespace {

using Stated = std::vector<std::pair<std::string, std::string>>;

runtime::RunResult run(const std::string& name, const Stated& stated, CoreId cores, const std::string& victim,
                       std::uint64_t seed) {
    const auto& kind = workloads::find(name);
    Settings settings(kind.settings);
    for (const auto& [key, value] : stated) settings.set(key, value);
    const auto workload = kind.make(settings);
    native::NativeOptions options;
    options.cores = cores;
    native::NativeBackend backend(options);
    runtime::Schedule schedule;
    schedule.seed = seed;
    schedule.stealing.victim = victim;
    workload->prepare({{1, cores}}, schedule);
    runtime::Execution execution(backend, schedule, [&](NodeId id) { return workload->program(id); });
    auto result = execution.run();
    const auto verdict = workload->check(result);
    EXPECT_EQ(verdict.kind, workloads::Verdict::Kind::right) << verdict.reason;
    return result;
}

class CoreNative : public testing::TestWithParam<std::string> {};

TEST_P(CoreNative, WorkloadsGiveTheirKnownAnswers) {
    for (const CoreId cores : {1U, 2U, 4U}) {
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            // Tasks: fib(n) makes fib(n + 1) of them; n-queens and uts one for each placement and node.
            EXPECT_EQ(run("fib", {{"n", "20"}}, cores, GetParam(), seed).total.tasks, 10946);
            EXPECT_EQ(run("nqueens", {{"n", "8"}}, cores, GetParam(), seed).total.tasks, 2057);
            EXPECT_EQ(run("uts", {{"tree", "T1"}, {"depth", "6"}}, cores, GetParam(), seed).total.tasks,
                      16000);
        }
    }
}

TEST_P(CoreNative, ManyShortRunsEnd) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) run("nqueens", {{"n", "5"}}, 3, GetParam(), seed);
}

INSTANTIATE_TEST_SUITE_P(All, CoreNative, testing::ValuesIn(runtime::victim_policies()),
                         [](const auto& parameter) { return parameter.param; });

TEST(CoreNative, ThievesFindWorkInALongRun) {
    const auto result = run("uts", {{"tree", "T1"}, {"depth", "8"}}, 2, "local_first", 1);
    EXPECT_GT(result.total.steals_within_node, 0);
    EXPECT_EQ(result.total.steals_between_nodes, 0);
    EXPECT_GT(result.makespan, Time::zero());
    EXPECT_TRUE(result.total.busy * 2 >= result.makespan);  // a worker works for half of the time at least
}

}  // namespace
}  // namespace heddle
