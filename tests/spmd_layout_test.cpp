// Tests layouts of distributed arrays: 100,000 random ones against a dealer that deals out element after
// element. Also compares them with the published definition of ScaLAPACK's index functions (Blackford et al.:
// "ScaLAPACK Users' Guide", section 4.3: element i is the one number i mod b of block floor(i / (b P)) of
// process floor(i / b) mod P).
#include "model/spmd/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"
#include "base/random.hpp"
#include "tests/spmd_layouts.hpp"

namespace heddle::spmd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_spmd::for_each_index;

Distribution draw_distribution(Random& random, Index extent, std::uint32_t& parts) {
    parts = static_cast<std::uint32_t>(1 + random.below(4));
    switch (random.below(5)) {
        case 0:
            parts = 1;
            return Distribution::none();
        case 1:
            return Distribution::block();
        case 2:
            return Distribution::block((extent + parts - 1) / parts + random.below(3));
        case 3:
            return Distribution::cyclic();
        default:
            return Distribution::cyclic(1 + random.below(5));
    }
}

/// `longest`: of the only dimension, if there is one.
std::vector<Dimension> draw_dimensions(Random& random, Index longest = 40) {
    std::vector<Dimension> all(1 + random.below(3));
    for (Dimension& dimension : all) {
        dimension.extent = random.below(all.size() == 1 ? longest : 6);
        dimension.nodes = draw_distribution(random, dimension.extent, dimension.node_parts);
        // BLOCK(m) of the threads has room for all, so for the elements of any node.
        dimension.threads = draw_distribution(random, dimension.extent, dimension.thread_parts);
    }
    return all;
}

bool has(const std::vector<Bounds>& domain, const std::vector<Index>& at) {
    for (std::size_t d = 0; d < at.size(); ++d)
        if (!domain[d].contains(at[d])) return false;
    return true;
}

/// The size of a block, by its definition in HPF.
Index block_of(Index extent, const Distribution& distribution, std::uint32_t parts) {
    if (distribution.size != 0) return distribution.size;
    if (distribution.kind == Distribution::Kind::cyclic) return 1;
    return std::max<Index>(1, (extent + parts - 1) / parts);
}

/// Deals out the elements of a dimension one after the other, as one deals out cards: to each part a block in
/// turn.
struct Dealer {
    Dealer(Index extent, Index block, std::uint32_t parts) : hands(parts) {
        std::uint32_t turn = 0;
        for (Index i = 0; i < extent; ++i) {
            hands[turn].push_back(i);
            if ((i + 1) % block == 0) turn = (turn + 1) % parts;
        }
    }
    std::vector<std::vector<Index>> hands;
};

void expect_scalapack(const Dimension& dimension) {
    const Dealt dealt(dimension.extent, dimension.nodes, dimension.node_parts);
    const Index b = block_of(dimension.extent, dimension.nodes, dimension.node_parts);
    const Index p = dimension.node_parts;
    const Dealer dealer(dimension.extent, b, dimension.node_parts);
    for (std::uint32_t part = 0; part < p; ++part) {
        const std::vector<Index>& hand = dealer.hands[part];
        ASSERT_EQ(dealt.count(part), hand.size());  // NUMROC
        ASSERT_EQ(dealt.bounds(part).size(), hand.size());
        for (Index local = 0; local < hand.size(); ++local) {
            const Index i = hand[local];
            ASSERT_EQ(i / b % p, part);
            ASSERT_EQ(i / (b * p) * b + i % b, local);
            ASSERT_EQ(dealt.owner(i), part);          // INDXG2P
            ASSERT_EQ(dealt.local(i), local);         // INDXG2L
            ASSERT_EQ(dealt.global(part, local), i);  // INDXL2G
            ASSERT_TRUE(dealt.bounds(part).contains(i));
        }
    }
}

std::size_t place_of(const std::vector<Index>& extents, const std::vector<Index>& at) {
    std::size_t place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) place = place * extents[d] + at[d];
    return place;
}

void expect_one_owner(const Layout& layout, const std::vector<Index>& extents) {
    constexpr Owner none{~NodeId{0}, 0};
    std::vector<Owner> owners(layout.elements(), none);
    Index elements = 0;
    for (NodeId node = 0; node < layout.nodes(); ++node) {
        const std::vector<Index> here = layout.extents(node);
        const std::vector<Bounds> domain = layout.domain_of_node(node);
        for (std::uint32_t thread = 0; thread < layout.threads(); ++thread) {
            const std::vector<Bounds> mine = layout.domain_of_thread(node, thread);
            for_each_index(here, [&](const std::vector<Index>& local) {
                if (!has(mine, local)) return;
                const std::vector<Index> global = layout.global(node, local);
                Owner& owner = owners[place_of(extents, global)];
                ASSERT_EQ(owner, none);
                owner = {node, thread};
                ASSERT_EQ(layout.local(global), local);
                ASSERT_TRUE(has(domain, global));
                ++elements;
            });
        }
    }
    ASSERT_EQ(elements, layout.elements());
    for_each_index(extents, [&](const std::vector<Index>& global) {
        ASSERT_EQ(layout.owner_thread(global), owners[place_of(extents, global)]);
    });
}

TEST(SpmdLayout, EachElementOfRandomLayoutsHasOneOwner) {
    for (std::uint64_t seed = 0; seed < 100'000; ++seed) {
        Random random(seed);
        const std::vector<Dimension> dimensions = draw_dimensions(random);
        std::vector<Index> extents;
        for (const Dimension& dimension : dimensions) {
            extents.push_back(dimension.extent);
            expect_scalapack(dimension);
        }
        expect_one_owner(Layout(dimensions), extents);
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    }
}

TEST(SpmdLayout, OwnersOfReferencesAreThoseOfTheirElements) {
    std::size_t found = 0;
    for (std::uint64_t seed = 0; seed < 6'000; ++seed) {
        Random random(seed);
        const std::vector<Dimension> dimensions = draw_dimensions(random, seed < 3'000 ? 40 : 400);
        const Layout layout(dimensions);
        std::vector<Bounds> references;
        std::vector<Index> extents;
        for (const Dimension& dimension : dimensions) {
            const Index stride = 1 + random.below(seed < 3'000 ? 4 : 16);
            references.push_back(
                {random.below(4), random.below(dimension.extent + 4), stride, 1 + random.below(stride)});
            extents.push_back(dimension.extent);
        }
        std::set<Owner> owners;
        for_each_index(extents, [&](const std::vector<Index>& global) {
            if (has(references, global)) owners.insert(layout.owner_thread(global));
        });
        ASSERT_EQ(layout.owner_threads(references), std::vector<Owner>(owners.begin(), owners.end()))
            << "seed " << seed;
        found += owners.size();
    }
    EXPECT_GT(found, 1'000U);
}

// Of many elements, which are not looked at one after the other.
TEST(SpmdLayout, OwnersOfReferencesInLargeArraysAreFoundAtOnce) {
    constexpr Index extent = Index{1} << 40;
    const auto block = Distribution::block();
    const auto cyclic = Distribution::cyclic();
    const auto owners = [](const Dimension& dimension, const Bounds& references) {
        return Layout({dimension}).owner_threads(std::vector{references});
    };
    const Bounds all{0, extent, 1, 1};
    EXPECT_EQ(owners({extent, block, 4, block, 8}, all).size(), 32U);
    EXPECT_EQ(owners({extent, cyclic, 4, block, 8}, all).size(), 32U);
    EXPECT_EQ(owners({extent, block, 4, cyclic, 8}, all).size(), 32U);
    EXPECT_EQ(owners({extent, cyclic, 4, cyclic, 8}, all).size(), 32U);
    // Even ones only: those of nodes 0 and 2, and of threads with even numbers.
    EXPECT_EQ(owners({extent, cyclic, 4, block, 8}, {0, extent, 2, 1}).size(), 16U);
    EXPECT_THAT(owners({extent, cyclic, 4, cyclic, 2}, {2, extent, 8, 1}), ElementsAre(Owner{2, 0}));
    EXPECT_EQ(owners({extent, block, 4, cyclic, 8}, {0, extent, 2, 1}).size(), 16U);
    EXPECT_THAT(owners({extent, block, 4, block, 4}, {extent / 16 - 1, extent / 16 + 1, 1, 1}),
                ElementsAre(Owner{0, 0}, Owner{0, 1}));
}

// The paper's ROW-PARTITION (section 3.3): n/(p r) rows for each of the r threads of each of the p nodes.
TEST(SpmdLayout, RowsOfAMatrixInBlocks) {
    const Layout rows({{16, Distribution::block(), 4, Distribution::block(), 2}, {16}});
    EXPECT_EQ(rows.nodes(), 4U);
    EXPECT_EQ(rows.threads(), 2U);
    EXPECT_THAT(rows.extents(3), ElementsAre(4, 16));
    EXPECT_THAT(rows.domain_of_node(3), ElementsAre(Bounds{12, 16, 4, 4}, Bounds{0, 16, 16, 16}));
    EXPECT_THAT(rows.domain_of_thread(3, 1), ElementsAre(Bounds{2, 4, 2, 2}, Bounds{0, 16, 16, 16}));
    EXPECT_EQ(rows.owner_thread(std::vector<Index>{14, 5}), (Owner{3, 1}));
}

TEST(SpmdLayout, CyclicRowsHaveAStride) {
    const Layout rows({{10, Distribution::cyclic(), 1, Distribution::cyclic(), 3}});
    EXPECT_THAT(rows.domain_of_thread(0, 1), ElementsAre(Bounds{1, 8, 3, 1}));
}

TEST(SpmdLayout, NodesAndThreadsBeyondTheGridHaveNoElements) {
    const Layout rows({{9, Distribution::block(), 3}});
    EXPECT_THAT(rows.extents(3), ElementsAre(0));
    EXPECT_THAT(rows.domain_of_node(3), ElementsAre(Bounds{}));
    EXPECT_TRUE(rows.domain_of_thread(3, 0)[0].empty());
    EXPECT_TRUE(rows.domain_of_thread(2, 1)[0].empty());
    const Layout grid(
        {{8, Distribution::cyclic(), 2, Distribution::block(), 2}, {6, Distribution::block(), 2}});
    EXPECT_EQ(grid.domain_of_thread(3, 1)[0].size(), 2U);
    EXPECT_THAT(grid.extents(4), ElementsAre(0, 0));
    for (const Bounds& dimension : grid.domain_of_thread(0, 2)) EXPECT_TRUE(dimension.empty());
    for (const Bounds& dimension : grid.domain_of_thread(4, 0)) EXPECT_TRUE(dimension.empty());
}

std::string refusal_of(const std::function<void()>& code) {
    try {
        code();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(SpmdLayout, WhatCannotBeDealtOutIsAnError) {
    EXPECT_THAT(refusal_of([] {
                    Layout({{10, Distribution::block(2), 4}});
                }),
                HasSubstr("BLOCK(2) has 4 parts, with too little room for 10 elements; BLOCK(3)"));
    EXPECT_THAT(refusal_of([] {
                    Layout({{10, Distribution::none(), 4}});
                }),
                HasSubstr("an undistributed dimension has 4 parts"));
    EXPECT_THAT(refusal_of([] { Layout({{10, Distribution::block(), 0}}); }), HasSubstr("no part"));
    constexpr std::uint32_t many = 1U << 16;
    EXPECT_THAT(refusal_of([] {
                    Layout({{100, Distribution::cyclic(), many}, {100, Distribution::cyclic(), many}});
                }),
                HasSubstr("a layout has more than 4294967295 nodes"));
    EXPECT_THAT(refusal_of([] {
                    const Dimension line{.extent = 1, .threads = Distribution::block(), .thread_parts = many};
                    Layout({line, line});
                }),
                HasSubstr("more than 4294967295 threads"));
    EXPECT_THAT(refusal_of([] {
                    Layout(std::vector<Dimension>{{.extent = 10}}).owner_node(std::vector<Index>{1, 2});
                }),
                HasSubstr("2 indices for an array of 1 dimensions"));
}

TEST(SpmdLayout, ABlockMayBeLargerThanItsDimension) {
    constexpr Index huge = ~Index{0};
    for (const Distribution& distribution : {Distribution::block(huge), Distribution::cyclic(huge / 2 + 1)}) {
        const Dealt dealt(10, distribution, 2);
        EXPECT_EQ(dealt.count(0), 10U);
        EXPECT_EQ(dealt.count(1), 0U);
        EXPECT_EQ(dealt.owner(9), 0U);
        EXPECT_EQ(dealt.global(0, dealt.local(7)), 7U);
    }
}

}  // namespace
}  // namespace heddle::spmd
