// Tests that no work waits for ever beside other work: timers and ready tasks beside chains of tasks, forks
// of a task that waits, and tokens for a worker that is busy when they come. Also forks that cannot leave
// their node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
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
    if (stop || ++tasks == most) return;
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
    const auto earlier_task = [](Worker& worker) { worker.node().put_ready(worker, stop_type, {}); };
    // The node's only worker does nothing else until the chain ends.
    const auto on_one = [&](const FirstTask::First& first) { run(1, 1, first); };
    for (const bool detaches : {false, true}) {
        SCOPED_TRACE(detaches ? "detached" : "ready");
        expect_stopped(detaches, 1ms, sleeper, on_one);
        expect_stopped(detaches, Time::zero(), earlier_task, on_one);
    }
}

// --- waiting

struct Awaited final : runtime::Event {
    std::string what() const override { return "what a fork does"; }
};
Awaited* awaited = nullptr;

struct CompletesAwaited {
    static std::uint64_t run(model::Strand strand, std::uint32_t number) {
        awaited->complete(strand.worker().node(), strand.worker());
        return number;
    }
};
struct OlderFork {
    static std::uint64_t run(model::Strand, std::uint32_t number) { return number; }
};

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

// --- tokens

/// Until `end` of virtual time.
void compute_until(Worker& worker, Time end) {
    while (worker.backend->now(worker) < end) worker.charge(Time(1));
}

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
