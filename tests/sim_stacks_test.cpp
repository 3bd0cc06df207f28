// Tests the stacks of simulated workers: each has its room and its place, and deep recursion is unwound.
#include "sim/stacks.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <span>
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

TEST(SimStacks, DoNotOverlapNorDoesWhatLiesBesideThem) {
    constexpr std::size_t bytes = 1U << 20;
    constexpr std::size_t beside_bytes = 100'000;
    Stacks stacks(100, bytes, beside_bytes);
    const char* before = nullptr;
    for (std::uint64_t i = 0; i < 100; ++i) {
        const boost::context::stack_context stack = stacks.stack(i);
        const char* const top = static_cast<const char*>(stack.sp);
        const std::span<std::byte> beside = stacks.beside(i);
        EXPECT_TRUE(before == nullptr || top - stack.size > before);
        EXPECT_EQ(stack.size, bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack.sp) % 16, 0U);
        EXPECT_EQ(reinterpret_cast<const char*>(beside.data()), top);
        EXPECT_GE(beside.size(), beside_bytes);
        before = reinterpret_cast<const char*>(beside.data() + beside.size() - 1);
    }
}

}  // namespace
}  // namespace heddle::sim::testing
