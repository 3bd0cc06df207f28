// Tests the sample trees of the UTS benchmark: all of them may be run, also the supercritical one. Trees with
// settings of the user's own that may never end are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {
namespace {

std::string error_with(const std::map<std::string, std::string>& stated) {
    const Kind& kind = find("uts");
    Settings settings(kind.settings);
    for (const auto& [key, value] : stated) settings.set(key, value);
    try {
        (void)kind.make(settings);
    } catch (const Error& error) {
        return error.message();
    }
    return "no error";
}

TEST(UtsSampleTrees, AllMayBeRun) {
    for (const char* tree : {"T1", "T2", "T3", "T4", "T5", "T1L", "T3L", "T1XL"})
        EXPECT_EQ(error_with({{"tree", tree}}), "no error") << tree;
}

// T3L ends because of its root's seed; of all other seeds nothing is known.
TEST(UtsSampleTrees, OwnTreesThatMayNotEndAreRefused) {
    const auto refused = ::testing::HasSubstr("may not end");
    EXPECT_THAT(error_with({{"tree", "T3L"}, {"root_seed", "8"}}), refused);
    EXPECT_THAT(error_with({{"tree", "T3L"}, {"branching", "2001"}}), refused);
    EXPECT_THAT(error_with({{"tree", "T3"}, {"probability", "0.125"}}), refused);
    EXPECT_THAT(error_with({{"tree", "T3"}, {"children", "9"}}), refused);
}

}  // namespace
}  // namespace heddle::workloads
