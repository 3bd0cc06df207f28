// Groups of ranks that are near each other: what a topology gives, and what algorithms of several levels send
// from one node to another.
#include "model/spmd/groups.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/spmd_interpreter.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;

std::vector<RankId> firsts(const Groups* groups) {
    std::vector<RankId> all;
    for (RankId group = 0; groups && group <= groups->count(); ++group) all.push_back(groups->first(group));
    return all;
}
using Firsts = std::vector<RankId>;

runtime::Topology topology(std::vector<std::uint32_t> group, CoreId near_cores = 0) {
    runtime::Topology made;
    made.nodes = static_cast<NodeId>(group.size());
    made.near_cores = near_cores;
    made.distances = NodeDistances(
        group,
        [group](NodeId from, NodeId to) {
            return group[from] == group[to] ? std::chrono::microseconds(1) : std::chrono::microseconds(9);
        },
        Time::zero());
    made.group = std::move(group);
    return made;
}

TEST(SpmdGroups, KnowTheirRanksWhetherAlikeOrNot) {
    for (const Firsts& begins : {Firsts{0, 3, 6}, Firsts{0, 1, 6}, Firsts{0}, Firsts{0, 3}, Firsts{0, 5}}) {
        const Groups groups(8, begins);
        ASSERT_EQ(groups.count(), begins.size());
        RankId least = 8;
        for (RankId group = 0; group < groups.count(); ++group) {
            EXPECT_EQ(groups.first(group), begins[group]);
            least = std::min(least, groups.size(group));
            for (RankId rank = groups.first(group); rank < groups.first(group + 1); ++rank)
                EXPECT_EQ(groups.of(rank), group);
        }
        EXPECT_EQ(groups.first(groups.count()), 8U);
        EXPECT_EQ(groups.least(), least);
    }
    EXPECT_NE(Groups(8, {0, 1, 6}).fingerprint(), Groups(8, {0, 2, 6}).fingerprint());
    EXPECT_NE(Groups(8, {0, 4}).fingerprint(), Groups(8, {0, 5}).fingerprint());
}

TEST(SpmdGroups, OfNodesAreThoseOfTheNetwork) {
    const Levels levels = Levels::of(topology({7, 7, 7, 2, 2}), 1);
    EXPECT_EQ(firsts(levels.two.get()), (Firsts{0, 3, 5}));
    EXPECT_EQ(firsts(levels.three.get()), (Firsts{0, 3, 5}));
    EXPECT_EQ(levels.three->above(), nullptr);
    EXPECT_DOUBLE_EQ(levels.near_latency, 1e-6);
    EXPECT_DOUBLE_EQ(levels.far_latency, 9e-6);
}

TEST(SpmdGroups, OfThreadsAreTheirNodesAndAboveThoseOfTheNetwork) {
    const Levels levels = Levels::of(topology({0, 0, 1, 1}, 2), 4);
    EXPECT_EQ(firsts(levels.two.get()), (Firsts{0, 4, 8, 12, 16}));
    EXPECT_EQ(firsts(levels.three.get()), (Firsts{0, 4, 8, 12, 16}));
    EXPECT_EQ(firsts(levels.three->above()), (Firsts{0, 2, 4}));
}

TEST(SpmdGroups, OfThreadsWithoutGroupsOfNodesAreSocketsInNodes) {
    const Levels levels = Levels::of(topology({0, 0}, 2), 4);
    EXPECT_EQ(firsts(levels.two.get()), (Firsts{0, 4, 8}));
    EXPECT_EQ(firsts(levels.three.get()), (Firsts{0, 2, 4, 6, 8}));
    EXPECT_EQ(firsts(levels.three->above()), (Firsts{0, 2, 4}));
    const Levels one_node = Levels::of(topology({0}, 2), 4);
    EXPECT_EQ(firsts(one_node.two.get()), (Firsts{0, 2, 4}));
}

TEST(SpmdGroups, ThatAreOneOrRanksAloneAreNone) {
    for (const auto& nodes : {topology({0, 0, 0}), topology({0, 1, 2}), topology({0})})
        EXPECT_EQ(Levels::of(nodes, 1).two, nullptr);
    EXPECT_EQ(Levels::of(topology({0}), 4).two, nullptr);
    EXPECT_EQ(Levels::of(topology({0, 0, 0}), 1, 3).two, nullptr);
}

TEST(SpmdGroups, WhoseRanksAreNotConsecutiveAreSplit) {
    EXPECT_EQ(firsts(Levels::of(topology({0, 0, 1, 0, 0}), 1).two.get()), (Firsts{0, 2, 3, 5}));
}

TEST(SpmdGroups, AsStatedReplaceTheTopologys) {
    const Levels levels = Levels::of(topology({0, 0, 0, 1, 1}), 2, 4);
    EXPECT_EQ(firsts(levels.two.get()), (Firsts{0, 4, 8, 10}));
    EXPECT_EQ(levels.three->above(), nullptr);
}

// --- what leaves a node

/// Of all ranks together, from one of `groups` to another.
Sent between(const Groups& groups, const char* algorithm, Operation operation, RankId root,
             const Levels& levels, Index count) {
    Sent sent;
    for (RankId rank = 0; rank < groups.ranks(); ++rank) {
        Collected steps;
        find_algorithm(operation, algorithm).steps({rank, groups.ranks(), root, count, 1, &levels}, steps);
        for (const Step& step : steps.all) {
            if (step.kind != Step::Kind::send || groups.of(step.peer) == groups.of(rank)) continue;
            ++sent.messages;
            sent.elements += step.from.count;
        }
    }
    return sent;
}

Sent between_groups(const char* algorithm, Operation operation, RankId root, const Levels& levels,
                    Index count) {
    return between(*levels.two, algorithm, operation, root, levels, count);
}

/// By an algorithm of one rank for each of so many nodes.
Sent of_nodes(const char* algorithm, Operation operation, RankId nodes, Index count) {
    Sent sent;
    for (RankId rank = 0; rank < nodes; ++rank) {
        Collected steps;
        find_algorithm(operation, algorithm).steps({rank, nodes, 0, count, 1}, steps);
        for (const Step& step : steps.all) {
            if (step.kind != Step::Kind::send) continue;
            ++sent.messages;
            sent.elements += step.from.count;
        }
    }
    return sent;
}

// p nodes of r ranks: only leaders send to other nodes, as if each node were one rank; k leaders send k
// messages in place of one.
TEST(SpmdMessagesBetweenNodes, AreThoseOfOneRankForEachNode) {
    constexpr Index count = 240;
    for (const RankId nodes : {2U, 3U, 8U, 10U}) {
        for (const RankId ranks : {2U, 3U, 8U}) {
            const Levels levels = Levels::of(topology(std::vector<std::uint32_t>(nodes, 0)), ranks);
            const RankId root = nodes * ranks - 2;
            const auto expect = [&](const char* levelled, Operation operation, const char* of_one, RankId k) {
                const Sent sent = between_groups(levelled, operation, root, levels, count);
                const Sent expected = of_nodes(of_one, operation, nodes, count);
                EXPECT_EQ(sent.messages, std::min(k, ranks) * expected.messages)
                    << name_of(operation) << " by " << levelled << ", " << nodes << " x " << ranks;
                EXPECT_EQ(sent.elements, expected.elements)
                    << name_of(operation) << " by " << levelled << ", " << nodes << " x " << ranks;
            };
            expect("two_level", Operation::barrier, "dissemination", 1);
            expect("two_level", Operation::broadcast, "binomial", 1);
            expect("two_level", Operation::reduce, "binomial", 1);
            expect("two_level", Operation::all_reduce, "recursive_doubling", 1);
            expect("two_level_rabenseifner", Operation::all_reduce, "rabenseifner", 1);
            for (const auto& [name, k] :
                 {std::pair{"two_level_leaders_2", 2U}, {"two_level_leaders_4", 4U}}) {
                const Sent sent = between_groups(name, Operation::all_reduce, root, levels, count);
                const Sent one = of_nodes("rabenseifner", Operation::all_reduce, nodes, count);
                EXPECT_EQ(sent.messages, std::min(k, ranks) * one.messages) << name;
                EXPECT_EQ(sent.elements, one.elements) << name;
            }
        }
    }
}

// Blocks of r ranks travel as one.
TEST(SpmdMessagesBetweenNodes, HaveTheBlocksOfAllRanks) {
    const Levels levels = Levels::of(topology(std::vector<std::uint32_t>(8, 0)), 3);
    const auto two_level = [&](Operation operation) {
        return between_groups("two_level", operation, 0, levels, 5);
    };
    EXPECT_EQ(two_level(Operation::all_gather), of_nodes("recursive_doubling", Operation::all_gather, 8, 15));
    EXPECT_EQ(two_level(Operation::gather), of_nodes("binomial", Operation::gather, 8, 15));
    EXPECT_EQ(two_level(Operation::scatter), of_nodes("binomial", Operation::scatter, 8, 15));
    EXPECT_EQ(two_level(Operation::scan), of_nodes("recursive_doubling", Operation::scan, 8, 5));
    EXPECT_EQ(two_level(Operation::reduce_scatter), of_nodes("ring", Operation::reduce_scatter, 8, 15));
    // From each of three ranks to each of three.
    EXPECT_EQ(two_level(Operation::all_to_all), of_nodes("pairwise", Operation::all_to_all, 8, 45));
}

// Groups of two nodes, with three ranks each.
TEST(SpmdMessagesBetweenGroupsOfNodes, HaveTheBlocksOfAllTheirRanks) {
    const Levels levels = Levels::of(topology({0, 0, 1, 1, 2, 2, 3, 3}), 3);
    const auto three_level = [&](Operation operation) {
        return between(*levels.network, "three_level", operation, 0, levels, 5);
    };
    const auto of_groups = [](const char* algorithm, Operation operation, Index count) {
        return of_nodes(algorithm, operation, 4, count);
    };
    for (const Operation operation : {Operation::gather, Operation::scatter})
        EXPECT_EQ(three_level(operation), of_groups("binomial", operation, 30));
    EXPECT_EQ(three_level(Operation::scan), of_groups("recursive_doubling", Operation::scan, 5));
    EXPECT_EQ(three_level(Operation::reduce_scatter), of_groups("ring", Operation::reduce_scatter, 30));
    EXPECT_EQ(three_level(Operation::all_to_all), of_groups("pairwise", Operation::all_to_all, 180));
}

}  // namespace
}  // namespace heddle::spmd
