// Tests what a fault of shared memory or a touch does besides waiting for its own page: which other pages
// come, which worker it goes on with, and which time it counts as waiting.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

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

/// Two nodes use the same two pages in turn, a byte of each at a time. If each node had only one of the
/// pages, both would come and go for every byte.
TEST(FaultsInTurn, OfALoopFetchItsPagesTogether) {
    constexpr std::size_t bytes = 500;
    for (const std::string protocol : {"write_invalidate", "implicit_invalidate", "migratory"}) {
        for (const runtime::Trigger trigger : triggers()) {
            if (trigger == runtime::Trigger::checked) continue;
            runtime::Schedule schedule;
            schedule.memory.protocol = protocol;
            schedule.memory.trigger = trigger;
            std::atomic<std::size_t> wrong{0};
            const auto result =
                run_mains(sim_world(true), 2, 1, schedule, [&](Strand& self, SharedMemory& memory) {
                    const std::size_t page = memory.page_bytes();
                    const auto pages = memory.allocate<std::uint8_t>("pages", 2 * page);
                    memory.seal(self);
                    const std::size_t node = self.worker().id.node;
                    volatile std::uint8_t* const at = memory.at(pages);
                    for (std::size_t i = node; i < 2 * bytes; i += 2)
                        for (const std::size_t each : {node, 1 - node})
                            at[each * page + i] = static_cast<std::uint8_t>(at[each * page + i] + 1);
                    memory.barrier(self);
                    for (std::size_t i = 0; i < 2 * bytes; ++i) wrong += at[i] != 1 || at[page + i] != 1;
                });
            EXPECT_EQ(wrong, 0U) << protocol;
            EXPECT_LT(result.total.pages_moved, 100U) << protocol;
        }
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
