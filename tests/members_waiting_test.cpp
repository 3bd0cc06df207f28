// Tests what waits on nodes that join or leave: it is unwound, or ends the run with an error that names it.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "model/fork_join.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/core/node.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "tests/strand_testing.hpp"

namespace heddle {
namespace {

using runtime::Strand;
using runtime::Worker;
using ::testing::HasSubstr;

class NeverDone final : public runtime::Event {
public:
    std::string what() const override { return "what never comes"; }
};

runtime::RunResult run_on(inprocess::InprocessBackend& backend, const runtime::Schedule& schedule,
                          const testing_strands::OnEachNode::Begin& begin) {
    const auto make = [&](NodeId) { return std::make_unique<testing_strands::OnEachNode>(begin); };
    return runtime::Execution(backend, schedule, make).run();
}

// Node 1 starts a microsecond before node 0 has nothing left, and its request to join comes too late.
TEST(MembersWaiting, ANodeThatIsTurnedAwayBeginsNothing) {
    for (const CoreId cores : {1, 3}) {
        for (std::uint64_t seed = 1; seed <= 50; ++seed) {
            SCOPED_TRACE(seed);
            inprocess::Options options;
            options.nodes = 2;
            options.cores = cores;
            options.seed = seed;
            options.at_start = 1;
            options.member_events = {{std::chrono::microseconds(999), 1, true}};
            options.faults.delay_max = 20'000;
            inprocess::InprocessBackend backend(options);
            NeverDone event;
            int begun = 0;
            ASSERT_NO_THROW(run_on(backend, {}, [&](Worker& worker) {
                if (worker.id.node == 0) {
                    Strand::start(worker, [](Strand& self) {
                        runtime::sleep_until(self, std::chrono::milliseconds(1));
                    });
                    return;
                }
                ++begun;
                worker.wait(worker.base(), event);
            }));
            EXPECT_EQ(begun, 0);
        }
    }
}

std::atomic<NeverDone*> never_done{nullptr};
std::atomic<bool> waits_elsewhere{false};

/// Waits for ever on a node that has stolen it.
struct WaitsWhereStolen {
    static std::uint64_t run(model::Strand strand, std::uint32_t home) {
        if (strand.worker().id.node == home) return 0;
        waits_elsewhere = true;
        strand.worker().wait(strand.worker().base(), *never_done);
        return 1;
    }
};

struct EmptyTask {
    static std::uint64_t run(model::Strand /*strand*/, std::uint32_t value) { return value; }
};

// A strand waits from the beginning, so that all nodes of that time are told to look for a deadlock. The last
// node would end the run after a hundred seconds.
TEST(MembersWaiting, ADeadlockWithANodeThatJoinedAfterALongWaitIsNamed) {
    inprocess::Options options;
    options.nodes = 4;
    options.at_start = 2;
    options.member_events = {{std::chrono::seconds(1), 2, true}, {std::chrono::seconds(100), 3, true}};
    runtime::Schedule schedule;
    schedule.stealing.back_off_max = std::chrono::milliseconds(1);
    NeverDone event;
    never_done = &event;
    waits_elsewhere = false;
    inprocess::InprocessBackend backend(options);
    const std::string error = testing_strands::error_of([&] {
        run_on(backend, schedule, [&](Worker& worker) {
            if (worker.id.node == 0) {
                Strand::start(worker, [&](Strand& self) { self.wait(event); }, {"a master"});
                Strand::start(worker, [](Strand& self) {
                    runtime::sleep_until(self, std::chrono::milliseconds(1500));
                });
            }
            if (worker.id.node == 3) worker.node().end_run(worker, worker.outbox());
            if (worker.id.node != 2) return;
            model::Strand strand(worker);
            strand.fork<WaitsWhereStolen>(2U);
            while (!waits_elsewhere) {
                strand.fork<EmptyTask>(1U);
                (void)strand.join<EmptyTask>();
            }
            (void)strand.join<WaitsWhereStolen>();
        });
    });
    EXPECT_THAT(error, HasSubstr("deadlock: 3 strands and tasks wait"));
    EXPECT_THAT(error, HasSubstr("on node 0 a master waits for what never comes"));
    EXPECT_THAT(error, HasSubstr("on node 2 a task on worker 0 waits for "));
    EXPECT_LT(backend.elapsed(), std::chrono::milliseconds(2500));
}

const runtime::Handler start_late_handler("members_waiting_test.start_late", runtime::Handler::Kind::work,
                                          [](runtime::Node& node, NodeId /*from*/, auto /*message*/) {
                                              Strand::start(node, node.receiver(),
                                                            [](Strand& self) { self.wait(*never_done); },
                                                            {"a late one"});
                                          });

// Node 1 is asked to leave at 3 us, and a message comes that was sent shortly after that. The run would end
// after ten seconds.
TEST(MembersWaiting, AStrandThatALateMessageStartedOnALeaverIsNamedIfItWaits) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        inprocess::Options options;
        options.nodes = 2;
        options.at_start = 2;
        options.seed = seed;
        options.faults = {.delay_max = 100, .reorders = true};
        options.member_events = {{std::chrono::microseconds(3), 1, false}};
        runtime::Schedule schedule;
        schedule.seed = seed;
        schedule.stealing.victim = "none";
        NeverDone event;
        never_done = &event;
        inprocess::InprocessBackend backend(options);
        const std::string error = testing_strands::error_of([&] {
            run_on(backend, schedule, [&](Worker& worker) {
                if (worker.id.node != 0) return;
                Strand::start(worker, [seed](Strand& self) {
                    runtime::sleep_until(self, std::chrono::nanoseconds(3000 + 10 * seed));
                    self.worker().outbox().post(1, start_late_handler, {});
                    runtime::sleep_until(self, std::chrono::seconds(10));
                    self.worker().node().end_run(self.worker(), self.worker().outbox());
                });
            });
        });
        EXPECT_THAT(error, HasSubstr("node 1 cannot leave: "));
        EXPECT_THAT(error, HasSubstr("a late one waits for what never comes since "));
    }
}

/// Once node 1 has left, node 0 gives it a task, which it awaits itself.
class GivesToALeaver final : public runtime::Program {
public:
    void begin(Worker& worker) override {
        if (worker.id.node != 0) return;
        Strand::start(worker, [this](Strand& self) {
            testing_strands::wait_until(self, [this] { return left_; });
            Worker& own = self.worker();
            model::Strand strand(own, self.head());
            own.deque().ask();
            strand.fork<EmptyTask>(7U);
            given_ = own.node().steals().give_all(own.outbox(), 1);
            result_ = strand.join<EmptyTask>();
        });
    }
    void left(runtime::Node& /*node*/, NodeId /*other*/) override { left_ = true; }
    runtime::Answer answer() const override {
        if (!left_) return {};
        EXPECT_EQ(given_, 1);
        EXPECT_EQ(result_, 7);
        return {};
    }

private:
    bool left_ = false;
    std::uint32_t given_ = 0;
    std::uint64_t result_ = 0;
};

TEST(MembersWaiting, TasksForANodeThatHasLeftComeBackAndAreNotStolen) {
    inprocess::Options options;
    options.nodes = 2;
    options.at_start = 2;
    options.member_events = {{std::chrono::microseconds(1), 1, false}};
    inprocess::InprocessBackend backend(options);
    const auto make = [](NodeId) { return std::make_unique<GivesToALeaver>(); };
    const runtime::RunResult result = runtime::Execution(backend, {}, make).run();
    EXPECT_EQ(result.members.size(), 1);
    EXPECT_TRUE(result.steals.empty());
    EXPECT_EQ(result.total.steals_between_nodes, 0);
}

TEST(MembersWaiting, ANodeBeyondTheCapacityIsNotAskedToLeave) {
    inprocess::Options options;
    options.nodes = 2;
    options.at_start = 2;
    inprocess::InprocessBackend backend(options);
    const std::string error = testing_strands::error_of([&] {
        run_on(backend, {}, [](Worker& worker) { runtime::ask_to_leave(worker.outbox(), 100'000'000); });
    });
    EXPECT_THAT(error, HasSubstr("node 100000000 is asked to leave, and there are 2 nodes"));
}

}  // namespace
}  // namespace heddle
