// Tests that idle workers get the ready strands of a worker that computes for long, natively and in
// simulation, and that strands are used again after other workers have ended them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using std::chrono::milliseconds;

void run_on(runtime::Backend& backend, const FirstTask::First& first) {
    runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<FirstTask>(first); }).run();
}

void sleep_natively(milliseconds time) {
    std::this_thread::sleep_for(time);
}

/// Each strand runs until all run: so each needs a worker of its own. The first one makes the others, before
/// the other workers fall asleep or after that, and computes when these sleep. Threads that sleep need no
/// cores of the machine.
void expect_all_run_at_once(CoreId cores, bool made_before) {
    std::atomic<CoreId> begun{0};
    const auto runs_with_all = [&](Strand& self) {
        ++begun;
        self.worker().compute({}, [&] {
            const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
            while (begun < cores && std::chrono::steady_clock::now() < limit) sleep_natively(milliseconds(1));
            EXPECT_EQ(begun, cores);
        });
    };
    const auto backend = one_native_node(1, cores);
    run_on(*backend, [&](Worker& worker) {
        const auto occupy = [](Strand&) { sleep_natively(milliseconds(50)); };
        for (CoreId core = 1; core < cores; ++core) Strand::start(worker, occupy, {"another", core});
        Strand::start(worker, [&](Strand& self) {
            sleep_natively(milliseconds(made_before ? 20 : 100));
            for (CoreId i = 1; i < cores; ++i) Strand::start(self.worker(), runs_with_all);
            sleep_natively(milliseconds(made_before ? 80 : 0));
            runs_with_all(self);
        });
    });
}

TEST(StrandSharing, OneSleepingWorkerIsWokenForOneStrand) {
    expect_all_run_at_once(2, false);
}

TEST(StrandSharing, EachThiefWakesTheNextWorker) {
    expect_all_run_at_once(3, true);
}

// --- strands are used again, whichever worker ends them

/// Strands that exist one after the other. Each notes itself, and its end begins the next one.
struct InTurn {
    int left = 5'000;
    std::set<const Strand*> seen;
};

/// Far fewer than there were strands: each pool keeps some.
constexpr std::size_t seen_max = 500;

/// One worker starts all of them, and another one ends them.
void start_for_other(Worker& worker, InTurn& turns) {
    Strand::start(worker,
                  [&turns](Strand& self) {
                      while (turns.left-- > 0) {
                          runtime::Event ended;
                          const auto body = [&turns, &ended](Strand& other) {
                              turns.seen.insert(&other);
                              ended.complete(other.worker().node(), other.worker());
                          };
                          Strand::start(self.worker(), body, {"for another worker", 1});
                          self.wait(ended);
                      }
                  },
                  {"starts others", 0});
}

const runtime::Handler begin_handler("strand_sharing_test.begin", runtime::Handler::Kind::work,
                                     [](runtime::Node& node, NodeId from,
                                        std::span<const std::byte> message) {
                                         InTurn* turns = nullptr;
                                         std::memcpy(&turns, message.data(), sizeof(turns));
                                         const std::vector<std::byte> again(message.begin(), message.end());
                                         Strand::start(
                                             node, node.receiver(), [turns, from, again](Strand& self) {
                                                 turns->seen.insert(&self);
                                                 if (--turns->left > 0)
                                                     self.worker().outbox().post(from, begin_handler, again);
                                             });
                                     });

class StrandSharingWorlds : public Strands {};

TEST_P(StrandSharingWorlds, StrandsThatAnotherWorkerEndsAreUsedAgain) {
    InTurn turns;
    run(1, 2, [&](Worker& worker) { start_for_other(worker, turns); });
    EXPECT_LT(turns.seen.size(), seen_max);
}

TEST_P(StrandSharingWorlds, StrandsOfHandlersAreUsedAgain) {
    if (nodes(2) == 1) GTEST_SKIP() << "it has one node";
    InTurn turns;
    run(2, 1, [&](Worker& worker) {
        InTurn* const all = &turns;
        worker.outbox().post(1, begin_handler, std::as_bytes(std::span(&all, 1)));
    });
    EXPECT_LT(turns.seen.size(), 2 * seen_max);
}

INSTANTIATE_TEST_SUITE_P(Worlds, StrandSharingWorlds, testing::ValuesIn(worlds()),
                         [](const auto& name) { return name.param.name; });

#ifdef HEDDLE_SIM
void compute_for(Strand& self, Time time) {
    constexpr double flops = 1e7;
    Worker& worker = self.worker();
    const Time begin = worker.backend->now(worker);
    worker.compute({flops, 0}, [] {});
    const double piece = to_seconds(worker.backend->now(worker) - begin);
    worker.compute({flops * (to_seconds(time) / piece - 1), 0}, [] {});
}

/// When each of some strands begins that a strand makes before it computes for long. It makes them at 20 ms.
/// `busy`: until then the other workers have something else to do.
std::vector<Time> begins(CoreId cores, std::size_t strands, Time busy) {
    Platform platform;
    platform.nodes = 1;
    platform.cores = cores;
    sim::SimBackend backend(platform, {});
    std::vector<Time> begun(strands);
    run_on(backend, [&](Worker& worker) {
        const auto occupy = [=](Strand& self) { compute_for(self, busy); };
        for (CoreId core = 1; core < cores && busy > Time::zero(); ++core)
            Strand::start(worker, occupy, {"another", core});
        Strand::start(worker, [&](Strand& self) {
            compute_for(self, milliseconds(20));
            for (Time& time : begun) {
                Strand::start(self.worker(), [&time](Strand& other) {
                    time = other.worker().backend->now(other.worker());
                    compute_for(other, milliseconds(500));
                });
            }
            compute_for(self, milliseconds(500));
        });
    });
    return begun;
}

TEST(StrandSharing, BeginsAtOnceInSimulation) {
    for (const CoreId cores : {2U, 3U, 5U})
        for (const Time begin : begins(cores, cores - 1, Time::zero()))
            EXPECT_LT(begin, milliseconds(21)) << cores << " workers";
}

TEST(StrandSharing, AWorkerThatBecomesIdleLaterFindsThem) {
    for (const CoreId cores : {2U, 3U})
        for (const Time begin : begins(cores, cores - 1, milliseconds(60)))
            EXPECT_LT(begin, milliseconds(62)) << cores << " workers";
}
#endif

}  // namespace
}  // namespace heddle::testing_strands
