// Compares the simulator's table of each node's next time (its agenda) with a sorted list.
#include "sim/agenda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"

namespace heddle::sim {
namespace {

TEST(Agenda, KnowsTheEarliestAndGivesOutWhoIsDueOnce) {
    Agenda agenda(3);
    EXPECT_EQ(agenda.next_time(), never);
    agenda.note(2, Time(50));
    agenda.note(0, Time(70));
    agenda.note(2, Time(60));  // later than it is due anyway
    EXPECT_EQ(agenda.next_time(), Time(50));
    std::vector<NodeId> due;
    agenda.take(Time(50), due);
    EXPECT_TRUE(due.empty());
    agenda.take(Time(51), due);
    EXPECT_EQ(due, std::vector<NodeId>{2});
    agenda.take(Time(51), due);
    EXPECT_EQ(due, std::vector<NodeId>{2});
    EXPECT_EQ(agenda.next_time(), Time(70));
}

// 1000 nodes are several blocks, the last one not full.
TEST(Agenda, AgreesWithASortedListOnRandomTimes) {
    constexpr NodeId nodes = 1000;
    Agenda agenda(nodes);
    std::vector<Time> times(nodes, never);
    Random random(7);
    Time now{};
    for (int step = 0; step < 2000; ++step) {
        for (int i = 0; i < 20; ++i) {
            const auto id = static_cast<NodeId>(random.below(nodes));
            const Time time = now + Time(random.below(1000));
            agenda.note(id, time);
            times[id] = std::min(times[id], time);
        }
        ASSERT_EQ(agenda.next_time(), *std::min_element(times.begin(), times.end()));
        now += Time(random.below(100));
        std::vector<NodeId> due, expected;
        agenda.take(now, due);
        for (NodeId id = 0; id < nodes; ++id) {
            if (times[id] >= now) continue;
            expected.push_back(id);
            times[id] = never;
        }
        ASSERT_EQ(due, expected);
    }
}

}  // namespace
}  // namespace heddle::sim
