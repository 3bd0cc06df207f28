// Tests that the distributions of iterations (block, cyclic, block-cyclic) give each iteration to one pool of
// one node. For the cases of the HyFi paper's Figure 3, the pools are those that the paper states.
#include <gtest/gtest.h>

#include <map>

#include "model/filaments/distribution.hpp"

namespace heddle::filaments {
namespace {

Distribution make(int kind, std::int64_t begin, std::int64_t end, NodeId nodes, std::size_t pools) {
    if (kind == 0) return block(begin, end, nodes, pools);
    if (kind == 1) return cyclic(begin, end, nodes, pools);
    return block_cyclic(begin, end, 3, nodes, pools);
}

TEST(Distributions, GiveEachIterationToOnePoolAndBalance) {
    for (int kind = 0; kind < 3; ++kind) {
        for (const std::int64_t count : {0, 1, 5, 16, 37, 100}) {
            for (const NodeId nodes : {1, 2, 3, 7}) {
                for (const std::size_t pools : {1, 2, 5}) {
                    const Distribution rule = make(kind, -4, count - 4, nodes, pools);
                    std::map<std::int64_t, NodeId> seen;
                    std::vector<std::size_t> sizes(nodes);
                    for (NodeId node = 0; node < nodes; ++node) {
                        std::int64_t before = -5;
                        for (const auto& [index, pool] : rule.of(node)) {
                            EXPECT_LT(before, index);
                            before = index;
                            EXPECT_LT(pool, pools);
                            EXPECT_TRUE(seen.emplace(index, node).second) << index;
                            EXPECT_EQ(rule.node_of(index), node);
                            ++sizes[node];
                        }
                    }
                    EXPECT_EQ(seen.size(), static_cast<std::size_t>(count));
                    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
                    EXPECT_LE(*most - *least, kind == 2 ? 3U : 1U);
                }
            }
        }
    }
}

TEST(Distributions, ArePutOnNodesAndThenOnPools) {
    using Mine = std::vector<Iteration>;
    EXPECT_EQ(block(0, 4, 2, 2).of(1), (Mine{{2, 0}, {3, 1}}));
    EXPECT_EQ(block(0, 4, 1, 4).of(0), (Mine{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
    EXPECT_EQ(block(0, 4, 4, 1).of(2), (Mine{{2, 0}}));
    EXPECT_EQ(cyclic(0, 7, 2, 2).of(0), (Mine{{0, 0}, {2, 1}, {4, 0}, {6, 1}}));
    EXPECT_EQ(cyclic(0, 7, 2, 2).of(1), (Mine{{1, 0}, {3, 1}, {5, 0}}));
    EXPECT_EQ(block_cyclic(0, 9, 2, 2, 2).of(0), (Mine{{0, 0}, {1, 0}, {4, 1}, {5, 1}, {8, 0}}));
}

}  // namespace
}  // namespace heddle::filaments
