// Tests that no work waits for ever beside other work: timers and ready tasks beside chains of tasks, forks
// of a task that waits, and tokens for a worker that is busy when they come. Also forks that cannot leave
// their node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "model/fork_join.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using namespace std::chrono_literals;
using runtime::Slot;
using runtime::TaskType;

// --- chains

/// Tasks that follow each other until `stop`, or for so many that all sources have had many turns.
struct Chain {
    static constexpr int most = 100'000;
    static inline std::atomic<bool> stop{false};
    static inline std::atomic<int> tasks{0};
    static inline bool detaches = false;
    static inline std::function<void(Worker&)> at_most;  ///< what the last one does
    static inline Time begin{}, end{};

    static TaskType::Special detached() {
        TaskType::Special special;
        special.end = TaskType::End::detached;
        return special;
    }
    static void run_link(Worker& worker, Slot* head, std::byte* payload);
    static void run_stop(Worker& /*worker*/, Slot* /*head*/, std::byte* /*payload*/) { stop = true; }
};

const TaskType link_type("strand_turns_test.link", &Chain::run_link, 0, 0, false, Chain::detached());
const TaskType stop_type("strand_turns_test.stop", &Chain::run_stop, 0, 0, false, Chain::detached());

void Chain::run_link(Worker& worker, Slot* /*head*/, std::byte* /*payload*/) {
    worker.compute({100, 0}, {});
    Chain::end = worker.backend->now(worker);
    if (stop) return;
    if (++tasks == most) return at_most(worker);
    if (detaches) {
        worker.detach(link_type, [](std::byte*) {});
    } else {
        worker.node().put_ready(worker, link_type, {});
    }
}

/// Expects that what `put` puts before the chain begins has stopped it, by a time at which that was due.
template <class Run>
void expect_stopped(bool detaches, Time due, const FirstTask::First& put, const Run& run) {
    Chain::stop = false;
    Chain::tasks = 0;
    Chain::detaches = detaches;
    Chain::at_most = [](Worker&) {};
    run([&](Worker& worker) {
        Chain::begin = worker.backend->now(worker);
        put(worker);
        worker.node().put_ready(worker, link_type, {});
    });
    EXPECT_TRUE(Chain::stop);
    // In-process the clock may not go on while a worker does.
    if (Chain::end - Chain::begin < due) return;
    EXPECT_LT(Chain::tasks, Chain::most);
}

TEST_P(Strands, TasksThatMakeTasksLeaveOtherWorkItsTurn) {
    const auto sleeper = [](Worker& worker) {
        Strand::start(worker, [](Strand& self) {
            runtime::sleep_for(self, 1us);
            Chain::stop = true;
        });
    };
    const auto waiter = [](Worker& worker) {
        worker.node().put_ready(worker, link_type, {});
        runtime::sleep_for({worker, worker.base()}, 1us);  // the chain runs above it
        Chain::stop = true;
    };
    const auto earlier_task = [](Worker& worker) { worker.node().put_ready(worker, stop_type, {}); };
    // The node's only worker does nothing else until the chain ends.
    const auto on_one = [&](const FirstTask::First& first) { run(1, 1, first); };
    for (const bool detaches : {false, true}) {
        SCOPED_TRACE(detaches ? "detached" : "ready");
        expect_stopped(detaches, 1ms, sleeper, on_one);
        expect_stopped(detaches, 1ms, waiter, on_one);
        expect_stopped(detaches, Time::zero(), earlier_task, on_one);
    }
}

/// What has ranks: it makes no tasks, and there are many from the beginning.
void run_ranked_link(Worker& worker, Slot* /*head*/, std::byte* /*payload*/) {
    worker.compute({100, 0}, {});
    Chain::end = worker.backend->now(worker);
    if (!Chain::stop) ++Chain::tasks;
}
const TaskType ranked_type("strand_turns_test.ranked", &run_ranked_link, 8, 0, false);

TEST_P(Strands, TasksWithRanksLeaveOtherWorkItsTurn) {
    constexpr int count = 10'000;
    Chain::stop = false;
    Chain::tasks = 0;
    run(1, 1, [&](Worker& worker) {
        Chain::begin = worker.backend->now(worker);
        Strand::start(worker, [](Strand& self) {
            runtime::sleep_for(self, 1us);
            Chain::stop = true;
        });
        for (std::uint64_t rank = 0; rank < count; ++rank)
            worker.node().ranked().put(worker, worker.outbox(), 0, {rank, &ranked_type, 0});
    });
    EXPECT_TRUE(Chain::stop);
    // In-process the clock may not go on while a worker does.
    if (Chain::end - Chain::begin < 100us) return;
    EXPECT_LT(Chain::tasks, count);
}

// --- waiting

struct Awaited final : runtime::Event {
    std::string what() const override { return "what a fork does"; }
};
Awaited* awaited = nullptr;

void complete_awaited(Worker& worker) {
    awaited->complete(worker.node(), worker);
}
void wait_for_chain(Worker& worker, Slot* head, std::byte* /*payload*/) {
    worker.wait(head, *awaited);
}
struct CompletesAwaited {
    static std::uint64_t run(model::Strand strand, std::uint32_t number) {
        complete_awaited(strand.worker());
        return number;
    }
};
struct OlderFork {
    static std::uint64_t run(model::Strand, std::uint32_t number) { return number; }
};

void fork_and_wait_for_chain(Worker& worker, Slot* head, std::byte* /*payload*/) {
    model::Strand strand(worker, head);
    strand.fork<OlderFork>(3U);
    worker.wait(head + 1, *awaited);
    EXPECT_EQ(strand.join<OlderFork>(), 3);
}
const TaskType forking_type("strand_turns_test.forking", &fork_and_wait_for_chain, 0, 0, false);
const TaskType waiting_type("strand_turns_test.waiting", &wait_for_chain, 0, 0, false);

// The task that waits has its turn in the middle of the chain, whose next one then waits below it.
TEST_P(Strands, ATaskMayWaitForTheChainAboveWhichItHadItsTurn) {
    for (const bool forks : {false, true}) {
        Awaited event;
        awaited = &event;
        Chain::stop = false;
        Chain::tasks = 0;
        Chain::detaches = true;
        Chain::at_most = complete_awaited;
        run(1, 1, [&](Worker& worker) {
            worker.node().put_ready(worker, forks ? forking_type : waiting_type, {});
            worker.node().put_ready(worker, link_type, {});
        });
        EXPECT_TRUE(event.done());
        EXPECT_EQ(Chain::tasks, Chain::most);
    }
}

TEST_P(Strands, ATaskThatWaitsLeavesItsForksToOtherWorkers) {
    for (const CoreId cores : {2U, 4U}) {
        for (const std::uint32_t older : {0U, 1U, 5U}) {
            for (const bool sleeps : {false, true}) {
                Awaited event;
                awaited = &event;
                std::uint64_t sum = 0;
                run(1, cores, [&](Worker& worker) {
                    model::Strand strand(worker);
                    for (std::uint32_t i = 0; i < older; ++i) strand.fork<OlderFork>(i);
                    strand.fork<CompletesAwaited>(7U);
                    Slot* const head = worker.base() + older + 1;
                    if (sleeps) runtime::sleep_for({worker, head}, 100us);  // the others are idle meanwhile
                    worker.wait(head, event);
                    sum = strand.join<CompletesAwaited>();
                    for (std::uint32_t i = 0; i < older; ++i) sum += strand.join<OlderFork>();
                });
                EXPECT_EQ(sum, 7 + older * (older - 1) / 2);
            }
        }
    }
}

/// Until `end` of virtual time.
void compute_until(Worker& worker, Time end) {
    while (worker.backend->now(worker) < end) worker.charge(Time(1));
}

struct CountsShared {
    static inline std::uint32_t shared = 0;
    static std::uint64_t run(model::Strand strand, std::uint32_t number) {
        Worker& worker = strand.worker();
        compute_until(worker, worker.backend->now(worker) + 1ms);
        shared = worker.node().worker(0).deque().shared();
        return number;
    }
};

// The only thief runs the oldest fork, and looks what it could take next while the owner waits.
TEST(StrandTurns, ATaskThatWaitsLeavesThievesAlsoWhatPruningWouldCall) {
    constexpr std::uint32_t older = 10;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Awaited event;
        awaited = &event;
        inprocess::InprocessBackend backend({.nodes = 1, .cores = 2, .seed = seed});
        runtime::Schedule schedule;
        schedule.seed = seed;
        schedule.pruning = {runtime::Pruning::Policy::queue_length, 1};
        const auto first = [&](Worker& worker) {
            model::Strand strand(worker);
            strand.fork<CountsShared>(1U);
            for (std::uint32_t i = 0; i < older; ++i) strand.fork<OlderFork>(1U);
            strand.fork<CompletesAwaited>(1U);
            worker.wait(worker.base() + older + 2, event);
            std::uint64_t sum = strand.join<CompletesAwaited>();
            for (std::uint32_t i = 0; i < older; ++i) sum += strand.join<OlderFork>();
            EXPECT_EQ(sum + strand.join<CountsShared>(), older + 2);
        };
        runtime::Execution(backend, schedule, [&](NodeId) {
            return std::make_unique<FirstTask>(first);
        }).run();
        EXPECT_EQ(CountsShared::shared, older + 1);
    }
}

const runtime::Handler complete_handler("strand_turns_test.complete", runtime::Handler::Kind::work,
                                        [](runtime::Node& node, NodeId /*from*/, auto /*message*/) {
                                            awaited->complete(node, node.receiver());
                                        });
struct CompletesFromElsewhere {
    static std::uint32_t run(model::Strand strand, std::uint32_t number) {
        strand.worker().outbox().post(0, complete_handler, {});
        return number;
    }
};

// The other nodes have work of their own for longer than DeadlockWatch::patience.
TEST(StrandTurns, ATaskThatWaitsLeavesItsForkToNodesThatAreBusyFirst) {
    constexpr NodeId nodes = 4;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Awaited event;
        awaited = &event;
        inprocess::InprocessBackend backend({.nodes = nodes, .cores = 1, .seed = seed});
        runtime::Schedule schedule;
        schedule.seed = seed;
        runtime::Execution(backend, schedule, [&](NodeId) {
            return std::make_unique<OnEachNode>([&](Worker& worker) {
                if (worker.id.node != 0) return compute_until(worker, 260ms);
                model::Strand strand(worker);
                strand.fork<CompletesFromElsewhere>(7U);
                worker.wait(worker.base() + 1, event);
                EXPECT_EQ(strand.join<CompletesFromElsewhere>(), 7);
            });
        }).run();
        EXPECT_TRUE(event.done());
    }
}

// --- tokens

struct LongHere {
    static std::uint32_t run(model::Strand strand, std::uint32_t number) {
        compute_until(strand.worker(), 20ms);
        return number;
    }
};
struct FromElsewhere {
    static inline Time begin{};
    static std::uint32_t run(model::Strand strand, std::uint32_t number) {
        if (strand.worker().id.node == 0) begin = strand.worker().backend->now(strand.worker());
        return number;
    }
};

// Worker 1 of node 0 asks node 1, which has nothing and keeps the request. Then it takes a task of 20 ms from
// worker 0. At 5 ms node 1 answers. Worker 0 sleeps, and must be woken in place of the one that asked.
TEST(StrandTurns, ATokenWakesAnotherWorkerIfTheOneThatAskedIsBusy) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        FromElsewhere::begin = Time::zero();
        inprocess::InprocessBackend backend({.nodes = 2, .cores = 2, .seed = seed});
        runtime::Schedule schedule;
        schedule.seed = seed;
        schedule.stealing.victim = "lifeline";
        schedule.stealing.busy = runtime::Stealing::Busy::wait;
        const auto begin = [](Worker& worker) {
            model::Strand strand(worker);
            if (worker.id == WorkerId{0, 0}) {
                compute_until(worker, 1ms);
                strand.fork<LongHere>(1U);
                compute_until(worker, 3ms);
                (void)strand.join<LongHere>();
            }
            if (worker.id == WorkerId{1, 0}) {
                compute_until(worker, 5ms);
                strand.fork<FromElsewhere>(1U);
                compute_until(worker, 35ms);
                (void)strand.join<FromElsewhere>();
            }
            if (worker.id == WorkerId{1, 1}) compute_until(worker, 30ms);
        };
        class EachWorker final : public runtime::Program {
        public:
            explicit EachWorker(FirstTask::First first) : first_(std::move(first)) {}
            void begin(Worker& worker) override { first_(worker); }
            runtime::Answer answer() const override { return {}; }

        private:
            FirstTask::First first_;
        };
        runtime::Execution(backend, schedule, [&](NodeId) {
            return std::make_unique<EachWorker>(begin);
        }).run();
        EXPECT_GE(FromElsewhere::begin, Time(5ms)) << seed;
        EXPECT_LT(FromElsewhere::begin, Time(10ms)) << seed;
    }
}

struct OfAnAddress {
    static int run(model::Strand, const int* where) { return *where; }
};

TEST(StrandTurns, AForkWithAnAddressIsGivenToNoOtherNode) {
    static_assert(!model::TaskFunction<OfAnAddress>::Signature::travels);
    const auto run = [](NodeId nodes, CoreId cores, const std::string& victim) {
        inprocess::InprocessBackend backend({.nodes = nodes, .cores = cores, .seed = 1});
        runtime::Schedule schedule;
        schedule.stealing.victim = victim;
        runtime::Execution(backend, schedule, [&](NodeId) {
            return std::make_unique<FirstTask>([](Worker& worker) {
                const int here = 1;
                int sum = 0;
                model::Strand strand(worker);
                for (int i = 0; i < 2000; ++i) strand.fork<OfAnAddress>(&here);
                for (int i = 0; i < 2000; ++i) sum += strand.join<OfAnAddress>();
                EXPECT_EQ(sum, 2000);
            });
        }).run();
    };
    EXPECT_THAT(error_of([&] { run(2, 1, "random"); }),
                ::testing::HasSubstr("OfAnAddress cannot leave their node"));
    EXPECT_EQ(error_of([&] { run(1, 2, "random"); }), "no error");
    EXPECT_EQ(error_of([&] { run(2, 1, "none"); }), "no error");
}

}  // namespace
}  // namespace heddle::testing_strands
