// Tests what a fault of shared memory or a touch does besides waiting for its own page: which other pages
// come, which worker it goes on with, and which time it counts as waiting.
#include <gmock/gmock.h>

#include <chrono>

#include "model/dsm/pages.hpp"
#include "model/dsm/protocol.hpp"
#include "tests/dsm_testing.hpp"

namespace heddle::testing_dsm {
namespace {

using runtime::Access;

#ifdef HEDDLE_SIM
using std::chrono::microseconds;

/// The test plays the hardware, and the node that takes the pages away.
TEST(FaultsInTurn, FetchThePagesOfOneInstructionTogetherHoweverLongAFaultTakes) {
    for (const auto fault : {microseconds(2), microseconds(20), microseconds(500)}) {
        Platform platform;
        platform.overheads.page_fault = fault;
        runtime::Schedule schedule;
        schedule.memory.trigger = runtime::Trigger::checked;
        bool together = false;
        run_mains(sim_world_of("sim", platform), 1, 1, schedule, [&](Strand& self, SharedMemory& memory) {
            const auto bytes = memory.allocate<std::byte>("bytes", 2 * memory.page_bytes());
            memory.seal(self);
            dsm::Pages& pages = memory.pages();
            const auto fault_in = [&](dsm::PageId page) {
                memory.on_fault(self.worker(), bytes.offset + page * memory.page_bytes(), true);
            };
            const auto take = [&](dsm::PageId id) {
                dsm::Page& page = pages.at(id);
                dsm::Charges charges;
                const runtime::SpinLock::Guard guard(page.lock);
                pages.set_access(id, page, Access::none, charges);
            };
            fault_in(0);
            fault_in(1);
            take(0);
            take(1);
            fault_in(0);
            together = !pages.lacks(1, Access::write);
        });
        EXPECT_TRUE(together) << fault.count() << " us";
    }
}

/// A strand that names its worker waits as a strand all the same, and goes on with another one.
TEST(Touches, EndOnTheWorkerThatTheStrandHasComeTo) {
    runtime::Schedule schedule;
    schedule.memory.trigger = runtime::Trigger::checked;
    std::vector<CoreId> workers;
    std::vector<bool> checked_out;
    run_mains(sim_world(true), 2, 2, schedule, [&](Strand& self, SharedMemory& memory) {
        const auto word = memory.allocate<std::uint64_t>("word", 1, {.homes = dsm::Homes::first_node});
        memory.seal(self);
        if (memory.node().id() == 1) {
            runtime::Event done;
            Strand::start(self.worker(), [&](Strand& toucher) {
                const CoreId core = toucher.worker().id.core;
                Strand::start(toucher.worker(),
                              [](Strand& other) { other.worker().charge(std::chrono::milliseconds(1)); },
                              {"a strand that keeps the worker", core});
                workers.push_back(core);
                {
                    const auto checkout =
                        memory.touch(Caller(toucher.worker(), toucher.head()), {writing(word, 0, 1)});
                    *memory.at(word) = 1;
                }
                workers.push_back(toucher.worker().id.core);
                for (const CoreId each : {0, 1}) checked_out.push_back(memory.pages().has_checkouts(each));
                done.complete(memory.node(), toucher.worker());
            });
            self.wait(done);
        }
        memory.barrier(Caller(self.worker(), self.head()));
    });
    ASSERT_EQ(workers.size(), 2U);
    EXPECT_NE(workers[0], workers[1]) << "else this tests nothing";
    EXPECT_THAT(checked_out, testing::Each(false));
}

/// A task keeps its worker while it waits for a page, which sleeps.
TEST(Touches, OfATaskDoNotCountAsBusyWhileItWaits) {
    runtime::Schedule schedule;
    schedule.memory.trigger = runtime::Trigger::checked;
    Time waited{};
    const auto result = run_mains(sim_world(true), 2, 1, schedule, [&](Strand& self, SharedMemory& memory) {
        const auto word = memory.allocate<std::uint64_t>("word", 1);
        memory.seal(self);
        Worker& worker = self.worker();
        if (memory.node().id() == 0) {
            const auto checkout = memory.touch(self, {writing(word, 0, 1)});
            worker.charge(std::chrono::milliseconds(10));
        } else {
            worker.charge(std::chrono::milliseconds(1));
            const Time begin = worker.backend->now(worker);
            const auto checkout = memory.touch(Caller(worker, nullptr), {reading(word, 0, 1)});
            waited = worker.backend->now(worker) - begin;
        }
        memory.barrier(self);
    });
    EXPECT_GT(waited, std::chrono::milliseconds(8));
    EXPECT_LT(to_seconds(result.total.busy), 0.015);
}
#endif

}  // namespace
}  // namespace heddle::testing_dsm
