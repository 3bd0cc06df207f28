// Tests how much of a message a computation hides (the KAAPI paper, section 4.3). It hides the message if the
// node's own modules send it, and does not if the computing worker must send it. What is done with the data
// is measured too.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "base/time.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "sim/sim_backend.hpp"
#include "tests/placement_testing.hpp"

namespace heddle {
namespace {

using testing_placement::Ran;
using testing_placement::Stated;

constexpr double seconds_per_step = 1e-9;

Ran overlap(double bytes, double seconds_computing, bool single_module) {
    Platform platform;
    platform.nodes = 2;
    platform.cores = 2;
    platform.core_speed = 1e9;
    platform.network.latency = std::chrono::microseconds(10);
    // A sender that waits until 1 Gb/s have taken its message.
    platform.overheads.message_send = std::chrono::microseconds(5);
    platform.overheads.message_send_kib = std::chrono::nanoseconds(8192);
    platform.overheads.message_receive = std::chrono::microseconds(5);
    sim::SimBackend backend(platform, {.single_module = single_module});
    const auto steps = static_cast<std::uint64_t>(seconds_computing / seconds_per_step);
    return testing_placement::run(backend,
                                  {"overlap",
                                   {{"bytes", std::to_string(bytes)},
                                    {"steps", std::to_string(steps)},
                                    {"rounds", "3"},
                                    {"unit_cost", "1f"}}},
                                  testing_placement::cluster(2, 2),
                                  testing_placement::schedule("none", "none"));
}

TEST(Overlap, IsThatOfTheModules) {
    for (const double bytes : {2048.0, 65536.0}) {
        const double sending = 5e-6 + bytes / 1024 * 8.192e-6;
        const Ran without = overlap(bytes, 0, false);
        ASSERT_TRUE(without.right()) << without.verdict.reason;
        const double alone = without.answer("seconds");
        // A computation that takes as long is hidden; or the time to send comes on top of it.
        const Ran separate = overlap(bytes, alone, false);
        EXPECT_LT(separate.answer("seconds"), 1.05 * alone);
        EXPECT_GT(separate.answer("ratio"), 0.95);
        const Ran single = overlap(bytes, alone, true);
        EXPECT_GT(single.answer("seconds"), alone + sending);
    }
}

// Filling the data, adding them up, the computation and the check take 1 ms each, as the stopwatch has it:
// only the computation and the sum are at the same time.
TEST(Overlap, WhatIsDoneWithTheDataIsMeasured) {
    Platform platform;
    platform.nodes = 2;
    platform.cores = 1;
    std::uint64_t looks = 0;
    double seconds = 0;
    sim::SimOptions options;
    // The simulator looks three times at each piece of code, the last time behind it.
    options.stopwatch = [&] { return seconds += ++looks % 3 == 0 ? 1e-3 : 0; };
    sim::SimBackend backend(platform, options);
    const Ran ran =
        testing_placement::run(backend, {"overlap", {{"rounds", "1"}, {"steps", "10"}}},
                               testing_placement::cluster(2, 1), testing_placement::schedule("none", "none"));
    ASSERT_TRUE(ran.right()) << ran.verdict.reason;
    EXPECT_EQ(looks, 3 * 4);
    EXPECT_GT(to_seconds(ran.result.makespan), 3e-3);
}

TEST(Overlap, NeedsTwoNodes) {
    inprocess::InprocessBackend backend({});
    try {
        (void)testing_placement::run(backend, {"overlap", {}}, testing_placement::cluster(1, 2), {});
        ADD_FAILURE() << "it was not refused";
    } catch (const Error& error) {
        // Of two nodes one may begin alone: the cluster then has one.
        EXPECT_NE(std::string(error.what()).find("platform.nodes_at_start"), std::string::npos)
            << error.what();
    }
}

TEST(Overlap, AWrongAcknowledgementIsNoticed) {
    inprocess::InprocessBackend backend({2, 1, 1});
    const Stated stated{"overlap", {{"bytes", "100"}, {"steps", "1000"}}};
    Ran ran = testing_placement::run(backend, stated, testing_placement::cluster(2, 1), {});
    ASSERT_TRUE(ran.right()) << ran.verdict.reason;
    for (auto& value : ran.result.answer)
        if (value.name == "right") --value.value;
    EXPECT_EQ(stated.make()->check(ran.result).kind, workloads::Verdict::Kind::wrong);
}

}  // namespace
}  // namespace heddle
