// Tests in simulation when a worker asks another node for work after its search was interrupted: by closures
// of its own node, by strands, by nodes that join, and by a strand that joins a stolen task.
#include <gtest/gtest.h>

#include <memory>

#include "model/dataflow.hpp"
#include "model/fork_join.hpp"
#include "runtime/comm/endpoint.hpp"
#include "tests/sim_harness.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::sim::testing {
namespace {

using dataflow::shared;
using dataflow::shared_w;
using dataflow::Thread;
using runtime::Endpoint;
using runtime::Strand;
using runtime::Worker;

constexpr Time ms = std::chrono::milliseconds(1);

/// What the worker that is observed has done.
struct Record {
    WorkerId worker;
    Time dry{};               ///< the end of the latest work of its own node
    Time first_from = never;  ///< when it began a task from another node

    void begins_far(const Worker& by) {
        if (by.id == worker) first_from = std::min(first_from, now(by));
    }
    void ends_near(const Worker& by) {
        if (by.id == worker) dry = now(by);
    }
};

/// One run at a time: tasks that travel write here.
Record record;

void near_closure(Thread& self, shared_w<int> object) {
    self.worker().compute(busy(ms), {});
    object = 1;
    record.ends_near(self.worker());
}

void far_closure(Thread& self, shared_w<int> object) {
    record.begins_far(self.worker());
    self.worker().compute(busy(ms), {});
    object = 1;
}

void pinned(Worker& by, CoreId core, Strand::Body body) {
    Strand::start(by, std::move(body), {"a strand of one worker", core});
}

/// Occupies both workers of its node until long after all else. From `at` on others may take 20 tasks from
/// it.
void gives_from(Worker& worker, Time at) {
    pinned(worker, 1, [](Strand& self) { self.worker().compute(busy(60'000 * ms), {}); });
    worker.node().state<dataflow::Threads>().start(worker, {"a thread that gives"}, [at](Thread& self) {
        self.worker().compute(busy(at - now(self.worker())), {});
        for (int i = 0; i < 20; ++i) {
            const shared<int> object(self);
            self.fork<far_closure>(object);
        }
        self.worker().compute(busy(50'000 * ms), {});
    });
}

Platform nodes_of(NodeId nodes, CoreId cores) {
    Platform platform = ideal(nodes, cores);
    platform.overheads.steal_attempt = ns(1);
    return platform;
}

void run_search(const Platform& platform, const std::string& victim,
                const testing_strands::OnEachNode::Begin& begin) {
    SimBackend backend(platform);
    runtime::Schedule schedule;
    schedule.stealing.victim = victim;
    runtime::Execution(backend, schedule, [&](NodeId) {
        return std::make_unique<testing_strands::OnEachNode>(begin);
    }).run();
}

/// Node 0 has run dry just after `dry`, and asks within a millisecond after node 1 has something to give,
/// five milliseconds later.
void expect_a_request_soon_after(Time dry) {
    EXPECT_GT(record.dry, dry);
    EXPECT_LT(record.dry, dry + 2 * ms);
    EXPECT_GT(record.first_from, dry + 5 * ms);
    EXPECT_LT(record.first_from, dry + 6 * ms);
}

}  // namespace

// Worker 1 of node 0 backs off first, and then takes closures from worker 0 for four seconds. After them it
// waits 100 us at most between two requests, and not a sixteenth of the four seconds, which is 250 ms.
TEST(SearchGoesOn, AWorkerThatRunsClosuresOfItsNodeHasNotBeenWithoutWork) {
    record = {{0, 1}};
    run_search(nodes_of(2, 2), "random", [](Worker& worker) {
        if (worker.id.node == 1) return gives_from(worker, 4005 * ms);
        worker.node().state<dataflow::Threads>().start(worker, {"a thread that forks"}, [](Thread& self) {
            self.worker().compute(busy(ms / 2), {});
            for (int i = 0; i < 4000; ++i) {
                const shared<int> object(self);
                self.fork<near_closure>(object);
            }
            self.worker().compute(busy(50'000 * ms), {});
        });
    });
    expect_a_request_soon_after(4000 * ms);
}

// The same with strands that each run for a millisecond, ten microseconds apart.
TEST(SearchGoesOn, AWorkerThatRunsStrandsHasNotBeenWithoutWork) {
    record = {{0, 1}};
    run_search(nodes_of(2, 2), "random", [](Worker& worker) {
        if (worker.id.node == 1) return gives_from(worker, 3035 * ms);
        pinned(worker, 0, [](Strand& self) {
            for (int i = 0; i < 3000; ++i) {
                self.worker().compute(busy(ms + us(10)), {});
                pinned(self.worker(), 1, [](Strand& other) {
                    other.worker().compute(busy(ms), {});
                    record.ends_near(other.worker());
                });
            }
            self.worker().compute(busy(50'000 * ms), {});
        });
    });
    expect_a_request_soon_after(3030 * ms);
}

// Worker 1 of node 0 sleeps while its node is alone. Node 1 joins, is asked, and has nothing yet. While the
// request is under way, short strands run on worker 1. After them it asks again.
TEST(SearchGoesOn, ANodeThatJoinsEndsTheSleepOfOneThatWasAlone) {
    for (const char* const victim : {"random", "hierarchical", "lifeline"}) {
        record = {{0, 1}};
        Platform platform = nodes_of(2, 2);
        platform.network.latency = ms;
        platform.nodes_at_start = 1;
        NodeEvent joins;
        joins.at = 5 * ms;
        joins.node = 1;
        joins.member = true;
        platform.events = {joins};
        run_search(platform, victim, [](Worker& worker) {
            if (worker.id.node == 1) return gives_from(worker, 60 * ms);
            pinned(worker, 0, [](Strand& self) {
                for (int i = 0; i < 40; ++i) {
                    self.worker().compute(busy(ms / 2), {});
                    pinned(self.worker(), 1, [](Strand& other) { other.worker().compute(busy(us(1)), {}); });
                }
                self.worker().compute(busy(50'000 * ms), {});
            });
        });
        EXPECT_GT(record.first_from, 60 * ms) << victim;
        EXPECT_LT(record.first_from, 70 * ms) << victim;
    }
}

namespace {

struct Task {
    static int run(model::Strand strand, std::uint64_t milliseconds) {
        strand.worker().compute(busy(static_cast<std::int64_t>(milliseconds) * ms), {});
        return 1;
    }
};

/// Its first fork is long.
void forks_and_joins(Strand& self) {
    model::Strand strand(self.worker(), self.head());
    for (const std::uint64_t milliseconds : {500, 1, 1, 1}) {
        strand.fork<Task>(milliseconds);
        self.worker().compute(busy(5 * ms), {});
    }
    strand.join_all<Task>(4, [](int) {});
}

}  // namespace

// Node 0 has been without work for four seconds, so it waits for up to 250 ms. A message brings many strands,
// after some of which the worker looks around. The last one joins a task that node 1 has taken. Node 2 then
// has work, which the worker takes meanwhile.
TEST(SearchGoesOn, AStrandThatJoinsAStolenTaskDoesNotTakeOverTheWaitOfItsIdleWorker) {
    for (const Time at : {4000 * ms, 4060 * ms, 4120 * ms, 4180 * ms}) {
        record = {{0, 0}};
        run_search(nodes_of(3, 1), "random", [at](Worker& worker) {
            if (worker.id.node == 0) {
                Strand::start(worker, [](Strand& self) {
                    Endpoint endpoint(self.worker().node(), 1);
                    endpoint.receive(self);
                    for (int i = 0; i < 300; ++i) Strand::start(self.worker(), [](Strand&) {});
                    Strand::start(self.worker(), &forks_and_joins);
                });
            } else if (worker.id.node == 1) {
                Strand::start(worker, [at](Strand& self) {
                    self.worker().compute(busy(at), {});
                    Endpoint endpoint(self.worker().node(), 1);
                    endpoint.send(self, {0, 1}, 0, runtime::Parcel(runtime::bytes_of(1)));
                });
            } else {
                worker.node().state<dataflow::Threads>().start(worker, {"gives"}, [at](Thread& self) {
                    self.worker().compute(busy(at + 40 * ms), {});
                    for (int i = 0; i < 100; ++i) {
                        const shared<int> object(self);
                        self.fork<far_closure>(object);
                    }
                    self.worker().compute(busy(10'000 * ms), {});
                });
            }
        });
        EXPECT_GT(record.first_from, at + 40 * ms);
        EXPECT_LT(record.first_from, at + 45 * ms);
    }
}

}  // namespace heddle::sim::testing
