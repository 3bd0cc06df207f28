// Tests strands, Heddle's user-level threads, natively, in simulation and in-process. They run, wait, yield,
// move and end. A run in which all wait is an error.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <vector>

#include "base/error.hpp"
#include "model/fork_join.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::Event;
using ::testing::HasSubstr;
using ::testing::Not;

INSTANTIATE_TEST_SUITE_P(Worlds, Strands, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(Strands, RunAndEnd) {
    std::atomic<int> ended{0};
    run(1, 2, [&](Worker& worker) {
        for (int i = 0; i < 1000; ++i) Strand::start(worker, [&](Strand&) { ++ended; });
    });
    EXPECT_EQ(ended, 1000);
}

TEST_P(Strands, WaitUntilAnotherOneCompletesTheEvent) {
    struct Pair {
        Event event;
        int value = 0;
    };
    std::vector<Pair> pairs(500);
    std::atomic<int> right{0};
    run(1, 2, [&](Worker& worker) {
        for (Pair& pair : pairs) {
            Strand::start(worker, [&](Strand& self) {
                self.wait(pair.event);
                right += pair.value;
            });
        }
        for (Pair& pair : pairs) {
            Strand::start(worker, [&](Strand& self) {
                self.yield();
                pair.value = 1;
                pair.event.complete(self.worker().node(), self.worker());
            });
        }
    });
    EXPECT_EQ(right, 500);
}

/// Each strand of a ring waits for the one before it, round after round.
TEST_P(Strands, PassATokenAround) {
    constexpr std::size_t strands = 20;
    constexpr int rounds = 50;
    struct Place {
        Event come;
    };
    std::vector<Place> ring(strands);
    int steps = 0;
    run(1, 3, [&](Worker& worker) {
        for (std::size_t i = 0; i < strands; ++i) {
            Strand::start(worker, [&, i](Strand& self) {
                for (int round = 0; round < rounds; ++round) {
                    self.wait(ring[i].come);
                    ring[i].come.reset();
                    ++steps;
                    ring[(i + 1) % strands].come.complete(self.worker().node(), self.worker());
                }
            });
        }
        ring[0].come.complete(worker.node(), worker);
    });
    EXPECT_EQ(steps, rounds * static_cast<int>(strands));
}

TEST_P(Strands, StayWithTheirWorkerIfTheyArePinned) {
    std::atomic<int> elsewhere{0};
    std::atomic<int> turns{0};
    run(1, 3, [&](Worker& worker) {
        for (CoreId core = 0; core < 3; ++core) {
            for (int i = 0; i < 20; ++i) {
                Strand::start(worker,
                              [&, core](Strand& self) {
                                  for (int turn = 0; turn < 10; ++turn) {
                                      if (self.worker().id.core != core) ++elsewhere;
                                      ++turns;
                                      self.yield();
                                  }
                              },
                              {"pinned", core});
            }
        }
    });
    EXPECT_EQ(turns, 600);
    EXPECT_EQ(elsewhere, 0);
}

struct Fibonacci {
    static std::uint64_t run(model::Strand strand, std::uint32_t n) {
        if (n < 2) return n;
        strand.fork<Fibonacci>(n - 1);
        const auto second = strand.call<Fibonacci>(n - 2);
        return strand.join<Fibonacci>() + second;
    }
};

TEST_P(Strands, ForkAndJoinBetweenWaits) {
    constexpr int strands = 8;
    std::atomic<std::uint64_t> sum{0};
    run(1, 3, [&](Worker& worker) {
        for (int i = 0; i < strands; ++i) {
            Strand::start(worker, [&](Strand& self) {
                for (std::uint32_t n = 5; n < 12; ++n) {
                    sum += Fibonacci::run(model::Strand(self.worker(), self.head()), n);
                    self.yield();
                }
            });
        }
    });
    // 5 + 8 + 13 + 21 + 34 + 55 + 89
    EXPECT_EQ(sum, strands * 225U);
}

/// A task on its worker's stack waits for a strand, and the worker runs the strand.
TEST_P(Strands, AreRunByAWorkerWhoseTaskWaits) {
    for (const CoreId cores : {1, 2}) {
        Event event;
        bool seen = false;
        run(1, cores, [&](Worker& worker) {
            Strand::start(worker, [&](Strand& self) {
                for (int i = 0; i < 10; ++i) self.yield();
                event.complete(self.worker().node(), self.worker());
            });
            worker.wait(worker.base(), event);
            seen = event.done();
        });
        EXPECT_TRUE(seen);
    }
}

/// A strand with open forks waits as a task does, and its worker runs other strands above it.
TEST_P(Strands, WithOpenForksLetOthersRunAboveThem) {
    Event event;
    std::uint64_t result = 0;
    run(1, 1, [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            model::Strand fork(self.worker(), self.head());
            fork.fork<Fibonacci>(10U);
            self.worker().wait(self.head() + 1, event);
            result = fork.join<Fibonacci>();
        });
        Strand::start(worker, [&](Strand& self) {
            self.yield();
            event.complete(self.worker().node(), self.worker());
        });
    });
    EXPECT_EQ(result, 55);
}

class NeverCome final : public Event {
public:
    std::string what() const override { return "what never comes"; }
};

TEST_P(Strands, ThatAllWaitAreADeadlock) {
    NeverCome events[2];
    const std::string error = error_of([&] {
        run(failing_nodes(3), failing_cores(), [&](Worker& worker) {
            for (NeverCome& event : events) {
                Strand::start(worker, [&](Strand& self) { self.wait(event); }, {"a patient one"});
            }
        });
    });
    EXPECT_THAT(error, HasSubstr("deadlock: 2 strands and tasks wait"));
    EXPECT_THAT(error, HasSubstr("on node 0 a patient one waits for what never comes since "));
}

TEST_P(Strands, AndTasksThatAllWaitAreADeadlock) {
    NeverCome event;
    const std::string error = error_of([&] {
        run(failing_nodes(3), failing_cores(), [&](Worker& worker) { worker.wait(worker.base(), event); });
    });
    EXPECT_THAT(error, HasSubstr("deadlock: 1 strands and tasks wait"));
    EXPECT_THAT(error, HasSubstr("a task on worker 0 waits for what never comes since "));
}

/// What it has waited for before, and what is gone, is not named.
TEST_P(Strands, WithOpenForksThatWaitAreADeadlock) {
    for (const bool has_waited : {false, true}) {
        NeverCome event;
        const std::string error = error_of([&] {
            run(1, 1, [&](Worker& worker) {
                Strand::start(worker,
                              [&](Strand& self) {
                                  if (has_waited) runtime::sleep_for(self, std::chrono::microseconds(1));
                                  model::Strand fork(self.worker(), self.head());
                                  fork.fork<Fibonacci>(10U);
                                  self.worker().wait(self.head() + 1, event);
                                  (void)fork.join<Fibonacci>();
                              },
                              {"a forking one"});
            });
        });
        EXPECT_THAT(error, HasSubstr("deadlock: 1 strands and tasks wait"));
        EXPECT_THAT(error, HasSubstr("on node 0 a task on worker 0 waits for what never comes since "));
        EXPECT_THAT(error, Not(HasSubstr("a forking one")));
    }
}

/// A strand fails above a task that waits, and the task catches its error.
TEST_P(Strands, ThatFailAboveATaskEndTheRun) {
    for (const bool task_is_strand : {false, true}) {
        NeverCome event;
        bool caught = false;
        const auto wait = [&](Worker& worker, runtime::Slot* head) {
            Strand::start(worker, [](Strand&) { throw Error("the strand fails"); });
            try {
                worker.wait(head, event);
            } catch (const Error&) {
                caught = true;
            }
        };
        const std::string error = error_of([&] {
            run(1, 1, [&](Worker& worker) {
                if (!task_is_strand) return wait(worker, worker.base());
                Strand::start(worker, [&](Strand& self) {
                    model::Strand fork(self.worker(), self.head());
                    fork.fork<Fibonacci>(10U);
                    wait(self.worker(), self.head() + 1);
                    (void)fork.join<Fibonacci>();
                });
            });
        });
        EXPECT_THAT(error, HasSubstr("the strand fails"));
        EXPECT_TRUE(caught);
    }
}

/// Completes `event` where earlier calls had their stack, and counts the bytes that this changed there.
[[gnu::noinline]] std::size_t bytes_changed_by_completing(Event& event, Worker& worker) {
    volatile unsigned char below[16U << 10];
    for (volatile unsigned char& byte : below) byte = 0;
    event.complete(worker.node(), worker);
    std::size_t changed = 0;
    for (const volatile unsigned char& byte : below) changed += byte != 0 ? 1 : 0;
    return changed;
}

/// What a task waited for comes after the error of a strand has ended the wait.
TEST_P(Strands, ThatFailAboveATaskLeaveNoWaiterOnItsStack) {
    std::size_t changed = 1;
    const std::string error = error_of([&] {
        run(1, 1, [&](Worker& worker) {
            Event event;
            Strand::start(worker, [](Strand&) { throw Error("the strand fails"); });
            try {
                worker.wait(worker.base(), event);
            } catch (const Error&) {
                changed = bytes_changed_by_completing(event, worker);
            }
        });
    });
    EXPECT_THAT(error, HasSubstr("the strand fails"));
    EXPECT_EQ(changed, 0);
}

TEST_P(Strands, AreUnwoundIfTheRunFails) {
    std::atomic<int> alive{0};
    NeverCome event;
    Event all_alive;
    const std::string error = error_of([&] {
        run(1, failing_cores(), [&](Worker& worker) {
            for (int i = 0; i < 10; ++i) {
                Strand::start(worker, [&](Strand& self) {
                    const Counted counted(alive);
                    if (alive == 10) all_alive.complete(self.worker().node(), self.worker());
                    self.wait(event);
                });
            }
            Strand::start(worker, [&](Strand& self) {
                self.wait(all_alive);
                throw Error("a strand gives up");
            });
        });
    });
    EXPECT_THAT(error, HasSubstr("a strand gives up"));
    EXPECT_EQ(alive, 0);
}

TEST_P(Strands, PinnedToAWorkerThatIsNotThereAreRefused) {
    bool ran = false;
    const std::string error = error_of([&] {
        run(1, failing_cores(), [&](Worker& worker) {
            Strand::start(worker, [&](Strand&) { ran = true; }, {"a far one", 2});
        });
    });
    EXPECT_THAT(error, HasSubstr("a far one is pinned to worker 2 of node 0, and there are "));
    EXPECT_FALSE(ran);
}

TEST_P(Strands, ManyWaitAtOnce) {
    constexpr int strands = 2000;
    std::vector<std::unique_ptr<Event>> events;
    for (int i = 0; i < strands; ++i) events.push_back(std::make_unique<Event>());
    std::atomic<int> ended{0};
    run(1, 2, [&](Worker& worker) {
        for (int i = 0; i < strands; ++i) {
            Strand::start(worker, [&, i](Strand& self) {
                self.wait(*events[static_cast<std::size_t>(i)]);
                ++ended;
            });
        }
        Strand::start(worker, [&](Strand& self) {
            for (const auto& event : events) event->complete(self.worker().node(), self.worker());
        });
    });
    EXPECT_EQ(ended, strands);
}

// A strand that is always ready: on one worker, what is due has its turn.
TEST_P(Strands, OneThatYieldsLeavesOtherWorkItsTurn) {
    Event event;
    run(1, 1, [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            Worker& own = self.worker();
            own.node().state<runtime::Timers>().add(own, own.backend->now(own), event);
            while (!event.done()) self.yield();
        });
    });
    EXPECT_TRUE(event.done());
}

/// It is done once the strand that waits for it has left its stack, before any other strand is shown it.
class DoneOnceLeft final : public runtime::Waitable {
public:
    bool done() const override { return done_; }
    bool await(runtime::Waiter& /*waiter*/) override {
        done_ = true;
        return false;
    }
    std::string what() const override { return "what is done once a strand has left"; }

private:
    bool done_ = false;
};

// A strand that is ready again whenever the worker has come back to its loop, and never two at a time.
TEST_P(Strands, OneThatIsReadyAgainAfterEachRunLeavesOtherWorkItsTurn) {
    Event event;
    bool had_its_turn = false;
    run(1, 1, [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            Worker& own = self.worker();
            own.node().state<runtime::Timers>().add(own, own.backend->now(own), event);
            for (int waits = 0; !event.done() && waits < 100'000; ++waits) {
                DoneOnceLeft soon;
                self.wait(soon);
            }
            had_its_turn = event.done();
        });
    });
    EXPECT_TRUE(had_its_turn);
}

/// Each wait for it that does not end at once ends at the next look.
class SoonDone final : public runtime::Waitable {
public:
    bool done() const override { return looks_++ % 2 == 1; }
    bool await(runtime::Waiter& /*waiter*/) override { return false; }
    std::string what() const override { return "what is soon done"; }

private:
    mutable std::uint64_t looks_ = 0;
};

/// A worker that has a core to itself looks whether a wait is over before it leaves the strand.
TEST(NativeStrands, WaitsThatEndSoonLetTheLoopHaveItsTurn) {
    bool slept = false;
    const auto backend = one_native_node(1, 1);
    const auto first = [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            runtime::sleep_for(self, std::chrono::milliseconds(1));
            slept = true;
        });
        Strand::start(worker, [&](Strand& self) {
            SoonDone soon;
            const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
            while (!slept && std::chrono::steady_clock::now() < limit) self.wait(soon);
            EXPECT_TRUE(slept);
        });
    };
    runtime::Execution(*backend, {}, [&](NodeId) { return std::make_unique<FirstTask>(first); }).run();
}

}  // namespace
}  // namespace heddle::testing_strands
