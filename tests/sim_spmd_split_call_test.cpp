// What split-phase collective calls hide in simulation: a call goes on while threads wait, or between the
// pieces of their work.
#include <gtest/gtest.h>

#include "tests/spmd_timed.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;

/// All-reduce of 1 MiB in flops that take `work` seconds, in so many pieces: the last rank's end.
double seconds_of(bool split_phase, double work, int pieces) {
    const Platform platform = bandwidth_counts().platform(4);
    double end = 0;
    sim::SimBackend backend(platform);
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    const auto main = [&](Spmd& self) {
        const Declared<double> in(1U << 17U), out(1U << 17U);
        const auto compute = [&] {
            for (int piece = 0; piece < pieces; ++piece) {
                self.worker().compute({work / pieces * platform.core_speed, 0}, {});
                self.strand().yield();
            }
        };
        if (split_phase) {
            SplitCall call = self.start().all_reduce(std::plus<>(), in, out, "ring");
            compute();
            call.wait();
        } else {
            self.all_reduce(std::plus<>(), in, out, "ring");
            compute();
        }
        end = std::max(end, to_seconds(self.worker().backend->now(self.worker())));
    };
    runtime::Execution(backend, schedule, [&](NodeId) {
        return std::make_unique<MainFunction>(SpmdOptions{}, main);
    }).run();
    return end;
}

TEST(SplitCallTime, IsTheLongerOfCallAndWorkInSmallPieces) {
    const double call = seconds_of(false, 0, 1);
    EXPECT_NEAR(call, 6 * (1U << 18U) / 1e9, 0.01 * call);  // two times three rounds of a quarter
    EXPECT_NEAR(seconds_of(false, call, 200), 2 * call, 0.01 * call);
    // In each of its six rounds a message is announced, accepted and sent: each may wait for the end of a
    // piece.
    const auto expect = [](double seconds, double longer, double piece) {
        EXPECT_GE(seconds, 0.999 * longer);
        EXPECT_LE(seconds, 1.01 * longer + 6 * 3 * piece);
    };
    expect(seconds_of(true, 0.5 * call, 400), call, 0.5 * call / 400);
    expect(seconds_of(true, call, 800), call, call / 800);
    expect(seconds_of(true, 2 * call, 800), 2 * call, 2 * call / 800);
}

// Its strand waits for the workers. Only what is under way goes on: the first message, which had been
// announced.
TEST(SplitCallTime, NothingIsHiddenBehindOnePieceOfWork) {
    const double call = seconds_of(false, 0, 1);
    EXPECT_GT(seconds_of(true, call, 1), 1.7 * call);
}

}  // namespace
}  // namespace heddle::spmd
