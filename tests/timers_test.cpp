// Tests that strands and tasks which sleep wake at their time, in order, natively, in simulation and
// in-process. Other work goes on meanwhile.
#include "runtime/sources/timers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::sleep_for;

constexpr Time step = std::chrono::milliseconds(2);

class Timers : public Strands {};

INSTANTIATE_TEST_SUITE_P(Worlds, Timers, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(Timers, HappenInTheOrderOfTheirTimes) {
    constexpr int count = 4;
    runtime::Event events[count];
    std::vector<int> happened;
    run(1, 1, [&](Worker& worker) {
        const Time begin = worker.backend->now(worker);
        // The worker looks for what is due only after this task.
        for (const int number : {3, 1, 2, 0})
            worker.node().state<runtime::Timers>().add(worker, begin + number * step, events[number]);
        for (int number = 0; number < count; ++number) {
            Strand::start(worker, [&, number](Strand& self) {
                self.wait(events[number]);
                happened.push_back(number);
            });
        }
    });
    EXPECT_EQ(happened, (std::vector<int>{0, 1, 2, 3}));
}

TEST_P(Timers, DoNotWakeBeforeTheirTime) {
    std::atomic<int> early{0};
    run(1, 2, [&](Worker& worker) {
        for (const int steps : {3, 1, 2, 0}) {
            Strand::start(worker, [&, steps](Strand& self) {
                const Time begin = self.worker().backend->now(self.worker());
                sleep_for(self, steps * step);
                if (self.worker().backend->now(self.worker()) < begin + steps * step) ++early;
            });
        }
    });
    EXPECT_EQ(early, 0);
}

TEST_P(Timers, TheRunLastsUntilTheyHaveHappened) {
    std::atomic<int> woken{0};
    run_all(nodes(3), 2, [&](Worker& worker) {
        for (int i = 0; i < 5; ++i) {
            Strand::start(worker, [&](Strand& self) {
                for (int round = 0; round < 3; ++round) sleep_for(self, step / 2);
                ++woken;
            });
        }
    });
    EXPECT_EQ(woken, 5 * static_cast<int>(nodes(3)));
}

/// A task that sleeps on its worker's stack runs other work there meanwhile.
TEST_P(Timers, ATaskThatSleepsHelps) {
    std::vector<char> order;
    run(1, 1, [&](Worker& worker) {
        Strand::start(worker, [&](Strand&) { order.push_back('s'); });
        sleep_for({worker, worker.base()}, step);
        order.push_back('t');
    });
    EXPECT_EQ(order, (std::vector<char>{'s', 't'}));
}

}  // namespace
}  // namespace heddle::testing_strands
