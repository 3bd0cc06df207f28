// Tests the sample trees of the UTS benchmark: all of them may be run and placed, also the supercritical one.
// Trees with settings of the user's own that may never end are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "base/error.hpp"
#include "tests/placement_testing.hpp"
#include "workloads/uts_tree.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {
namespace {

std::string error_with(const std::map<std::string, std::string>& stated) {
    const Kind& kind = find("uts");
    Settings settings(kind.settings);
    for (const auto& [key, value] : stated) settings.set(key, value);
    try {
        (void)kind.make(settings);
    } catch (const Error& error) {
        return error.message();
    }
    return "no error";
}

constexpr const char* sample_trees[] = {"T1", "T2", "T3", "T4", "T5", "T1L", "T3L", "T1XL"};

TEST(UtsSampleTrees, AllMayBeRun) {
    for (const char* tree : sample_trees) EXPECT_EQ(error_with({{"tree", tree}}), "no error") << tree;
}

TEST(UtsSampleTrees, AllCanBePlaced) {
    for (const char* tree : sample_trees) {
        for (const char* placement : {"block", "etf", "metis"}) {
            const auto workload = testing_placement::Stated{"uts", {{"tree", tree}}}.make();
            EXPECT_NO_THROW(workload->prepare(testing_placement::cluster(4, 2),
                                              testing_placement::schedule(placement, "none")))
                << tree << ' ' << placement;
            const auto promised = workload->forecast().makespan_seconds;
            ASSERT_TRUE(promised) << tree << ' ' << placement;
            EXPECT_GT(*promised, 0) << tree << ' ' << placement;
            EXPECT_TRUE(std::isfinite(*promised)) << tree << ' ' << placement;
        }
    }
}

// Types, shapes and numbers of the benchmark's list of sample trees.
TEST(UtsSampleTrees, AllLetExpectNodes) {
    using Type = UtsTree::Type;
    using Shape = UtsTree::Shape;
    for (const UtsTree& tree : {UtsTree{Type::geometric, Shape::fixed, 4, 10, 19},
                                UtsTree{Type::geometric, Shape::cyclic, 6, 16, 502},
                                UtsTree{Type::binomial, Shape::linear, 2000, 6, 42, 0.124875, 8},
                                UtsTree{Type::hybrid, Shape::linear, 6, 16, 1, 0.234375, 4},
                                UtsTree{Type::geometric, Shape::linear, 4, 20, 34},
                                UtsTree{Type::binomial, Shape::linear, 2000, 6, 7, 0.200014, 5}}) {
        for (const double nodes : tree.expected_nodes()) {
            EXPECT_GE(nodes, 1) << tree.seed;
            EXPECT_LE(nodes, 1e15) << tree.seed;
        }
    }
}

/// A node and what is below it.
UtsCount count_below(const UtsTree& tree, const UtsNode& node) {
    const std::int32_t children = tree.children(node);
    EXPECT_GE(children, 0);
    UtsCount count{1, children == 0 ? 1U : 0U, node.depth};
    for (std::int32_t i = 0; i < children; ++i) count += count_below(tree, UtsTree::child(node, i));
    return count;
}

// b(0) = b(1) = 1, and then 0. By a plain enumeration in Python with its hashlib. Its leaves had been
// missing.
TEST(UtsSampleTrees, AnExponentialTreeOfDepthOneHasItsLeaves) {
    const UtsTree tree{UtsTree::Type::geometric, UtsTree::Shape::exponential, 1, 1, 7};
    const UtsCount found = count_below(tree, tree.root());
    EXPECT_EQ(found.nodes, 11U);
    EXPECT_EQ(found.leaves, 7U);
    EXPECT_EQ(found.depth, 2);
    EXPECT_EQ(tree.expected_nodes().front(), 3);
}

// A binomial tree has neither depth nor shape nor shift, a geometric one neither q nor m.
TEST(UtsSampleTrees, WhatATreeDoesNotUseMakesItNoOtherTree) {
    EXPECT_EQ(error_with({{"tree", "T3L"}, {"depth", "9"}, {"shape", "cyclic"}, {"shift", "0.2"}}),
              "no error");
    const auto verdict = [](const std::map<std::string, std::string>& stated) {
        const Kind& kind = find("uts");
        Settings settings(kind.settings);
        for (const auto& [key, value] : stated) settings.set(key, value);
        runtime::RunResult counted;
        counted.complete = true;
        counted.answer = {
            {"nodes", 4130071}, {"depth", 10, runtime::AnswerValue::Combine::max}, {"leaves", 3305118}};
        return kind.make(settings)->check(counted).reason;
    };
    EXPECT_THAT(verdict({{"tree", "T1"}, {"probability", "0.1"}, {"children", "3"}, {"shift", "0.2"}}),
                ::testing::HasSubstr("official"));
}

// T3L ends because of its root's seed; of all other seeds nothing is known.
TEST(UtsSampleTrees, OwnTreesThatMayNotEndAreRefused) {
    const auto refused = ::testing::HasSubstr("may not end");
    EXPECT_THAT(error_with({{"tree", "T3L"}, {"root_seed", "8"}}), refused);
    EXPECT_THAT(error_with({{"tree", "T3L"}, {"branching", "2001"}}), refused);
    EXPECT_THAT(error_with({{"tree", "T3"}, {"probability", "0.125"}}), refused);
    EXPECT_THAT(error_with({{"tree", "T3"}, {"children", "9"}}), refused);
}

}  // namespace
}  // namespace heddle::workloads
