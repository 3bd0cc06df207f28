// Tests the token queue that a node's workers share: its two ends, and that every token runs once, on some
// worker.
#include "runtime/sources/token_deque.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/earth_testing.hpp"

namespace heddle {
namespace {

using namespace test;
using runtime::TokenDeque;
using runtime::TokenQueues;
using End = TokenDeque::End;

void nothing(runtime::Worker& /*worker*/, runtime::Slot* /*head*/, std::byte* /*payload*/) {}
const runtime::TaskType number_type("core_token_deque.number", nothing, sizeof(int), 0, true,
                                    {.end = runtime::TaskType::End::detached});

void put(TokenDeque& tokens, End end, int number) {
    runtime::Context caller;
    tokens.put(caller, end, number_type, runtime::bytes_of(number));
}

int take(TokenDeque& tokens, End end) {
    runtime::Context caller;
    const auto task = tokens.take(caller, end);
    if (!task) return -1;
    int number = 0;
    std::memcpy(&number, task->payload, sizeof number);
    return number;
}

TEST(CoreTokenDeque, HasTwoEnds) {
    runtime::WaitingCount size;
    TokenDeque tokens(size);
    for (int i = 1; i <= 4; ++i) put(tokens, End::latest, i);
    put(tokens, End::oldest, 0);
    EXPECT_EQ(tokens.size(), 5U);
    EXPECT_EQ(take(tokens, End::latest), 4);
    EXPECT_EQ(take(tokens, End::oldest), 0);
    EXPECT_EQ(take(tokens, End::oldest), 1);
    EXPECT_EQ(take(tokens, End::latest), 3);
    EXPECT_EQ(take(tokens, End::latest), 2);
    EXPECT_EQ(take(tokens, End::latest), -1);
    EXPECT_EQ(tokens.size(), 0U);
}

int dropped = 0;
const runtime::TaskType owning_type("core_token_deque.owning", nothing, sizeof(int), 0, true,
                                    {.drop_arguments =
                                         [](std::byte* payload) {
                                             int number = 0;
                                             std::memcpy(&number, payload, sizeof number);
                                             dropped += number;
                                         },
                                     .end = runtime::TaskType::End::detached});

TEST(CoreTokenDeque, DropsTheArgumentsOfTokensThatAreLeft) {
    {
        runtime::WaitingCount size;
        TokenDeque tokens(size);
        runtime::Context caller;
        for (const int number : {1, 10, 100})
            tokens.put(caller, End::latest, owning_type, runtime::bytes_of(number));
        EXPECT_EQ(take(tokens, End::oldest), 1);
        EXPECT_EQ(dropped, 0);
    }
    EXPECT_EQ(dropped, 110);
}

TEST(CoreTokenDeque, EveryTokenRunsOnce) {
    for (const char* victim : {"none", "random", "local_first", "hierarchical", "lifeline"}) {
        for (const NodeId nodes : {1U, 2U, 5U}) {
            for (std::uint64_t seed = 0; seed < 20; ++seed) {
                Notes shared;
                const auto result = run({nodes, 3, seed, victim, false, TokenQueues::node}, shared,
                                        [](Em em) { em.invoke<CountTreeMain>(0); });
                ASSERT_EQ(shared.total, count_tree_leaves)
                    << victim << ", " << nodes << " nodes, seed " << seed;
                ASSERT_EQ(unterminated(result), 0);
            }
        }
    }
}

TEST(CoreTokenDeque, EveryTokenRunsOnceOnRealThreads) {
    for (const CoreId workers : {1U, 2U, 4U}) {
        for (int round = 0; round < 10; ++round) {
            Notes shared;
            const auto result = run_natively({1, workers, 1, "random", false, TokenQueues::node}, shared,
                                             [](Em em) { em.invoke<CountTreeMain>(0); });
            ASSERT_EQ(shared.total, count_tree_leaves) << workers << " workers";
            ASSERT_EQ(unterminated(result), 0);
        }
    }
}

}  // namespace
}  // namespace heddle
