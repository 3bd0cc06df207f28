// Compares the arrivals of small simulated messages with SimGrid's: equal if an end of the route is its
// narrowest link; else the run warns. SimGrid's times come from the same program with contention `exact`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

using Contention = heddle::Network::Contention;

struct Sent {
    Time time{};
    NodeId from = 0;
    NodeId to = 0;
    std::uint64_t bytes = 0;
};

struct Outcome {
    std::vector<Time> arrivals;  ///< in the order of `Sent`
    std::vector<std::string> warnings;
};

/// Sends all at their times, which rise for each node.
Outcome sent_on(Platform platform, Contention contention, const std::vector<Sent>& all,
                const SimOptions& options = {}) {
    platform.network.contention = contention;
    Outcome outcome;
    outcome.arrivals.assign(all.size(), never);
    SimBackend backend(platform, options);
    run(
        backend,
        [&](Script&, Context& context) {
            for (std::uint64_t i = 0; i < all.size(); ++i) {
                if (all[i].from != context.id.node || context.id.core != 0) continue;
                sleep_until(context, all[i].time);
                runtime::Bytes bytes(all[i].bytes);
                std::memcpy(bytes.data(), &i, sizeof i);
                context.backend->send(context, all[i].to, std::move(bytes));
            }
        },
        [&](Script&, Context& context, NodeId, std::span<const std::byte> message) {
            std::uint64_t i = 0;
            std::memcpy(&i, message.data(), sizeof i);
            outcome.arrivals[i] = now(context);
        });
    outcome.warnings = backend.warnings();
    return outcome;
}

void expect_as_in_simgrid(const Platform& platform, const std::vector<Sent>& all) {
    const Outcome found = sent_on(platform, Contention::full, all);
    const Outcome expected = sent_on(platform, Contention::exact, all);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_NEAR(static_cast<double>(found.arrivals[i].count()),
                    static_cast<double>(expected.arrivals[i].count()), 1000)
            << i;  // a nanosecond
    }
    EXPECT_TRUE(found.warnings.empty());
    EXPECT_TRUE(expected.warnings.empty());
}

/// Sizes and times that all differ.
std::vector<Sent> uneven(std::vector<Sent> all) {
    Random random(5);
    std::map<NodeId, Time> last;
    for (Sent& one : all) {
        one.bytes = 100 + random.below(3900);
        one.time = last[one.from] += Time(static_cast<std::int64_t>(random.below(2'000'000)));
    }
    return all;
}

std::vector<Sent> many_to_one(NodeId nodes, int rounds) {
    std::vector<Sent> all;
    for (int round = 0; round < rounds; ++round) {
        for (NodeId from = 1; from < nodes; ++from) all.push_back({Time{}, from, 0, 2000});
    }
    return all;
}

std::vector<Sent> one_to_many(NodeId nodes, int rounds) {
    std::vector<Sent> all = many_to_one(nodes, rounds);
    for (Sent& one : all) std::swap(one.from, one.to);
    return all;
}

std::vector<Sent> all_to_all(NodeId nodes) {
    std::vector<Sent> all;
    for (NodeId from = 0; from < nodes; ++from) {
        for (NodeId to = 0; to < nodes; ++to) {
            if (from != to) all.push_back({Time{}, from, to, 2000});
        }
    }
    return all;
}

TEST(SimSharing, ManyMessagesToOneNodeArriveAsInSimGrid) {
    expect_as_in_simgrid(ideal(9), many_to_one(9, 1));
    expect_as_in_simgrid(ideal(9), uneven(many_to_one(9, 1)));
    // By the formula: eight share the link to the end.
    for (const Time arrival : sent_on(ideal(9), Contention::full, many_to_one(9, 1)).arrivals) {
        EXPECT_EQ(arrival, us(2) + 8 * us(2));
    }
}

TEST(SimSharing, ManyMessagesFromOneNodeArriveAsInSimGrid) {
    expect_as_in_simgrid(ideal(9), one_to_many(9, 1));
    expect_as_in_simgrid(ideal(9), uneven(one_to_many(9, 3)));
}

TEST(SimSharing, MessagesFromAllToAllArriveAsInSimGrid) {
    expect_as_in_simgrid(ideal(9), all_to_all(9));
}

// Node 1 sends by one wide link what ends on two narrow ones, of which one has other messages too.
TEST(SimSharing, AWideLinkFeedsNarrowOnesAtTheirRates) {
    for (const double wide : {1.0, 2.0, 10.0, 1000.0}) {
        Platform platform = ideal(4);
        platform.link_events = {{Time{}, "link-1_UP", wide, {}, {}}};
        const std::vector<Sent> all{{Time{}, 0, 2, 20000}, {Time{}, 1, 2, 20000}, {Time{}, 1, 3, 20000}};
        const Outcome outcome = sent_on(platform, Contention::exact, all);
        const Time alone = us(2) + us(20), shared = us(2) + us(40);
        const std::vector<Time> expected{shared, shared, wide > 1 ? alone : shared};
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_NEAR(static_cast<double>(outcome.arrivals[i].count()),
                        static_cast<double>(expected[i].count()), 10)
                << i << ", " << wide;
        }
    }
}

struct Flow {
    NodeId from = 0;
    NodeId to = 0;
    double left = 0;  ///< bytes
    double rate = 0;
    Time end = never;
};

/// Gives the flows under way rates that are max-min fair. A node's link upwards has 1 byte a nanosecond, and
/// the link downwards `down` of that.
void share_max_min(std::vector<Flow*> flows, const std::vector<double>& down) {
    const std::size_t nodes = down.size();
    std::vector<double> room(nodes, 1);
    room.insert(room.end(), down.begin(), down.end());
    while (!flows.empty()) {
        std::vector<double> users(room.size());
        for (const Flow* flow : flows) ++users[flow->from], ++users[nodes + flow->to];
        std::size_t narrowest = 0;
        double least = 1e9;
        for (std::size_t link = 0; link < room.size(); ++link)
            if (users[link] > 0 && room[link] / users[link] < least)
                least = room[link] / users[link], narrowest = link;
        std::erase_if(flows, [&](Flow* flow) {
            if (flow->from != narrowest && nodes + flow->to != narrowest) return false;
            flow->rate = least;
            room[flow->from] -= least;
            room[nodes + flow->to] -= least;
            return true;
        });
    }
}

/// When each message arrives if all links are shared max-min fair.
std::vector<Time> by_formula(const std::vector<Sent>& all, const std::vector<double>& down) {
    std::vector<Flow> flows;
    for (const Sent& one : all) flows.push_back({one.from, one.to, static_cast<double>(one.bytes)});
    double now = 0;  // nanoseconds
    for (;;) {
        std::vector<Flow*> under_way;
        double next = 1e18;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const double begin = to_seconds(all[i].time) * 1e9;
            if (flows[i].end != never) continue;
            if (begin > now + 1e-6)
                next = std::min(next, begin);
            else
                under_way.push_back(&flows[i]);
        }
        if (under_way.empty() && next == 1e18) break;
        share_max_min(under_way, down);
        for (const Flow* flow : under_way) next = std::min(next, now + flow->left / flow->rate);
        for (Flow* flow : under_way) {
            flow->left -= (next - now) * flow->rate;
            if (flow->left < 1e-3) flow->end = us(2) + Time(std::llround(next * 1000));
        }
        now = next;
    }
    std::vector<Time> ends;
    for (const Flow& flow : flows) ends.push_back(flow.end);
    return ends;
}

// Several messages begin at each of four moments, while others are under way, on links of unequal bandwidth.
TEST(SimSharing, MessagesThatBeginTogetherShareAllTheirLinks) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        Random random(seed);
        Platform platform = ideal(6);
        std::vector<double> down;
        for (NodeId node = 0; node < platform.nodes; ++node) {
            down.push_back(1.0 / static_cast<double>(1 + (seed % 2) * random.below(8)));
            platform.link_events.push_back({Time{}, fmt::format("link-{}_DOWN", node), down.back(), {}, {}});
        }
        std::vector<Sent> all;
        for (std::int64_t moment = 0; moment < 4; ++moment) {
            for (NodeId from = 0; from < 6; ++from) {
                const auto to = static_cast<NodeId>(random.below(6));
                if (to != from) all.push_back({us(10 * moment), from, to, 1000 * (20 + random.below(60))});
            }
        }
        const Outcome outcome = sent_on(platform, Contention::exact, all);
        const std::vector<Time> expected = by_formula(all, down);
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_NEAR(static_cast<double>(outcome.arrivals[i].count()),
                        static_cast<double>(expected[i].count()), 1000)
                << i << " of seed " << seed;  // a nanosecond
        }
    }
}

// Two messages over long links, which were sent 5 ms before, begin to flow shortly after one over a short
// way.
TEST(SimSharing, MessagesThatBeginTogetherShareTheirLinksBehindOneThatBeginsAlone) {
    Platform platform = ideal(6);
    platform.link_events = {{Time{}, "link-4_DOWN", 0.25, 5000, {}},
                            {Time{}, "link-5_DOWN", 0.125, 5000, {}}};
    const std::vector<Sent> all{{us(4999), 1, 2, 400'000}, {Time{}, 0, 4, 100'000}, {Time{}, 0, 5, 100'000}};
    const Outcome outcome = sent_on(platform, Contention::exact, all);
    EXPECT_NEAR(to_seconds(outcome.arrivals[0]), 5.401e-3, 1e-9);
    EXPECT_NEAR(to_seconds(outcome.arrivals[1]), 5.401e-3, 1e-9);
    EXPECT_NEAR(to_seconds(outcome.arrivals[2]), 5.801e-3, 1e-9);
}

// The nearer of two senders gets more of the link: SimGrid shares it in proportion to 1 / latency.
TEST(SimSharing, NearMessagesGetMoreOfALinkAsInSimGrid) {
    Platform platform = ideal(16);
    platform.network.topology = Network::Topology::fat_tree;
    platform.network.shape = {4, 4};
    expect_as_in_simgrid(platform, {{Time{}, 1, 0, 3000}, {Time{}, 5, 0, 3000}});
    platform.network.topology = Network::Topology::torus;
    platform.network.shape = {4, 4};
    expect_as_in_simgrid(platform, {{Time{}, 1, 0, 3000}, {Time{}, 2, 0, 3000}, {Time{}, 3, 0, 3000}});
}

TEST(SimSharing, SmallMessagesOfAPairArriveInOrderAlsoInSimGrid) {
    std::vector<Sent> all;
    for (const std::uint64_t bytes : {3000UL, 8UL, 2000UL, 10UL, 4000UL, 9UL, 1000UL}) {
        all.push_back({Time{}, 0, 1, bytes});
        all.push_back({Time{}, 2, 1, bytes / 2 + 8});
    }
    for (const Contention contention : {Contention::full, Contention::exact}) {
        const Outcome outcome = sent_on(ideal(3), contention, all);
        for (std::size_t i = 2; i < all.size(); ++i) {
            EXPECT_LE(outcome.arrivals[i - 2], outcome.arrivals[i]) << i;
        }
    }
}

TEST(SimSharing, TheOrderInWhichNodesAreVisitedDoesNotMatter) {
    for (const Contention contention : {Contention::full, Contention::exact}) {
        for (const auto topology : {Network::Topology::star, Network::Topology::torus}) {
            Platform platform = ideal(9);
            platform.network.topology = topology;
            const std::vector<Sent> all = uneven(all_to_all(9));
            EXPECT_EQ(sent_on(platform, contention, all).arrivals,
                      sent_on(platform, contention, all, {.reverse_nodes = true}).arrivals);
        }
    }
}

// 1 and 3 send to 0, each at half speed; so 1 is still sending when it begins another message, which the
// calculation gives all of the link, and SimGrid half of it for 4 us.
TEST(SimSharing, MessagesHeldUpAtBothEndsAreWarnedOf) {
    const std::vector<Sent> all = {{Time{}, 1, 0, 4000}, {Time{}, 3, 0, 4000}, {us(4), 1, 2, 4000}};
    const Outcome found = sent_on(ideal(4), Contention::full, all);
    const Outcome expected = sent_on(ideal(4), Contention::exact, all);
    EXPECT_EQ(found.warnings.size(), 1U);
    EXPECT_EQ(found.arrivals, (std::vector<Time>{us(10), us(10), us(10)}));
    EXPECT_NEAR(to_seconds(expected.arrivals[2]), to_seconds(us(12)), 1e-9);
    EXPECT_TRUE(sent_on(ideal(4), Contention::full, {all[0], all[1]}).warnings.empty());
}

// Two switches and one cable between them: no link but that one is narrow, and it is not calculated with.
TEST(SimSharing, LoadInsideTheNetworkIsWarnedOf) {
    Platform platform = ideal(16);
    platform.network.topology = Network::Topology::fat_tree;
    platform.network.shape = {8, 2};
    platform.network.cables = {1, 1};
    std::vector<Sent> across;
    std::vector<Sent> near;
    for (NodeId from = 0; from < 8; ++from) {
        across.push_back({Time{}, from, from + 8, 2000});
        near.push_back({Time{}, from, from ^ 1, 2000});
    }
    const Outcome found = sent_on(platform, Contention::full, across);
    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_NE(found.warnings[0].find("contention=exact"), std::string::npos) << found.warnings[0];
    const Outcome expected = sent_on(platform, Contention::exact, across);
    EXPECT_TRUE(expected.warnings.empty());
    // The test of the test: it is off.
    EXPECT_GT(to_seconds(expected.arrivals[0]), 2 * to_seconds(found.arrivals[0]));
    EXPECT_TRUE(sent_on(platform, Contention::full, near).warnings.empty());
    expect_as_in_simgrid(platform, near);
}

}  // namespace
}  // namespace heddle::sim::testing
