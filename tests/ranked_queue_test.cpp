// The queue with two ends against std::set, by random operations, at every size from nothing to some
// hundreds.
#include "runtime/min_max_heap.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <set>

#include "base/random.hpp"
#include "runtime/ranked_queue.hpp"

namespace heddle::runtime {
namespace {

TEST(MinMaxHeap, GivesTheLeastAndTheGreatestAsASetDoes) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Random random(seed);
        MinMaxHeap<std::uint64_t> ours;
        std::set<std::uint64_t> theirs;
        for (int i = 0; i < 3000; ++i) {
            // Fills up in the first half, and is emptied in the second.
            const bool push = random.below(5) < (i < 1500 ? 3U : 2U);
            if (push || theirs.empty()) {
                const std::uint64_t element = random.below(1U << 30);
                if (theirs.insert(element).second) ours.push(element);
            } else if (random.below(2) == 0) {
                ASSERT_EQ(ours.pop_first(), *theirs.begin());
                theirs.erase(theirs.begin());
            } else {
                ASSERT_EQ(ours.pop_last(), *theirs.rbegin());
                theirs.erase(std::prev(theirs.end()));
            }
            ASSERT_EQ(ours.size(), theirs.size());
        }
        for (; !theirs.empty(); theirs.erase(theirs.begin())) ASSERT_EQ(ours.pop_first(), *theirs.begin());
        EXPECT_TRUE(ours.empty());
    }
}

// Ranks that mostly rise, as they do in a run, so that both the sorted row and the heap are used.
TEST(RankedTasks, GivesTheLowestAndTheHighestRankAsASetDoes) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Random random(seed);
        RankedTasks ours;
        std::set<std::uint64_t> theirs;
        std::uint64_t next = 1000;
        for (int i = 0; i < 3000; ++i) {
            const bool push = random.below(5) < (i < 1500 ? 3U : 2U);
            if (push || theirs.empty()) {
                next += 1 + random.below(8);
                const std::uint64_t rank = random.below(4) == 0 ? next - random.below(1000) : next;
                if (theirs.insert(rank).second) ours.push({rank, nullptr, 2 * rank});
            } else {
                const bool first = random.below(2) == 0;
                const RankedTask task = first ? ours.pop_first() : ours.pop_last();
                const auto expected = first ? theirs.begin() : std::prev(theirs.end());
                ASSERT_EQ(task.rank, *expected);
                ASSERT_EQ(task.argument, 2 * task.rank);
                theirs.erase(expected);
            }
            ASSERT_EQ(ours.size(), theirs.size());
        }
    }
}

}  // namespace
}  // namespace heddle::runtime
