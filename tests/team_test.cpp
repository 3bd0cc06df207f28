// Tests barriers and reductions of teams, natively, in simulation and in-process: no member leaves early, and
// results are those of a loop.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <vector>

#include "runtime/comm/team.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::Team;

class Teams : public Strands {
protected:
    /// `body` on every member of a team, with its number on its node.
    void run_team(NodeId nodes, CoreId cores, std::uint32_t members,
                  const std::function<void(Strand&, Team&, std::uint32_t)>& body) {
        run_all(nodes, cores, [&](Worker& worker) {
            const auto team = std::make_shared<Team>(worker.node(), 4, members);
            for (std::uint32_t member = 0; member < members; ++member)
                Strand::start(worker, [&body, team, member](Strand& self) { body(self, *team, member); });
        });
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, Teams, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(Teams, NoMemberLeavesABarrierBeforeAllHaveCome) {
    constexpr int rounds = 40;
    constexpr std::uint32_t members = 3;
    for (const NodeId wanted : {1, 2, 7}) {
        const NodeId count = nodes(wanted);
        std::atomic<int> come{0};
        std::atomic<int> early{0};
        run_team(count, 2, members, [&](Strand& self, Team& team, std::uint32_t) {
            for (int round = 1; round <= rounds; ++round) {
                ++come;
                team.barrier(self);
                if (come < round * static_cast<int>(members * count)) ++early;
                team.barrier(self);
            }
        });
        EXPECT_EQ(early, 0) << count;
        EXPECT_EQ(come, rounds * static_cast<int>(members * count)) << count;
    }
}

TEST_P(Teams, ReduceToTheSameOnEachMember) {
    constexpr std::uint32_t members = 3;
    for (const NodeId wanted : {1, 6}) {
        const NodeId count = nodes(wanted);
        std::atomic<int> wrong{0};
        run_team(count, 2, members, [&](Strand& self, Team& team, std::uint32_t member) {
            for (std::uint64_t round = 0; round < 20; ++round) {
                const std::uint64_t mine = self.worker().id.node * members + member + round;
                const std::uint64_t all = members * count;
                const auto sum = team.all_reduce(self, member, mine, [](auto a, auto b) { return a + b; });
                if (sum != all * (all - 1) / 2 + all * round) ++wrong;
                const auto largest =
                    team.all_reduce(self, member, mine, [](auto a, auto b) { return std::max(a, b); });
                if (largest != all - 1 + round) ++wrong;
                if (round % 3 == 0) team.barrier(self);
            }
        });
        EXPECT_EQ(wrong, 0) << count;
    }
}

/// A sum of floating-point numbers has the same bits in every round and on every member, whatever the timing.
TEST_P(Teams, CombineInAFixedOrder) {
    constexpr std::uint32_t members = 4;
    const NodeId count = nodes(5);
    std::vector<double> sums;
    runtime::SpinLock lock;
    run_team(count, 2, members, [&](Strand& self, Team& team, std::uint32_t member) {
        for (int round = 0; round < 20; ++round) {
            const double mine = std::pow(1.1, 37.0 * (self.worker().id.node * members + member));
            if ((member + static_cast<std::uint32_t>(round)) % 3 == 0) self.yield();
            const double sum = team.all_reduce(self, member, mine, [](double a, double b) { return a + b; });
            const runtime::SpinLock::Guard guard(lock);
            sums.push_back(sum);
        }
    });
    ASSERT_EQ(sums.size(), 20U * members * count);
    for (const double sum : sums) ASSERT_EQ(sum, sums.front());
}

}  // namespace
}  // namespace heddle::testing_strands
