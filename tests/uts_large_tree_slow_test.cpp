// Runs the large binomial tree of the UTS benchmark natively: slightly supercritical, deep, with 111,345,631
// nodes by the benchmark's own list.
#include <gtest/gtest.h>

#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"
#include "workloads/workload.hpp"

namespace heddle {
namespace {

TEST(UtsLargeTree, HasItsPublishedCounts) {
    const auto& kind = workloads::find("uts");
    Settings settings(kind.settings);
    settings.set("tree", "T3L");
    const auto workload = kind.make(settings);
    native::NativeOptions options;
    options.cores = 2;
    native::NativeBackend backend(options);
    runtime::Schedule schedule;
    workload->prepare({{1, options.cores}}, schedule);
    runtime::Execution execution(backend, schedule, [&](NodeId id) { return workload->program(id); });
    const auto result = execution.run();
    ASSERT_EQ(result.answer.size(), 3U);
    EXPECT_EQ(result.answer[0].value, 111345631);
    EXPECT_EQ(result.answer[1].value, 17844);
    EXPECT_EQ(result.answer[2].value, 89076904);
    EXPECT_EQ(workload->check(result).kind, workloads::Verdict::Kind::right);
}

}  // namespace
}  // namespace heddle
