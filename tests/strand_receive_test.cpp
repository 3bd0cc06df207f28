// Tests that a worker receives for a strand that waits (Topology::receives): the strand goes on without being
// shown to other contexts, and what a handler does meanwhile comes to the same as if the worker slept.
#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include "runtime/comm/endpoint.hpp"
#include "tests/seeds.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::Endpoint;
using runtime::Event;
using runtime::Handler;
using runtime::Node;
using ::testing::HasSubstr;

/// What the handlers of a test do: a test is one run at a time.
std::function<void(Node& node, NodeId from)> on_call;

const Handler call_handler("test.strand_receive.call", Handler::Kind::work,
                           [](Node& node, NodeId from, auto) { on_call(node, from); });

void call(Worker& worker, NodeId node) {
    worker.outbox().post(node, call_handler, {});
}

World receiving(std::uint64_t seed, const inprocess::Faults& faults = {}) {
    return inprocess_world("receiving", seed, seed % 2 == 0, faults, false, true);
}

class StrandReceive : public testing::Test {
protected:
    ~StrandReceive() override { on_call = {}; }

    static void run_all(const World& world, NodeId nodes, CoreId cores, const OnEachNode::Begin& begin) {
        world.run(nodes, cores, [&](NodeId) { return std::make_unique<OnEachNode>(begin); });
    }
};

/// Two strands answer each other. Returns how often they left their workers to others.
std::uint64_t waits_of_two(const World& world, int rounds) {
    std::atomic<std::uint64_t> waited{0};
    world.run(2, 1, [&](NodeId) {
        return std::make_unique<OnEachNode>([&](Worker& worker) {
            Strand::start(worker, [&](Strand& self) {
                const NodeId here = self.worker().id.node;
                Endpoint endpoint(self.worker().node(), 1);
                for (int round = 0; round < rounds; ++round) {
                    if (here == 0) endpoint.send(self, {1, 1}, 0, runtime::Parcel());
                    endpoint.receive(self);
                    if (here == 1) endpoint.send(self, {0, 1}, 0, runtime::Parcel());
                }
                waited += self.worker().strands().counts().waited.load();
            });
        });
    });
    return waited;
}

TEST_F(StrandReceive, AStrandGoesOnWithoutBeingShownToOthers) {
    constexpr int rounds = 200;
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(100); ++seed)
        EXPECT_LT(waits_of_two(receiving(seed), rounds), 3 * rounds / 2) << "seed " << seed;
}

TEST_F(StrandReceive, WhereNoWorkerReceivesItLeavesAtEachWait) {
    constexpr int rounds = 200;
    EXPECT_GE(waits_of_two(inprocess_world("plain", 1, false), rounds), 2 * rounds - 2);
}

TEST_F(StrandReceive, AStrandGoesOnNatively) {
    native::NativeOptions options;
    options.receive = native::Receive::poll;
    const World world{"native", [&](NodeId nodes, CoreId cores, const runtime::ProgramFactory& make) {
                          run_native_nodes_with(options, nodes, cores, make);
                      }};
    // One wait in 16 gives the worker's loop its turn, and another process may have the core.
    constexpr int rounds = 20'000;
    EXPECT_LT(waits_of_two(world, rounds), 2 * rounds - rounds / 10);
}

// The strand that is received for waits for another one, which the handler makes ready.
TEST_F(StrandReceive, AStrandLeavesIfAHandlerMakesAnotherOneReady) {
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(200); ++seed) {
        for (const bool first : {false, true}) {
            Event called, passed_on;
            std::vector<int> order;
            on_call = [&](Node& node, NodeId) { called.complete(node, node.receiver()); };
            const auto waits_for_call = [&](Strand& self) {
                self.wait(called);
                order.push_back(1);
                passed_on.complete(self.worker().node(), self.worker());
            };
            const auto waits_for_it = [&](Strand& self) {
                self.wait(passed_on);
                order.push_back(2);
            };
            run_all(receiving(seed), 2, 1, [&](Worker& worker) {
                if (worker.id.node == 1) return call(worker, 0);
                if (first) Strand::start(worker, waits_for_call);
                Strand::start(worker, waits_for_it);
                if (!first) Strand::start(worker, waits_for_call);
            });
            EXPECT_EQ(order, (std::vector{1, 2})) << "seed " << seed;
        }
    }
}

// Any number of workers and strands: each call makes one strand ready, and none is lost or runs twice.
TEST_F(StrandReceive, EachCallMakesOneStrandReady) {
    constexpr int strands = 12;
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(200); ++seed) {
        std::vector<Event> events(strands);
        std::vector<int> went_on(strands, 0);
        std::size_t next = 0;
        on_call = [&](Node& node, NodeId) { events[next++].complete(node, node.receiver()); };
        const inprocess::Faults faults{.delay_max = 50, .reorders = seed % 3 == 0};
        run_all(receiving(seed, faults), 3, static_cast<CoreId>(1 + seed % 3), [&](Worker& worker) {
            if (worker.id.node != 0) {
                Strand::start(worker, [](Strand& self) {
                    for (int i = 0; i < strands / 2; ++i) {
                        call(self.worker(), 0);
                        self.yield();
                    }
                });
                return;
            }
            for (int i = 0; i < strands; ++i) {
                Strand::start(worker, [&, i](Strand& self) {
                    const auto mine = static_cast<std::size_t>(i);
                    self.wait(events[mine]);
                    ++went_on[mine];
                });
            }
        });
        EXPECT_EQ(went_on, std::vector(strands, 1)) << "seed " << seed;
    }
}

// A handler runs below no strand, so a strand that catches everything does not catch what it throws.
TEST_F(StrandReceive, AHandlerThatThrowsEndsTheRun) {
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(100); ++seed) {
        Event never;
        std::atomic<int> alive{0};
        on_call = [](Node&, NodeId) { throw Error("a handler gives up"); };
        const std::string error = error_of([&] {
            run_all(receiving(seed), 2, 1, [&](Worker& worker) {
                if (worker.id.node == 1) return call(worker, 0);
                Strand::start(worker, [&](Strand& self) {
                    const Counted counted(alive);
                    try {
                        self.wait(never);
                    } catch (const std::exception&) {
                        ADD_FAILURE() << "the strand caught it";
                    }
                });
            });
        });
        EXPECT_THAT(error, HasSubstr("a handler gives up")) << "seed " << seed;
        EXPECT_EQ(alive, 0) << "seed " << seed;
    }
}

TEST_F(StrandReceive, StrandsThatWaitForEverAreADeadlock) {
    struct NeverComes final : Event {
        std::string what() const override { return "what never comes"; }
    };
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(100); ++seed) {
        NeverComes never;
        Event called;
        on_call = [&](Node& node, NodeId) { called.complete(node, node.receiver()); };
        const std::string error = error_of([&] {
            run_all(receiving(seed), 3, static_cast<CoreId>(1 + seed % 2), [&](Worker& worker) {
                if (worker.id.node == 1) return call(worker, 0);
                if (worker.id.node == 2) return;
                Strand::start(worker, [&](Strand& self) {
                    self.wait(called);
                    self.wait(never);
                });
            });
        });
        EXPECT_THAT(error, HasSubstr("deadlock: 1 strands and tasks wait")) << "seed " << seed;
        EXPECT_THAT(error, HasSubstr("a strand waits for what never comes since ")) << "seed " << seed;
    }
}

/// Natively the process says so and ends.
TEST_F(StrandReceive, NativelyToo) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    for (const native::Receive how : {native::Receive::automatic, native::Receive::poll}) {
        native::NativeOptions options;
        options.receive = how;
        const auto wait_for_ever = [&] {
            run_native_nodes_with(options, 2, 1, [](NodeId) {
                return std::make_unique<OnEachNode>([](Worker& worker) {
                    Strand::start(worker, [](Strand& self) {
                        Endpoint endpoint(self.worker().node(), 1);
                        if (self.worker().id.node == 0) endpoint.send(self, {1, 1}, 0, runtime::Parcel());
                        if (self.worker().id.node == 1) endpoint.receive(self);
                        endpoint.receive(self);
                    });
                });
            });
        };
        EXPECT_EXIT(wait_for_ever(), testing::ExitedWithCode(native::exit_code_failed),
                    "deadlock: 2 strands and tasks wait");
        on_call = [](Node&, NodeId) { throw Error("a handler gives up"); };
        const auto call_one_that_throws = [&] {
            run_native_nodes_with(options, 2, 1, [](NodeId) {
                return std::make_unique<OnEachNode>([](Worker& worker) {
                    if (worker.id.node == 1) return call(worker, 0);
                    Strand::start(worker, [](Strand& self) {
                        Event never;
                        self.wait(never);
                    });
                });
            });
        };
        EXPECT_EXIT(call_one_that_throws(), testing::ExitedWithCode(native::exit_code_failed),
                    "a handler gives up");
    }
}

}  // namespace
}  // namespace heddle::testing_strands
