// Tests what waits on nodes that join or leave: it is unwound, or ends the run with an error that names it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/core/node.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "tests/strand_testing.hpp"

namespace heddle {
namespace {

using runtime::Strand;
using runtime::Worker;

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
TEST(MembersWaiting, ATaskOfANodeThatIsTurnedAwayIsUnwound) {
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
            std::atomic<int> alive{0};
            int begun = 0;
            ASSERT_NO_THROW(run_on(backend, {}, [&](Worker& worker) {
                if (worker.id.node == 0) {
                    Strand::start(worker, [](Strand& self) {
                        runtime::sleep_until(self, std::chrono::milliseconds(1));
                    });
                    return;
                }
                ++begun;
                const testing_strands::Counted counted(alive);
                worker.wait(worker.base(), event);
            }));
            EXPECT_EQ(begun, 1);
            EXPECT_EQ(alive, 0);
        }
    }
}

}  // namespace
}  // namespace heddle
