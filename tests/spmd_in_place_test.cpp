// Tests collective calls whose blocks are so large that they are sent from the callers' arrays, by every
// algorithm: between nodes, between threads of a node, and both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/spmd_interpreter.hpp"
#include "tests/spmd_programs.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;
using testing::HasSubstr;
using testing_strands::error_of;
using testing_strands::World;
using testing_strands::worlds;

/// Algorithms divide an array into halves, or into a part for each rank.
Index count_of(Operation operation) {
    return has_blocks(operation) ? 2100 : 2100 * 4 + 1;  // of 16 bytes
}

class SpmdInPlace : public testing::TestWithParam<World> {
protected:
    /// Each algorithm of the operation twice, so that the second call meets the buffers of the first.
    static void run(NodeId nodes, CoreId cores, const SpmdOptions& options) {
        if (GetParam().one_node) nodes = 1;
        GetParam().run(nodes, cores, [&](NodeId) {
            return std::make_unique<MainFunction>(options, [](Spmd& self) {
                for (const Algorithm& algorithm : all_algorithms()) {
                    if (algorithm.operation == Operation::barrier) continue;
                    for (const RankId root : {RankId{0}, self.ranks() - 1}) {
                        RandomCall call(algorithm, {algorithm.operation, self.ranks(), root,
                                                    count_of(algorithm.operation), 1000, true});
                        call.prepare(self.rank());
                        call.make(self);
                        call.check(self.rank(), "large blocks");
                    }
                }
            });
        });
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, SpmdInPlace, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(SpmdInPlace, BetweenNodes) {
    run(2, 1, {});
    run(3, 1, {});
    run(4, 1, {.crew = {.sends = CrewSettings::Sends::together}});
}

TEST_P(SpmdInPlace, BetweenThreads) {
    run(1, 2, {.ranks = flat});
    run(1, 4, {.ranks = flat});
    run(1, 3, {.ranks = flat, .crew = {.sends = CrewSettings::Sends::together}});
}

TEST_P(SpmdInPlace, Both) {
    run(2, 2, {.ranks = flat});
    run(3, 2, {.ranks = flat, .crew = {.sends = CrewSettings::Sends::together}});
}

// An error ends a call while others are to read its arrays.
TEST_P(SpmdInPlace, RanksThatDisagreeAreNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    for (const SpmdOptions::Ranks ranks : {SpmdOptions::Ranks::nodes, flat}) {
        for (const char* const algorithm : {"recursive_doubling", "ring", "rabenseifner"}) {
            SpmdOptions options;
            options.ranks = ranks;
            const auto main = [algorithm](Spmd& self) {
                std::vector<Value> in(10'000 + self.rank() / 3), out(in.size());
                self.all_reduce(add, in, out, algorithm);
            };
            EXPECT_THAT(error_of([&] {
                            GetParam().run(ranks == flat ? 2 : 4, ranks == flat ? 2 : 1, [&](NodeId) {
                                return std::make_unique<MainFunction>(options, main);
                            });
                        }),
                        HasSubstr("disagree in a collective call"))
                << algorithm;
        }
    }
}

/// Rank 1 may have borrowed the array of rank 0, and not read it yet, when the call of rank 0 fails.
TEST(SpmdInPlaceSeeds, AnArrayIsNotReadWhenItsRankHasCaughtAnError) {
    constexpr long overwritten = -1;
    int withdrawn = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        bool read = false;
        const auto main = [&](Spmd& self) {
            std::vector<long> in(10'000, 1), out(in.size());
            const auto add_or_fail = [&, fails = self.rank() == 0](long a, long b) {
                if (fails) throw Error("the operator's own error");
                read = read || a == overwritten || b == overwritten;
                return a + b;
            };
            try {
                self.all_reduce(add_or_fail, in, out, "ring");
            } catch (const Error&) {
                if (self.rank() != 0) throw;
                std::ranges::fill(out, overwritten);
            }
        };
        const std::string error = error_of([&] {
            testing_strands::inprocess_world("inprocess", seed, false).run(1, 2, [&](NodeId) {
                return std::make_unique<MainFunction>(SpmdOptions{.ranks = flat}, main);
            });
        });
        EXPECT_FALSE(read) << "seed " << seed;
        if (error.find("before its message was read") != std::string::npos) ++withdrawn;
    }
    EXPECT_GT(withdrawn, 0);
}

}  // namespace
}  // namespace heddle::spmd
