// Tests that only what runs on the processors of this process disturbs it.
#include "host/disturbance.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>
#include <vector>

#include "host/line_exchange.hpp"
#include "host/machine.hpp"

namespace heddle::host {
namespace {

/// Of two processors that this process may use and two that others keep busy; ticks since the start.
constexpr const char* proc_stat =
    "cpu  2111 20 30 4000 50 6 7 8 0 0\n"
    "cpu0 10 1 2 1000 30 3 4 5 9 9\n"
    "cpu1 1000 5 6 700 0 0 0 0 0 0\n"
    "cpu2 1 2 3 1000 20 0 0 3 0 0\n"
    "cpu13 1100 0 0 300 0 0 0 0 0 0\n"
    "intr 12345 1 2 3\n"
    "ctxt 987\n";

ProcessorUse use_of(const std::vector<unsigned>& processors) {
    std::istringstream stream(proc_stat);
    return processor_use(stream, processors);
}

TEST(Disturbance, OnlyTheProcessorsOfThisProcessCount) {
    EXPECT_EQ(use_of({0, 2}).busy_ticks, 25 + 9) << "user, nice, system, interrupts and steal time";
    EXPECT_EQ(use_of({0, 2}).processors, 2u);
    EXPECT_EQ(use_of({13}).busy_ticks, 1100);
    EXPECT_EQ(use_of({0, 77}).processors, 1u) << "one that the system does not name";
    EXPECT_EQ(use_of({}).processors, 4u) << "not known: all of them";
    EXPECT_EQ(use_of({}).busy_ticks, 25 + 1011 + 9 + 1100);
}

TEST(Disturbance, AllHardwareThreadsOfTheCoresAreUsable) {
    EXPECT_GE(usable_processors().size(), cores_by_memory().empty() ? 0 : machine_cores());
}

TEST(Disturbance, SharesAreBetweenNoneAndAll) {
    DisturbanceWatch watch;
    watch.begin();
    const Disturbance disturbance = watch.end();
    EXPECT_GE(disturbance.other_share, 0);
    EXPECT_GE(disturbance.slowdown, 0);
}

TEST(Disturbance, LinesTravelBetweenCoresInLessThanAMicrosecond) {
    const double seconds = line_exchange_seconds();
    if (seconds == 0) GTEST_SKIP() << "one core, or other programs have the cores";
    EXPECT_GT(seconds, 1e-9);
    EXPECT_LT(seconds, 20e-6) << "a tenth of a switch of threads, on any machine";
}

// Several that measure have the same cores. An answer that came after the measuring thread had given up once
// kept its thread for ever.
TEST(Disturbance, LinesAreMeasuredInATimeAlsoWhereOthersHaveTheCores) {
    std::vector<std::thread> measurers;
    for (int i = 0; i < 8; ++i)
        measurers.emplace_back([] {
            for (int k = 0; k < 50; ++k) EXPECT_GE(line_exchange_seconds(), 0);
        });
    for (std::thread& measurer : measurers) measurer.join();
}

TEST(Disturbance, OtherCoresExchangeLinesInAnotherTime) {
    EXPECT_TRUE(are_other_cores(25e-9, 160e-9));
    EXPECT_TRUE(are_other_cores(160e-9, 25e-9));
    EXPECT_FALSE(are_other_cores(25e-9, 30e-9));
    EXPECT_FALSE(are_other_cores(0, 30e-9)) << "not known";
}

TEST(Disturbance, AWatchOfOtherCoresSaysSo) {
    DisturbanceWatch watch(1.0);  // no machine takes a second
    bool says_so = false, waits = false;
    // While other programs have the cores no line is measured, and nothing is known.
    for (int i = 0; i < 100 && !(says_so && waits); ++i) {
        watch.begin();
        says_so = watch.end().on_other_cores || says_so;
        waits = !watch.wait_for_cores(0) || waits;
    }
    if (machine_cores() == 1 || !(says_so || waits)) GTEST_SKIP() << "no line could be measured";
    EXPECT_TRUE(says_so);
    EXPECT_TRUE(waits);
    for (int i = 0; i < 100 && watch.line_seconds() == 1; ++i) watch.accept_cores();
    EXPECT_LT(watch.line_seconds(), 1);
}

}  // namespace
}  // namespace heddle::host
