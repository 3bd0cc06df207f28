// Tests which cores the processes of a run and their threads take on one machine, and what hwloc tells of
// those cores.
#include <gtest/gtest.h>
#include <sched.h>

#include <numeric>
#include <thread>
#include <vector>

#include "host/machine.hpp"

namespace heddle::host {

namespace {

std::vector<unsigned> first_cores(unsigned processes, unsigned workers, const std::vector<unsigned>& groups) {
    std::vector<unsigned> all;
    for (unsigned process = 0; process < processes; ++process)
        all.push_back(first_core_of(process, processes, workers, groups));
    return all;
}

using Places = std::vector<unsigned>;

}  // namespace

TEST(CorePlaces, ProcessesFollowEachOther) {
    EXPECT_EQ(first_cores(4, 2, {8}), (Places{0, 2, 4, 6}));
    EXPECT_EQ(first_cores(4, 4, {8, 8}), (Places{0, 4, 8, 12}));
}

TEST(CorePlaces, AProcessHasCoresOfOneNumaNodeIfAllFitSo) {
    // The third process would have two cores of each node. Then one core of the first stays free.
    EXPECT_EQ(first_cores(4, 3, {8, 8}), (Places{0, 3, 8, 11}));
    EXPECT_EQ(first_cores(3, 2, {1, 2, 5}), (Places{1, 3, 5}));
}

TEST(CorePlaces, IfTheyDoNotFitSoTheyFollowEachOther) {
    EXPECT_EQ(first_cores(5, 3, {8, 8}), (Places{0, 3, 6, 9, 12}));
    EXPECT_EQ(first_cores(1, 12, {8, 8}), (Places{0}));
    EXPECT_EQ(first_cores(2, 1, {}), (Places{0, 1}));
}

TEST(CorePlaces, OtherThreadsKeepOffTheWorkersOfOtherProcesses) {
    EXPECT_EQ(cores_beside(0, 2, 1, {2}, 2), (Places{0}));
    EXPECT_EQ(cores_beside(1, 2, 1, {2}, 2), (Places{1}));
    // Cores without a worker are for the threads of all.
    EXPECT_EQ(cores_beside(1, 2, 2, {8}, 8), (Places{2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(cores_beside(2, 4, 3, {8, 8}, 16), (Places{6, 7, 8, 9, 10, 14, 15}));
    EXPECT_EQ(cores_beside(0, 1, 2, {}, 4), (Places{0, 1, 2, 3}));
}

TEST(CorePlaces, AThreadIsBoundToSeveralCores) {
    std::thread([] {
        const unsigned cores = machine_cores();
        ASSERT_TRUE(bind_to_cores({cores - 1}));
        cpu_set_t set;
        ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
        EXPECT_EQ(CPU_COUNT(&set), 1);
        if (cores > 1) {
            ASSERT_TRUE(bind_to_cores({0, cores - 1}));
            ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
            EXPECT_EQ(CPU_COUNT(&set), 2);
        }
        EXPECT_FALSE(bind_to_cores({1'000'000}));
        EXPECT_TRUE(bind_to_cores({}));
    }).join();
}

TEST(CorePlaces, EveryCoreHasMemory) {
    const std::vector<unsigned> groups = cores_by_memory();
    EXPECT_GE(std::accumulate(groups.begin(), groups.end(), 0U), machine_cores());
}

TEST(CorePlaces, CachesGrowWithTheirLevel) {
    const std::vector<Cache> all = caches();
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_GT(all[i].bytes, 0u);
        EXPECT_GE(all[i].cores, 1u);
        if (i > 0) {
            EXPECT_GT(all[i].level, all[i - 1].level);
            EXPECT_GE(all[i].cores, all[i - 1].cores);
        }
    }
}

}  // namespace heddle::host
