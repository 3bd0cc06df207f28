// Tests the workload adaptive: it is right on each number of nodes and on threads, and a wrong sum is
// noticed.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/native/native_backend.hpp"
#include "tests/placement_testing.hpp"

namespace heddle {
namespace {

using testing_placement::Ran;
using testing_placement::Stated;

TEST(AdaptiveWorkload, IsRightOnEachNodeAndOnThreads) {
    for (const std::string loop : {"accumulate", "for", "find", "prefix_sum"}) {
        for (const NodeId nodes : {1U, 3U, 7U}) {
            inprocess::InprocessBackend backend({.nodes = nodes, .cores = 2});
            const Ran ran = testing_placement::run(
                backend, {"adaptive", {{"loop", loop}, {"n", "5"}, {"grain", "1"}, {"position", "1"}}},
                testing_placement::cluster(nodes, 2), {});
            EXPECT_TRUE(ran.right()) << loop << " on " << nodes << ": " << ran.verdict.reason;
        }
        native::NativeOptions options;
        options.cores = 2;
        native::NativeBackend backend(options);
        const Ran ran = testing_placement::run(backend, {"adaptive", {{"loop", loop}, {"steps", "10"}}},
                                               testing_placement::cluster(1, 2), {});
        EXPECT_TRUE(ran.right()) << loop << ": " << ran.verdict.reason;
    }
}

TEST(AdaptiveWorkload, AWrongSumIsNoticed) {
    const auto workload = Stated{"adaptive", {{"n", "1000"}, {"skew", "2"}}}.make();
    inprocess::InprocessBackend backend({});
    workload->prepare(testing_placement::cluster(1, 1), {});
    runtime::RunResult result =
        runtime::Execution(backend, {}, [&](NodeId id) { return workload->program(id); }).run();
    ASSERT_EQ(workload->check(result).kind, workloads::Verdict::Kind::right);
    for (runtime::AnswerValue& value : result.answer)
        if (value.name == "sum") value.value += 1;
    EXPECT_EQ(workload->check(result).kind, workloads::Verdict::Kind::wrong);
}

TEST(AdaptiveWorkload, APrefixSumWithSkewIsRefused) {
    EXPECT_THROW((Stated{"adaptive", {{"loop", "prefix_sum"}, {"skew", "1"}}}.make()), Error);
}

}  // namespace
}  // namespace heddle
