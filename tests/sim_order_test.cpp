// Tests that small messages of one pair of nodes arrive in the order in which they were sent, also where they
// share no link, and where that is not so. The times are calculated by hand from docs/simulator.md.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/last_arrivals.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

using Contention = Network::Contention;
using Came = std::vector<std::pair<std::size_t, Time>>;

/// The sizes of messages from node 0 to node 1, and when each has come.
Came came(const Platform& platform, const std::vector<std::uint64_t>& sizes, runtime::Path path = {}) {
    Came all;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node != 0) return;
            for (const std::uint64_t size : sizes)
                context.backend->send(context, 1, runtime::Bytes(size), {}, path);
        },
        [&](Script&, Context& context, NodeId, std::span<const std::byte> message) {
            all.emplace_back(message.size(), now(context));
        });
    return all;
}

// 4000 bytes take 4 us and 2 us, 10 bytes 10 ns and 2 us, whatever was sent before; in turn they wait.
TEST(SimOrder, WithoutContentionAMessageMayOvertakeAnother) {
    Platform platform = ideal(2);
    platform.network.contention = Contention::none;
    EXPECT_EQ(came(platform, {4000, 10}), (Came{{10, ns(2010)}, {4000, us(6)}}));
    EXPECT_EQ(came(platform, {4000, 10}, {.in_turn = true}), (Came{{4000, us(6)}, {10, ns(6010)}}));
}

// The short one is served while the long one is, and waits for it.
TEST(SimOrder, NoSmallMessageOvertakesAnotherOnLinks) {
    Platform platform = ideal(2);
    for (const auto contention : {Contention::full, Contention::exact}) {
        platform.network.contention = contention;
        const Came all = came(platform, {4000, 10});
        ASSERT_EQ(all.size(), 2U);
        EXPECT_EQ(all[0].first, 4000U);
        EXPECT_NEAR(to_seconds(all[0].second), 6.01e-6, 1e-11);
        EXPECT_EQ(all[1].second, all[0].second);
    }
}

// Each message has the whole link to itself: 4000 bytes at 1 MB/s take 4 ms.
TEST(SimOrder, NorOnARouteThatSharesNoLink) {
    const std::string file =
        std::filesystem::path(::testing::TempDir()) / ("sim_order_" + std::to_string(::getpid()) + ".xml");
    std::ofstream(file) << "<?xml version='1.0'?>\n"
                           "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                           "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n"
                           "<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>\n"
                           "<link id=\"l\" bandwidth=\"1MBps\" latency=\"1us\" sharing_policy=\"FATPIPE\"/>\n"
                           "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>\n"
                           "</zone></platform>\n";
    Platform platform = ideal(2);
    platform.file = file;
    EXPECT_EQ(came(platform, {4000, 10}), (Came{{4000, us(4001)}, {10, us(4001)}}));
    EXPECT_EQ(came(platform, {10, 4000}), (Came{{10, us(11)}, {4000, us(4001)}}));
    std::filesystem::remove(file);
}

// Two workers of a node look for messages. To receive takes 1 us and 10 us for each KiB, so 1 us and 10,000 /
// 1024 ns for the second message, which the other worker may not take meanwhile.
TEST(SimOrder, OneWorkerAtATimeReceives) {
    Platform platform = ideal(2, 2);
    platform.overheads.message_receive = us(1);
    platform.overheads.message_receive_kib = us(10);
    Came all;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0) {
                if (context.id.core > 0) return;
                send(context, 1, 3072);
                send(context, 1, 10);
            } else {
                while (all.size() < 2) context.backend->park(context, now(context) + us(1));
            }
        },
        [&](Script&, Context& context, NodeId, std::span<const std::byte> message) {
            all.emplace_back(message.size(), now(context));
        },
        {.single_module = true});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].first, 3072U);
    EXPECT_EQ(all[1].first, 10U);
    EXPECT_EQ(all[1].second - all[0].second, us(1) + ns(10'000) * 10 / 1024);
}

// Another that could not receive is woken by what the handler does, and goes on.
TEST(SimOrder, AWorkerThatMayNotReceiveRestsMeanwhile) {
    Platform platform = ideal(2, 3);
    platform.overheads.message_receive = us(5);
    std::vector<Time> woken(3);
    int came = 0;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0) {
                for (int i = 0; context.id.core == 0 && i < 3; ++i) send(context, 1, 10);
                return;
            }
            while (woken[context.id.core] == Time::zero()) {
                context.backend->park(context, never);
                if (came == 3) woken[context.id.core] = now(context);
            }
        },
        [&](Script&, Context& context, NodeId, auto) {
            if (++came < 3) return;
            for (CoreId core = 0; core < 3; ++core) context.backend->unpark(context, core);
        },
        {.single_module = true});
    for (const Time time : woken) {
        EXPECT_GE(time, us(17));
        EXPECT_LT(time, us(18));
    }
}

TEST(SimOrder, PairsWhoseLastMessageHasArrivedAreForgotten) {
    LastArrivals arrivals;
    constexpr std::uint64_t many = 5000;
    for (std::uint64_t pair = 0; pair < many; ++pair)
        EXPECT_EQ(arrivals.in_order(pair, us(pair < 10 ? 90 : 10)), us(pair < 10 ? 90 : 10));
    arrivals.forget(us(10));
    for (std::uint64_t pair = 0; pair < many; ++pair)
        EXPECT_EQ(arrivals.in_order(pair, us(5)), us(pair < 10 ? 90 : 5));
}

}  // namespace
}  // namespace heddle::sim::testing
