// Counts how often a worker asks other nodes for work between strands that wait again soon, and after one
// that runs for long.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/comm/endpoint.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/stealing/policy.hpp"
#include "tests/sim_harness.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::sim::testing {
namespace {

using runtime::Endpoint;
using runtime::Parcel;
using runtime::Strand;
using runtime::Worker;

constexpr Time one_way = std::chrono::microseconds(5);
constexpr std::uint64_t exchanges = 2000;

/// Two strands of two nodes send a number to and fro. Between two messages each computes for `work`.
runtime::RunResult exchange(const std::string& victim, Time work) {
    Platform platform = ideal(2);
    platform.network.latency = one_way / 2;  // to the switch, and from it
    SimBackend backend(platform);
    const runtime::Work cost = busy(work);
    const auto begin = [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            const NodeId here = self.worker().id.node;
            Endpoint endpoint(self.worker().node(), 1);
            for (std::uint64_t i = 0; i < exchanges; ++i) {
                if (here == 0) endpoint.send(self, {1, 1}, 0, Parcel(runtime::bytes_of(i)));
                endpoint.receive(self);
                self.worker().compute(cost, {});
                if (here == 1) endpoint.send(self, {0, 1}, 0, Parcel(runtime::bytes_of(i)));
            }
        });
    };
    runtime::Schedule schedule;
    schedule.stealing.victim = victim;
    return runtime::Execution(backend, schedule,
                              [&](NodeId) { return std::make_unique<testing_strands::OnEachNode>(begin); })
        .run();
}

std::uint64_t attempts_of(const runtime::RunResult& result) {
    return result.total.steal_attempts;
}

}  // namespace

// Waits double up to 100 us, and the strands do not begin them again. So each of the two workers has a round
// of one or two requests in 100 us and a way to and fro, and before that at most eight; once a message, it
// would be 2,000.
TEST(StrandSearch, ThreadsThatAnswerEachOtherDoNotAskForWorkAfterEachMessage) {
    for (const std::string& victim : runtime::victim_policies()) {
        const runtime::RunResult result = exchange(victim, Time::zero());
        const auto rounds =
            static_cast<std::uint64_t>(result.makespan / (std::chrono::microseconds(100) + 2 * one_way));
        EXPECT_LE(attempts_of(result), 2 * 2 * (rounds + 8)) << victim;
        if (victim == "random") {
            EXPECT_GE(attempts_of(result), rounds);
        }
    }
}

// A strand that computes for more than 16 times the longest wait is work like a task: after it a new search
// begins.
TEST(StrandSearch, AStrandThatRunsForLongBeginsANewSearch) {
    const runtime::RunResult result = exchange("random", std::chrono::microseconds(1601));
    EXPECT_GE(attempts_of(result), 2 * (exchanges - 1));
}

}  // namespace heddle::sim::testing
