// Tests threads that a dataflow program creates, with steal functions, mutexes and conditions, natively, in
// simulation and in-process.
#include <gtest/gtest.h>

#include <deque>

#include "model/dataflow.hpp"
#include "model/dataflow/kaapi_threads.hpp"
#include "model/dataflow/mutex.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::dataflow {
namespace {

using runtime::Strand;
using runtime::Worker;
using testing_strands::worlds;

class KaapiThreadsTest : public testing_strands::Strands {};

INSTANTIATE_TEST_SUITE_P(Worlds, KaapiThreadsTest, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

class NeverHappens final : public runtime::Event {
public:
    std::string what() const override { return "what never happens"; }
};

// Without stealing no worker will call its steal function.
TEST(KaapiThreads, AThreadThatOffersWorkToNoThiefAndWaitsForEverIsNamed) {
    for (const char* victim : {"none", "local_first"}) {
        SCOPED_TRACE(victim);
        NeverHappens event;
        bool asked = false;
        inprocess::InprocessBackend backend({.nodes = 1, .cores = 2});
        runtime::Schedule schedule;
        schedule.stealing.victim = victim;
        const auto begin = [&](Worker& worker) {
            Attributes attributes;
            attributes.set_steal_function(
                [](Kaapi&, KaapiId&, const IdleWorkers&, void* argument) {
                    *static_cast<bool*>(argument) = true;
                    return false;
                },
                &asked);
            KaapiId tid;
            create(
                worker, tid, attributes,
                [](Kaapi& self, void* argument) {
                    self.strand().wait(*static_cast<NeverHappens*>(argument));
                },
                &event);
        };
        const std::string error = testing_strands::error_of([&] {
            runtime::Execution(backend, schedule, [&](NodeId) {
                return std::make_unique<testing_strands::OnEachNode>(begin);
            }).run();
        });
        EXPECT_NE(error.find("deadlock"), std::string::npos) << error;
        EXPECT_NE(error.find("what never happens"), std::string::npos) << error;
        EXPECT_EQ(asked, victim != std::string("none"));
    }
}

// --- Figure 3: an array whose elements are to be increased, from both ends

struct Work {
    runtime::SpinLock lock;
    int begin = 0;
    int end = 0;
    std::vector<std::atomic<int>>* elements = nullptr;
    std::atomic<int>* stolen = nullptr;
};

void start_routine(Kaapi& self, void* argument) {
    auto& work = *static_cast<Work*>(argument);
    for (;;) {
        int mine = 0;
        {
            const runtime::SpinLock::Guard guard(work.lock);
            if (work.begin == work.end) break;
            mine = work.begin++;
        }
        self.worker().compute({1e4, 0}, [&] { ++(*work.elements)[static_cast<std::size_t>(mine)]; });
        self.offer();
    }
    self.close();
}

void run_stolen(Kaapi& self, void* argument) {
    start_routine(self, argument);
    delete static_cast<Work*>(argument);
}

bool steal_function(Kaapi& /*victim*/, KaapiId& thief, const IdleWorkers& idle, void* user_arg) {
    auto& work = *static_cast<Work*>(user_arg);
    EXPECT_TRUE(idle.contains(idle.worker().id.core));
    EXPECT_GE(idle.count(), 1U);
    auto half = std::make_unique<Work>();
    {
        const runtime::SpinLock::Guard guard(work.lock);
        if (work.end - work.begin < 2) return false;
        half->end = work.end;
        half->begin = work.end = (work.begin + work.end) / 2;
    }
    half->elements = work.elements;
    half->stolen = work.stolen;
    ++*work.stolen;
    Attributes attr;
    attr.set_steal_function(&steal_function, half.get());
    create(idle.worker(), thief, attr, &run_stolen, half.release());
    return true;
}

TEST_P(KaapiThreadsTest, AnIdleWorkerCallsTheStealFunction) {
    std::vector<std::atomic<int>> elements(500);
    std::atomic<int> stolen{0};
    Work work;
    work.end = static_cast<int>(elements.size());
    work.elements = &elements;
    work.stolen = &stolen;
    run(1, 3, [&](Worker& worker) {
        KaapiId tid;
        Attributes attr;
        attr.set_steal_function(&steal_function, &work);
        create(worker, tid, attr, &start_routine, &work);
    });
    for (const auto& element : elements) EXPECT_EQ(element, 1);
    if (GetParam().name == "sim") {
        EXPECT_GT(stolen, 0);
    }
}

// --- mutexes and conditions

struct Counter {
    Mutex mutex;
    Condition changed;
    ValueCondition turn;
    long value = 0;
    int threads = 0;
};

TEST_P(KaapiThreadsTest, ThreadsOfAMutexExcludeEachOther) {
    Counter counter;
    static constexpr int threads = 20, times = 30;
    run(1, 3, [&](Worker& worker) {
        for (int i = 0; i < threads; ++i) {
            KaapiId tid;
            create(
                worker, tid, {},
                [](Kaapi& self, void* argument) {
                    auto& shared = *static_cast<Counter*>(argument);
                    for (int k = 0; k < times; ++k) {
                        shared.mutex.lock(self.strand());
                        const long before = shared.value;
                        self.strand().yield();  // others run meanwhile
                        shared.value = before + 1;
                        shared.mutex.unlock(self.strand());
                    }
                    shared.mutex.lock(self.strand());
                    ++shared.threads;
                    shared.changed.broadcast(self.strand());
                    while (shared.threads != threads) shared.changed.wait(self.strand(), shared.mutex);
                    shared.mutex.unlock(self.strand());
                },
                &counter);
        }
    });
    EXPECT_EQ(counter.value, threads * times);
    EXPECT_EQ(counter.threads, threads);
}

TEST_P(KaapiThreadsTest, AThreadWaitsForAValueThatIsSignaled) {
    Counter counter;
    constexpr long turns = 200;
    run(1, 2, [&](Worker& worker) {
        // Two threads take turns: the value is even in the first one's, odd in the other's.
        const auto play = [](Kaapi& self, Counter& shared, long first) {
            for (long turn = first; turn < turns; turn += 2) {
                shared.turn.wait_equal(self.strand(), turn);
                ++shared.value;
                shared.turn.signal(self.strand(), turn + 1);
            }
            shared.turn.wait_not_equal(self.strand(), first);
        };
        static const auto playing = play;
        KaapiId tid;
        create(
            worker, tid, {},
            [](Kaapi& self, void* shared) { playing(self, *static_cast<Counter*>(shared), 0); }, &counter);
        create(
            worker, tid, {},
            [](Kaapi& self, void* shared) { playing(self, *static_cast<Counter*>(shared), 1); }, &counter);
    });
    EXPECT_EQ(counter.value, turns);
}

// --- tasks that wait for each other

/// What the tasks of a program wait for, and how many went on with another worker.
struct Turns {
    ValueCondition turn;
    std::atomic<int> moved{0};
};

void write_one(Thread& self, shared_w<int> object) {
    self.work(1);
    object = 1;
}

void take_turn(Thread& self, long turn, Turns* turns, shared_w<int> sum) {
    self.worker().compute({1e5, 0}, [] {});
    Strand& strand = *self.worker().strands().current();
    const Worker& before = self.worker();
    turns->turn.wait_equal(strand, turn);
    strand.yield();
    EXPECT_EQ(&self.worker(), &strand.worker());
    turns->moved += &self.worker() == &before ? 0 : 1;
    shared<int> first(self), second(self);
    self.fork<write_one>(first);
    self.fork<write_one>(second);
    self.sync();
    sum = first.read() + second.read();
    turns->turn.signal(*self.worker().strands().current(), turn + 1);
}

class TakesTurns final : public DataflowProgram {
public:
    static constexpr long tasks = 50;

    explicit TakesTurns(Turns& turns) : turns_(turns) {}
    runtime::Work unit() const override { return {1000, 0}; }
    void main(Thread& self) override {
        std::deque<shared<int>> sums;
        for (long i = 0; i < tasks; ++i) {
            sums.emplace_back(self);
            self.fork<take_turn>(i, &turns_, sums.back());
        }
        self.sync();
        for (const auto& sum : sums) EXPECT_EQ(sum.read(), 2);
    }
    runtime::Answer answer() const override { return {}; }

private:
    Turns& turns_;
};

TEST(KaapiThreads, ATaskThatHasWaitedForAConditionForksOnItsNewWorker) {
    int moved = 0;
    for (std::uint64_t seed = 1; seed < 40; ++seed) {
        Turns turns;
        inprocess::Options options;
        options.cores = 3;
        options.seed = seed;
        inprocess::InprocessBackend backend(options);
        const auto make = [&](NodeId) { return std::make_unique<TakesTurns>(turns); };
        runtime::Execution(backend, {}, make).run();
        moved += turns.moved;
    }
    EXPECT_GT(moved, 0);
}

TEST_P(KaapiThreadsTest, TasksTakeTurns) {
    Turns turns;
    GetParam().run(1, 3, [&](NodeId) { return std::make_unique<TakesTurns>(turns); });
}

}  // namespace
}  // namespace heddle::dataflow
