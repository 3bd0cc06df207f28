// Compares the queue with two ends with std::set, by random operations, at sizes from 0 to some hundreds.
// Also the common count of a node's queues.
#include "runtime/sources/min_max_heap.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "runtime/sources/ranked_queue.hpp"

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

TEST(RankedQueue, SaysItsLowestRankAndIsCountedWhileItHasTasks) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Random random(seed);
        WaitingCount nonempty;
        RankedQueue queues[2];
        for (RankedQueue& queue : queues)
            queue.reserve(0, std::memory_order_relaxed);  // thieves may take all
        std::set<std::uint64_t> theirs[2];
        for (std::uint64_t i = 0; i < 2000; ++i) {
            const std::uint64_t which = random.below(2);
            RankedQueue& queue = queues[which];
            auto& expected = theirs[which];
            if (random.below(2) == 0) {
                const std::uint64_t rank = random.below(1U << 20) * 2000 + i;
                queue.put({rank, nullptr, 0}, nonempty);
                expected.insert(rank);
            } else {
                const bool first = random.below(2) == 0;
                const auto taken = first ? queue.take_first() : queue.take_last();
                ASSERT_EQ(taken.has_value(), !expected.empty());
                if (!taken) continue;
                const auto place = first ? expected.begin() : std::prev(expected.end());
                ASSERT_EQ(taken->task.rank, *place);
                expected.erase(place);
                ASSERT_EQ(taken->last, expected.empty());
                if (taken->last) nonempty.subtract();
            }
            ASSERT_EQ(queue.size(), expected.size());
            ASSERT_EQ(queue.first_rank(), expected.empty() ? RankedQueue::no_rank : *expected.begin());
            ASSERT_EQ(nonempty.get(), !theirs[0].empty() + !theirs[1].empty());
        }
    }
}

TEST(RankedQueue, LosesAndDoublesNothingBetweenThreads) {
    constexpr std::uint64_t tasks = 20'000;
    WaitingCount nonempty;
    RankedQueue queue;
    std::atomic<std::uint64_t> left{2 * tasks};
    std::vector<std::atomic<std::uint32_t>> taken(2 * tasks);
    std::vector<std::thread> threads;
    for (std::uint64_t offset = 0; offset < 2; ++offset) {
        threads.emplace_back([&, offset] {
            for (std::uint64_t i = 0; i < tasks; ++i) queue.put({2 * i + offset, nullptr, 0}, nonempty);
        });
        threads.emplace_back([&, offset] {
            while (left.load() != 0) {
                const auto task = offset == 0 ? queue.take_first() : queue.take_last();
                if (!task) {
                    std::this_thread::yield();
                    continue;
                }
                ++taken[task->task.rank];
                // Until it is counted down, others can see that there was a task.
                if (task->last) {
                    EXPECT_NE(nonempty.get(), 0U);
                    nonempty.subtract();
                }
                --left;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& times : taken) ASSERT_EQ(times.load(), 1);
    EXPECT_EQ(nonempty.get(), 0U);
    EXPECT_EQ(queue.size(), 0);
}

}  // namespace
}  // namespace heddle::runtime
