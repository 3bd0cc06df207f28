// Compares the set of cores with std::set, by random operations. If many threads remove the same core,
// exactly one call reports success.
#include "runtime/core/core_set.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace heddle::runtime {
namespace {

std::vector<CoreId> from(const CoreSet& set, CoreId begin) {
    std::vector<CoreId> found;
    set.any_from(begin, [&](CoreId core) {
        found.push_back(core);
        return false;
    });
    return found;
}

std::vector<CoreId> from(const std::set<CoreId>& set, CoreId begin) {
    std::vector<CoreId> found(set.lower_bound(begin), set.end());
    found.insert(found.end(), set.begin(), set.lower_bound(begin));
    return found;
}

TEST(CoreSet, IsAStandardSetInEveryRespect) {
    for (const CoreId cores : {1U, 2U, 63U, 64U, 65U, 128U, 200U}) {
        Random random(cores);
        CoreSet ours(cores, CoreSet::Initially::empty);
        std::set<CoreId> theirs;
        for (int i = 0; i < 2000; ++i) {
            const auto core = static_cast<CoreId>(random.below(cores));
            // Mostly removed, so that it is often nearly empty.
            if (random.below(3) == 0) {
                ours.add(core);
                theirs.insert(core);
            } else {
                EXPECT_EQ(ours.remove(core), theirs.erase(core) == 1);
            }
            EXPECT_EQ(ours.contains(core), theirs.contains(core));
            EXPECT_EQ(ours.empty(), theirs.empty());
            const auto begin = static_cast<CoreId>(random.below(cores));
            ASSERT_EQ(from(ours, begin), from(theirs, begin)) << cores << " cores, from " << begin;
        }
    }
}

TEST(CoreSet, EndsTheRoundWhereItIsTold) {
    const CoreSet set(100, CoreSet::Initially::full);
    std::vector<CoreId> seen;
    const bool found = set.any_from(99, [&](CoreId core) {
        seen.push_back(core);
        return core == 1;
    });
    EXPECT_TRUE(found);
    EXPECT_EQ(seen, (std::vector<CoreId>{99, 0, 1}));
}

TEST(CoreSet, OneOfSeveralRemoves) {
    constexpr CoreId cores = 70;
    constexpr int rounds = 2000;
    CoreSet set(cores, CoreSet::Initially::empty);
    std::atomic<int> removed{0};
    std::atomic<int> at_work{0};
    const auto remove_all = [&] {
        at_work.fetch_add(1);
        for (int i = 0; i < rounds; ++i)
            for (const CoreId core : {3U, 69U}) removed += set.remove(core) ? 1 : 0;
        at_work.fetch_sub(1);
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back(remove_all);
    int added = 0;
    while (at_work.load() != 0 || added == 0) {
        for (const CoreId core : {3U, 69U}) {
            if (set.contains(core)) continue;
            set.add(core);  // no other thread adds
            ++added;
        }
    }
    for (std::thread& thread : threads) thread.join();
    for (const CoreId core : {3U, 69U}) removed += set.remove(core) ? 1 : 0;
    EXPECT_EQ(removed.load(), added);
}

}  // namespace
}  // namespace heddle::runtime
