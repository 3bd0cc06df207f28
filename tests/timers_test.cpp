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

TEST_P(Timers, AreRefusedAfterTheLastMoment) {
    bool refused = false;
    bool went_on = false;
    run(1, 1, [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            sleep_for(self, step);
            try {
                sleep_for(self, never);
            } catch (const Error&) {
                refused = true;
            }
            sleep_for(self, -step);
            went_on = true;
        });
    });
    EXPECT_TRUE(refused);
    EXPECT_TRUE(went_on);
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

#ifdef HEDDLE_SIM
// Of three workers two become busy while the strand sleeps: its own, and one that was idle when it began to
// sleep. The third one slept then, too.
TEST(Timers, AnyIdleWorkerWakesThem) {
    Platform platform;
    platform.nodes = 1;
    platform.cores = 3;
    platform.overheads = {};
    sim::SimBackend backend(platform, {});
    const auto compute = [](Strand& self, double seconds) {
        const Worker& worker = self.worker();
        const Time begin = worker.backend->now(worker);
        self.worker().compute({1e7, 0}, [] {});
        const Time piece = worker.backend->now(worker) - begin;
        self.worker().compute({1e7 * (seconds / to_seconds(piece) - 1), 0}, [] {});
    };
    Time asked{}, woke{};
    const auto first = [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            compute(self, 0.02);  // the others fall asleep
            asked = self.worker().backend->now(self.worker()) + std::chrono::milliseconds(50);
            const auto occupy_two = [&](Strand& one) {
                compute(one, 0.005);
                const auto occupy = [&](Strand& other) { compute(other, 1); };
                Strand::start(one.worker(), occupy, {"on worker 1", 1});
                compute(one, 1);
            };
            Strand::start(self.worker(), occupy_two, {"on worker 0", 0});
            runtime::sleep_until(self, asked);
            woke = self.worker().backend->now(self.worker());
        });
    };
    runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<FirstTask>(first); }).run();
    EXPECT_EQ(woke, asked);
}
#endif

}  // namespace
}  // namespace heddle::testing_strands
