// Tests the processes that are chosen for threads that talk: against the best of all placements, tried one by
// one, and against known least numbers of edges between parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>

#include "base/error.hpp"
#include "base/random.hpp"
#include "model/messaging/resources.hpp"
#include "model/messaging/talk.hpp"
#include "tests/seeds.hpp"

namespace heddle::messaging {
namespace {

using Shape = Topology::Shape;
using Placed = std::vector<ProcessId>;

std::vector<ProcessId> first_processes(ProcessId count) {
    std::vector<ProcessId> all(count);
    std::iota(all.begin(), all.end(), ProcessId{0});
    return all;
}

const LinkBetween equal_links = [](ProcessId, ProcessId) -> RouteTable::Route {
    return {std::chrono::microseconds(1), 1e9};
};

/// Messages between two processes.
double cut(const Talk& talk, const Placed& placed) {
    double sum = 0;
    for (const Talk::Pair& pair : talk.pairs)
        if (placed[pair.a] != placed[pair.b]) sum += pair.messages;
    return sum;
}

void expect_even(const Placed& placed, ProcessId processes) {
    std::vector<std::size_t> loads(processes, 0);
    for (const ProcessId process : placed) ++loads.at(process);
    const auto [least, most] = std::ranges::minmax(loads);
    EXPECT_LE(most - least, 1U);
}

TEST(MessagingTalk, PairsShareAProcess) {
    Talk talk{.places = 12, .pairs = {}};
    for (Talk::Place i = 0; i < 6; ++i) talk.pairs.push_back({i, i + 6});
    for (const ProcessId processes : {1U, 2U, 3U, 6U}) {
        const Placed placed = place_together(talk, first_processes(processes), equal_links);
        expect_even(placed, processes);
        EXPECT_EQ(cut(talk, placed), 0) << processes;
    }
}

// A ring of n in p arcs has p edges between them, a 4 x 4 torus in four squares or rings 16 of its 32, a
// 6 x 6 grid in four quarters 12, and two complete graphs with a bridge the bridge. An edge is counted from
// both ends.
TEST(MessagingTalk, ShapesAreDividedAtTheirFewestEdges) {
    struct Case {
        Shape shape;
        ProcessId processes;
        double edges;
    };
    std::vector<std::pair<Talk::Place, Talk::Place>> two;
    for (Talk::Place a = 0; a < 5; ++a)
        for (Talk::Place b = 0; b < a; ++b) two.insert(two.end(), {{2 * a, 2 * b}, {2 * a + 1, 2 * b + 1}});
    two.emplace_back(4, 7);
    const Case cases[] = {{Shape::ring(16), 4, 4},       {Shape::ring(10), 3, 3},
                          {Shape::torus({4, 4}), 4, 16}, {Shape::grid({6, 6}), 4, 12},
                          {Shape::tree(7), 7, 6},        {Shape::graph(10, two), 2, 1}};
    for (const Case& one : cases) {
        const Talk talk = Talk::of(one.shape.neighbours, 1, 0);
        const Placed placed = place_together(talk, first_processes(one.processes), equal_links);
        expect_even(placed, one.processes);
        EXPECT_EQ(cut(talk, placed) / 2, one.edges) << talk.places << " on " << one.processes;
    }
}

/// Two machines of two processes in each of two clusters.
RouteTable::Route in_clusters(ProcessId a, ProcessId b) {
    if (a / 2 == b / 2) return {std::chrono::nanoseconds(300), 10e9};
    if (a / 4 == b / 4) return {std::chrono::microseconds(2), 1e9};
    return {std::chrono::microseconds(100), 1e7};
}

// A ring enters and leaves a cluster, a machine and a process once.
TEST(MessagingTalk, ARingCrossesEachBorderTwice) {
    const Talk talk = Talk::of(Shape::ring(32).neighbours, 1, 1000);
    const Placed placed = place_together(talk, first_processes(8), in_clusters);
    expect_even(placed, 8);
    const auto crossings = [&](ProcessId size) {
        int count = 0;
        for (std::size_t i = 0; i < 32; ++i) count += placed[i] / size != placed[(i + 1) % 32] / size;
        return count;
    };
    EXPECT_EQ(crossings(1), 8);
    EXPECT_EQ(crossings(2), 4);
    EXPECT_EQ(crossings(4), 2);
}

// The paper's example: all nodes are joined by Fast Ethernet, and some of them by Myrinet. The threads that
// talk are started there.
TEST(MessagingTalk, ThreadsThatTalkAreWhereTheFastNetworkIs) {
    const auto link = [](ProcessId a, ProcessId b) -> RouteTable::Route {
        if (a >= 3 && a <= 5 && b >= 3 && b <= 5) return {std::chrono::microseconds(10), 120e6};
        return {std::chrono::microseconds(70), 12e6};
    };
    const Talk talk{.places = 8, .pairs = {{1, 4, 100, 1e6}, {4, 7, 100, 1e6}, {0, 2, 1, 10}}};
    const Placed placed = place_together(talk, first_processes(8), link);
    expect_even(placed, 8);
    for (const Talk::Place place : {1, 4, 7}) EXPECT_TRUE(placed[place] >= 3 && placed[place] <= 5) << place;
}

TEST(MessagingTalk, ProcessesNeedNotBeNumberedWithoutGaps) {
    const Talk talk{.places = 4, .pairs = {{0, 2}, {1, 3}}};
    const std::vector<ProcessId> processes{2, 7};
    const Placed placed = place_together(talk, processes, equal_links);
    EXPECT_EQ(placed[0], placed[2]);
    EXPECT_EQ(placed[1], placed[3]);
    EXPECT_NE(placed[0], placed[1]);
    for (const ProcessId process : placed) EXPECT_TRUE(process == 2 || process == 7);
}

// --- against all placements

struct Drawn {
    Talk talk;
    ProcessId processes = 0;
    std::vector<RouteTable::Route> links;

    RouteTable::Route operator()(ProcessId a, ProcessId b) const { return links[a * processes + b]; }
};

Drawn draw(std::uint64_t seed) {
    Random random(seed);
    Drawn drawn;
    drawn.processes = static_cast<ProcessId>(2 + random.below(3));
    drawn.talk.places = 3 + random.below(6);
    for (Talk::Place a = 0; a < drawn.talk.places; ++a)
        for (Talk::Place b = 0; b < a; ++b)
            if (random.below(2) == 0)
                drawn.talk.pairs.push_back({a, b, static_cast<double>(random.below(100)),
                                            static_cast<double>(random.below(100'000))});
    drawn.links.resize(std::size_t{drawn.processes} * drawn.processes);
    for (ProcessId a = 0; a < drawn.processes; ++a)
        for (ProcessId b = a + 1; b < drawn.processes; ++b)
            drawn.links[a * drawn.processes + b] = {
                std::chrono::microseconds(1 + random.below(random.below(2) == 0 ? 5 : 200)),
                1e6 * static_cast<double>(1 + random.below(1000))};
    return drawn;
}

double least_of_all(const Drawn& drawn) {
    Placed placed(drawn.talk.places, 0);
    double least = std::numeric_limits<double>::infinity();
    const std::size_t most = (placed.size() + drawn.processes - 1) / drawn.processes;
    for (;;) {
        std::vector<std::size_t> loads(drawn.processes, 0);
        for (const ProcessId process : placed) ++loads[process];
        const auto [fewest, largest] = std::ranges::minmax(loads);
        if (largest <= most && largest - fewest <= 1)
            least = std::min(least, seconds_between(drawn.talk, placed, drawn));
        std::size_t digit = 0;
        while (digit < placed.size() && ++placed[digit] == drawn.processes) placed[digit++] = 0;
        if (digit == placed.size()) return least;
    }
}

TEST(MessagingTalk, SmallCasesAreNearTheBestOfAllPlacements) {
    double worst = 1;
    std::uint64_t exact = 0;
    const std::uint64_t count = testing_seeds::seeds(500);
    for (std::uint64_t seed = 1; seed <= count; ++seed) {
        const Drawn drawn = draw(seed);
        const Placed placed = place_together(drawn.talk, first_processes(drawn.processes), drawn);
        ASSERT_EQ(placed.size(), drawn.talk.places);
        expect_even(placed, drawn.processes);
        const double least = least_of_all(drawn);
        const double found = seconds_between(drawn.talk, placed, drawn);
        ASSERT_GE(found, least * (1 - 1e-9)) << seed;
        const double ratio = found > least ? found / least : 1;
        worst = std::max(worst, ratio);
        exact += ratio < 1 + 1e-9;
        EXPECT_EQ(placed, place_together(drawn.talk, first_processes(drawn.processes), drawn)) << seed;
    }
    EXPECT_LT(worst, 1.1);
    EXPECT_GE(exact, count * 95 / 100);
}

// Threads that must share a process move together.
TEST(MessagingTalk, SetsOfThreadsThatTalkMuchAreExchangedAsAWhole) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Random random(seed);
        constexpr Talk::Place sets = 8;
        constexpr Talk::Place each = 4;
        Talk talk{.places = sets * each, .pairs = {}};
        Talk of_sets{.places = sets, .pairs = {}};
        for (Talk::Place set = 0; set < sets; ++set) {
            for (Talk::Place a = 0; a < each; ++a)
                for (Talk::Place b = 0; b < a; ++b)
                    talk.pairs.push_back({set + sets * a, set + sets * b, 1000, 0});
            for (int i = 0; i < 3; ++i) {
                const Talk::Place other = random.below(sets);
                of_sets.pairs.push_back({set, other, 1, 0});
                talk.pairs.push_back(
                    {set + sets * random.below(each), other + sets * random.below(each), 1, 0});
            }
        }
        const std::vector<ProcessId> processes = first_processes(sets);
        Placed order = processes;
        double least = std::numeric_limits<double>::infinity();
        do least = std::min(least, seconds_between(of_sets, order, in_clusters));
        while (std::ranges::next_permutation(order).found);
        const Placed placed = place_together(talk, processes, in_clusters);
        EXPECT_NEAR(seconds_between(talk, placed, in_clusters), least, least * 1e-9) << seed;
    }
}

TEST(MessagingTalk, NoPlacementIsWorseThanPlacesDealtOut) {
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(40); ++seed) {
        Random random(seed);
        const auto processes = static_cast<ProcessId>(2 + random.below(30));
        Talk talk{.places = 1 + random.below(300), .pairs = {}};
        for (std::uint64_t i = random.below(3 * talk.places); i > 0; --i)
            talk.pairs.push_back({random.below(talk.places), random.below(talk.places),
                                  static_cast<double>(random.below(10)), 0});
        const Placed placed = place_together(talk, first_processes(processes), in_clusters);
        expect_even(placed, processes);
        Placed turn, block;
        for (Talk::Place i = 0; i < talk.places; ++i) {
            turn.push_back(static_cast<ProcessId>(i % processes));
            block.push_back(static_cast<ProcessId>(i * processes / talk.places));
        }
        const double found = seconds_between(talk, placed, in_clusters);
        EXPECT_LE(found, seconds_between(talk, turn, in_clusters) * (1 + 1e-9)) << seed;
        EXPECT_LE(found, seconds_between(talk, block, in_clusters) * (1 + 1e-9)) << seed;
    }
}

// --- what links a topology tells of

runtime::Topology topology_of(const std::vector<std::uint32_t>& group) {
    runtime::Topology topology;
    topology.nodes = static_cast<NodeId>(group.size());
    topology.group = group;
    topology.distances = NodeDistances(group, nullptr, Time::zero());
    return topology;
}

TEST(MessagingTalk, ProcessesOfAGroupAreNearerEvenIfNoDistanceIsKnown) {
    const runtime::Topology topology = topology_of({0, 0, 1, 1});
    const LinkBetween link = links_of(topology);
    EXPECT_LT(seconds_over(link(0, 1), 1, 0), seconds_over(link(0, 2), 1, 0));
    EXPECT_LT(seconds_over(link(2, 3), 0, 1), seconds_over(link(1, 3), 0, 1));
    EXPECT_GT(seconds_over(link(0, 1), 1, 0), 0);
    EXPECT_EQ(link(0, 2).latency, link(1, 3).latency);
}

TEST(MessagingTalk, WhereSeveralNetworksJoinNodesTheyAreTheLinks) {
    runtime::Topology topology = topology_of({0, 0, 0});
    topology.routes = std::make_shared<NetworkRoutes>(
        3,
        std::vector<JoinedNodes>{{"ethernet", {0, 1, 2}, std::chrono::microseconds(70), 12e6},
                                 {"myrinet", {1, 2}, std::chrono::microseconds(10), 120e6}},
        NetworkRoutes::Settings{});
    const LinkBetween link = links_of(topology);
    EXPECT_EQ(link(1, 2).latency, Time(std::chrono::microseconds(10)));
    EXPECT_EQ(link(1, 2).bandwidth, 120e6);
    EXPECT_EQ(link(0, 2).latency, Time(std::chrono::microseconds(70)));
    EXPECT_EQ(link(0, 2).bandwidth, 12e6);
}

TEST(MessagingTalk, AmountsThatMakeNoSenseAreErrors) {
    const auto place = [](const Talk::Pair& pair) {
        return place_together({.places = 2, .pairs = {pair}}, first_processes(2), equal_links);
    };
    EXPECT_THROW(place({0, 2}), Error);
    EXPECT_THROW(place({0, 1, -1}), Error);
    EXPECT_THROW(place({0, 1, 1, std::numeric_limits<double>::quiet_NaN()}), Error);
    EXPECT_THROW(place({0, 1, std::numeric_limits<double>::infinity()}), Error);
    EXPECT_NO_THROW(place({1, 1, 5}));
    EXPECT_EQ(place({0, 1, 1e18, 1e18}).size(), 2U);
    EXPECT_THROW(place({0, 1, 1, 1.1e18}), Error);
    EXPECT_THROW(Talk::matrix({{0, 1}, {1}}), Error);
    EXPECT_TRUE(place_together({}, first_processes(2), equal_links).empty());
}

TEST(MessagingTalk, AMatrixIsReadByRows) {
    const Talk talk = Talk::matrix({{0, 5000, 0}, {0, 0, 0}, {10, 0, 0}}, 1000);
    ASSERT_EQ(talk.pairs.size(), 2U);
    EXPECT_EQ(talk.pairs[0].b, 1U);
    EXPECT_EQ(talk.pairs[0].messages, 5);
    EXPECT_EQ(talk.pairs[1].a, 2U);
    EXPECT_EQ(talk.pairs[1].bytes, 10);
}

}  // namespace
}  // namespace heddle::messaging
