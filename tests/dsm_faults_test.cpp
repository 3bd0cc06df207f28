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
#endif

}  // namespace
}  // namespace heddle::testing_dsm
