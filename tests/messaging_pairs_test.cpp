// Tests the workloads ping_pong and stream between handlers: they refuse what only threads have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "tests/placement_testing.hpp"

namespace heddle {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_placement::Stated;

std::string refused(const std::string& workload, const std::string& setting, const std::string& value) {
    try {
        (void)Stated{workload, {{"between", "handlers"}, {"bytes", "24"}, {setting, value}}}.make();
    } catch (const Error& error) {
        return error.what();
    }
    return "it was made";
}

TEST(PairsBetweenHandlers, RefuseWhatOnlyThreadsHave) {
    for (const char* const workload : {"ping_pong", "stream"}) {
        EXPECT_THAT(refused(workload, "pairs", "2"), HasSubstr("set workload.pairs to 1"));
        EXPECT_THAT(refused(workload, "carrier", "dispatcher"),
                    HasSubstr("set workload.carrier to endpoints"));
        EXPECT_THAT(refused(workload, "bytes", "23"),
                    AllOf(HasSubstr("messages of 23 bytes"), HasSubstr("set workload.bytes to 24")));
        EXPECT_EQ(refused(workload, "dma", "yes"), "it was made");
    }
}

TEST(PairsBetweenHandlers, SayWhatIsChecked) {
    for (const char* const workload : {"ping_pong", "stream"}) {
        inprocess::InprocessBackend backend({2, 1, 1});
        const Stated stated{workload, {{"between", "handlers"}, {"bytes", "24"}, {"messages", "20"}}};
        const auto ran = testing_placement::run(backend, stated, testing_placement::cluster(2, 1), {});
        ASSERT_TRUE(ran.right()) << ran.verdict.reason;
        EXPECT_EQ(ran.verdict.reason, "each message has its number");
    }
}

}  // namespace
}  // namespace heddle
