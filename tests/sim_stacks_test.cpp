// Tests the stacks of simulated workers: each has its room and its place, and deep recursion is unwound.
#include "sim/stacks.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

// A binomial tree of 324 levels (a sequential search, which also checks the counts).
TEST(SimStacks, ADeepTreeIsSearched) {
    const std::map<std::string, std::string> tree = {
        {"type", "binomial"}, {"branching", "500"},   {"children", "6"},      {"probability", "0.164"},
        {"root_seed", "2"},   {"unit_cost", "1000f"}, {"check", "sequential"}};
    for (const std::uint64_t seed : {1, 2, 3}) {
        runtime::Schedule schedule;
        schedule.seed = seed;
        const auto result = simulate({"uts", tree}, ideal(4, 2), schedule);
        double depth = 0;
        for (const auto& value : result.answer)
            if (value.name == "depth") depth = value.value;
        EXPECT_EQ(depth, 324);
    }
}

TEST(SimStacks, DoNotOverlap) {
    constexpr std::size_t bytes = 1U << 20;
    Stacks stacks(100, bytes);
    const char* before = nullptr;
    for (int i = 0; i < 100; ++i) {
        const boost::context::stack_context stack = stacks.next();
        const char* const bottom = static_cast<const char*>(stack.sp) - stack.size;
        EXPECT_TRUE(before == nullptr || bottom > before);
        EXPECT_EQ(stack.size, bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack.sp) % 16, 0U);
        before = static_cast<const char*>(stack.sp);
    }
}

}  // namespace
}  // namespace heddle::sim::testing
