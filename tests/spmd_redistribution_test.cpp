// Tests redistributions, shifts, transposes and all-to-some against an enumeration of all elements. Each
// element arrives at its owner, as with ScaLAPACK's pdgemr2d. They run natively, in simulation, and
// in-process with late and reordered messages.
#include "model/spmd/redistribution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "base/error.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "tests/spmd_layouts.hpp"
#include "tests/spmd_programs.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;
using testing::HasSubstr;
using testing_strands::error_of;
using testing_strands::World;
using testing_strands::worlds;

// --- strips

TEST(SpmdStrips, EqualAnEnumerationOfTheElements) {
    for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
        Random random(seed);
        const Index extent = 1 + random.below(200);
        const auto draw = [&](std::uint32_t parts) {
            return Dealt(extent, draw_way(random, extent, parts), parts);
        };
        const Dealt from = draw(static_cast<std::uint32_t>(1 + random.below(5)));
        const Dealt to = draw(static_cast<std::uint32_t>(1 + random.below(5)));
        const Index length = random.below(extent + 1);
        const Stretch stretch{random.below(extent - length + 1), random.below(extent - length + 1), length};
        const auto p = static_cast<std::uint32_t>(random.below(from.parts()));
        const auto q = static_cast<std::uint32_t>(random.below(to.parts()));
        std::vector<std::pair<Index, Index>> expected, found;
        for (Index i = 0; i < length; ++i)
            if (from.owner(stretch.from + i) == p && to.owner(stretch.to + i) == q)
                expected.emplace_back(from.local(stretch.from + i), to.local(stretch.to + i));
        const std::vector<Strip> strips = common(from, p, to, q, stretch);
        for (const Strip& s : strips) {
            ASSERT_GT(s.size(), 0U);
            for (Index r = 0; r < s.repeats; ++r)
                for (Index c = 0; c < s.count; ++c)
                    for (Index i = 0; i < s.length; ++i)
                        found.emplace_back(s.from + r * s.from_stride + c * s.from_step + i,
                                           s.to + r * s.to_stride + c * s.to_step + i);
        }
        ASSERT_EQ(size_of(strips), expected.size()) << "seed " << seed;
        std::ranges::sort(expected);
        std::ranges::sort(found);
        ASSERT_EQ(found, expected) << "seed " << seed;
    }
}

// 10^12 elements: an enumeration would not end.
TEST(SpmdStrips, TakeNoTimeForEachElement) {
    constexpr Index n = 1'000'000'000'000;
    const Dealt from(n, Distribution::cyclic(64), 4), to(n, Distribution::cyclic(48), 3);
    Index sum = 0;
    std::size_t strips = 0;
    for (std::uint32_t p = 0; p < 4; ++p) {
        for (std::uint32_t q = 0; q < 3; ++q) {
            const std::vector<Strip> these = common(from, p, to, q, {0, 0, n});
            sum += size_of(these);
            strips += these.size();
        }
    }
    EXPECT_EQ(sum, n);
    EXPECT_LT(strips, 400U);
    const Dealt block(n, Distribution::block(), 8), cyclic(n, Distribution::cyclic(), 7);
    EXPECT_LE(common(block, 3, cyclic, 5, {0, 0, n}).size(), 1U);
}

// --- calls

/// A redistribution, and what it must do with an element: drawn at random.
struct Drawn {
    Drawn(Random& random, RankId ranks)
        : extents(1 + random.below(3)), axes(extents.size()), by(extents.size(), 0) {
        for (Index& extent : extents) extent = 1 + random.below(extents.size() == 1 ? 300 : 24);
        std::iota(axes.begin(), axes.end(), std::size_t{0});
        if (random.below(2) == 0)
            std::ranges::rotate(axes, axes.begin() + static_cast<long>(random.below(axes.size())));
        if (axes.size() > 1 && random.below(3) == 0) std::swap(axes[0], axes[1]);
        shifts = random.below(3) == 0;
        ends = random.below(2) == 0 ? Ends::circular : Ends::end_off;
        if (shifts) {
            std::iota(axes.begin(), axes.end(), std::size_t{0});
            for (std::size_t d = 0; d < by.size(); ++d)
                by[d] = static_cast<std::int64_t>(random.below(2 * extents[d] + 5)) -
                        static_cast<std::int64_t>(extents[d]) - 2;
        }
        for (const std::size_t axis : axes) target_extents.push_back(extents[axis]);
        from.emplace(draw_layout(random, extents, ranks));
        to.emplace(shifts ? *from : draw_layout(random, target_extents, ranks));
    }
    Redistribution call() const {
        if (shifts) return Redistribution::shifted(*from, by, ends);
        return Redistribution::permuted(*from, *to, axes);
    }
    /// The source of an element of the target, by the definition.
    std::optional<std::vector<Index>> source(const std::vector<Index>& target) const {
        std::vector<Index> all(target.size());
        for (std::size_t d = 0; d < target.size(); ++d) {
            const auto n = static_cast<std::int64_t>(target_extents[d]);
            std::int64_t i = static_cast<std::int64_t>(target[d]) - by[d];
            if (shifts && ends == Ends::circular) i = ((i % n) + n) % n;
            if (i < 0 || i >= n) return {};
            all[axes[d]] = static_cast<Index>(i);
        }
        return all;
    }

    std::vector<Index> extents, target_extents;
    std::vector<std::size_t> axes;
    std::vector<std::int64_t> by;
    bool shifts;
    Ends ends;
    std::optional<Layout> from, to;
};

constexpr std::uint64_t untouched = ~std::uint64_t{0};

/// Each rank's array.
template <class T, class Value>
std::vector<T> filled(const Layout& layout, RankId rank, const Value& value) {
    std::vector<T> all;
    if (rank < layout.nodes())
        for_each_index(layout.extents(rank),
                       [&](const std::vector<Index>& at) { all.push_back(value(layout.global(rank, at))); });
    return all;
}

/// `T`: elements of several sizes.
template <class T>
class RandomRedistributions final : public SpmdProgram {
public:
    RandomRedistributions(SpmdOptions options, std::uint64_t seed, int calls)
        : SpmdProgram(std::move(options)), seed_(seed), calls_(calls) {}

    void main(Spmd& self) override {
        const bool alone = self.ranks() != self.nodes();
        Arrays own;
        Arrays& arrays = alone ? own : shared_;
        const bool first = alone || self.thread_rank() == 0;
        for (int i = 0; i < calls_; ++i) {
            Random random(seed_ * 1000 + static_cast<std::uint64_t>(i));
            const Drawn drawn(random, self.ranks());
            const auto value = [&](const std::vector<Index>& global) {
                return T{1 + row_major(drawn.extents, global)};
            };
            if (first) {
                arrays.in = filled<T>(*drawn.from, self.rank(), value);
                arrays.out = filled<T>(*drawn.to, self.rank(), [](const auto&) { return T{untouched}; });
            }
            if (!alone) self.barrier();
            redistribute(self, drawn.call(), arrays.in, arrays.out);
            if (!first) continue;
            const auto expected = filled<T>(*drawn.to, self.rank(), [&](const std::vector<Index>& global) {
                const auto source = drawn.source(global);
                return source ? value(*source) : T{untouched};
            });
            EXPECT_TRUE(arrays.out == expected)
                << "call " << i << " of seed " << seed_ << ", rank " << self.rank() << " of " << self.ranks();
        }
    }
    runtime::Answer answer() const override { return {}; }

private:
    struct Arrays {
        std::vector<T> in, out;
    };
    std::uint64_t seed_;
    int calls_;
    Arrays shared_;
};

/// 24 bytes, which no loop is made for.
struct Wide {
    Wide() = default;
    explicit Wide(std::uint64_t value) : a(value), b(~value), c(value * 3) {}
    std::uint64_t a = 0, b = 0, c = 0;
    bool operator==(const Wide&) const = default;
};

std::unique_ptr<runtime::Program> random_program(const SpmdOptions& options, std::uint64_t seed, int calls) {
    if (seed % 3 == 0) return std::make_unique<RandomRedistributions<Wide>>(options, seed, calls);
    return std::make_unique<RandomRedistributions<std::uint64_t>>(options, seed, calls);
}

TEST(SpmdRedistributionRandom, EachElementLandsAtItsOwner) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Random random(seed);
        inprocess::Options machine;
        machine.nodes = static_cast<NodeId>(1 + random.below(9));
        machine.cores = static_cast<CoreId>(1 + random.below(4));
        machine.seed = seed;
        if (random.below(3) != 0) machine.faults = {.delay_max = 300, .reorders = true, .wakes_percent = 20};
        SpmdOptions options;
        if (random.below(4) == 0) options.ranks = flat;
        options.crew.copiers = static_cast<std::uint32_t>(1 + random.below(4));
        options.crew.overlap = random.below(2) == 0;
        options.crew.communicators = static_cast<std::uint32_t>(1 + random.below(3));
        inprocess::InprocessBackend backend(machine);
        runtime::Execution(backend, {}, [&](NodeId) { return random_program(options, seed, 6); }).run();
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    }
}

class SpmdRedistributionWorlds : public testing::TestWithParam<World> {
protected:
    static NodeId nodes(NodeId wanted) { return GetParam().one_node ? 1 : wanted; }
    static void run(NodeId wanted, CoreId cores, const MainFunction::Body& body, SpmdOptions options = {}) {
        GetParam().run(nodes(wanted), cores,
                       [&](NodeId) { return std::make_unique<MainFunction>(options, body); });
    }
    static std::string error(const MainFunction::Body& body, NodeId wanted = 1) {
        return error_of([&] { run(wanted, 1, body); });
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, SpmdRedistributionWorlds, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(SpmdRedistributionWorlds, EachElementLandsAtItsOwner) {
    const auto random = [&](NodeId wanted, CoreId cores, const SpmdOptions& options, std::uint64_t seed) {
        GetParam().run(nodes(wanted), cores, [&](NodeId) { return random_program(options, seed, 25); });
    };
    random(4, 2, {}, 1);
    random(3, 2, {.crew = {.overlap = true}}, 2);
    random(3, 3, {.crew = {.communicators = 2}}, 3);
    random(2, 3, {.ranks = flat}, 4);
}

/// A value for each element of a matrix.
double entry(Index row, Index column) {
    return static_cast<double>(row * 1000 + column);
}

// Messages of more than 16 KiB, which all threads pack and copy in tiles.
TEST_P(SpmdRedistributionWorlds, ALargeMatrixIsTransposed) {
    std::vector<std::vector<double>> in(3), out(3);
    run(3, 2, [&](Spmd& self) {
        const Layout rows({{230, Distribution::block(), self.nodes()}, {310}});
        const Layout back({{310, Distribution::cyclic(7), self.nodes()}, {230}});
        const NodeId node = self.node();
        const auto value = [](const std::vector<Index>& at) { return entry(at[0], at[1]); };
        if (self.thread_rank() == 0) {
            in[node] = filled<double>(rows, node, value);
            out[node].resize(back.extents(node)[0] * 230);
        }
        self.barrier();
        redistribute(self, Redistribution::transposed(rows, back), in[node], out[node]);
        if (self.thread_rank() == 0) {
            const auto mirrored = [](const std::vector<Index>& at) { return entry(at[1], at[0]); };
            EXPECT_EQ(out[node], filled<double>(back, node, mirrored));
        }
    });
}

TEST_P(SpmdRedistributionWorlds, BlocksOfDifferentSizesAreExchanged) {
    run(4, 1, [&](Spmd& self) {
        const RankId ranks = self.ranks(), me = self.rank();
        const auto size = [](RankId from, RankId to) { return Index{(from * 7 + to * 5) % 4}; };
        std::vector<Index> give, take;
        std::vector<int> in, expected, all;
        for (RankId rank = 0; rank < ranks; ++rank) {
            give.push_back(size(me, rank));
            take.push_back(size(rank, me));
            in.insert(in.end(), give.back(), static_cast<int>(me * 100 + rank));
            expected.insert(expected.end(), take.back(), static_cast<int>(rank * 100 + me));
        }
        std::vector<int> out(expected.size());
        all_to_some(self, in, give, out, take);
        EXPECT_EQ(out, expected);

        std::vector<Index> counts;
        for (RankId rank = 0; rank < ranks; ++rank) {
            counts.push_back(rank * 2 % 5);
            all.insert(all.end(), counts.back(), static_cast<int>(rank));
        }
        const std::vector<int> mine(counts[me], static_cast<int>(me));
        std::vector<int> gathered(all.size());
        all_gather_some(self, mine, gathered, counts);
        EXPECT_EQ(gathered, all);

        const std::vector<int> blocks(ranks, static_cast<int>(me));
        std::vector<int> scattered(ranks);
        all_scatter(self, blocks, scattered);
        for (RankId rank = 0; rank < ranks; ++rank) EXPECT_EQ(scattered[rank], static_cast<int>(rank));
    });
}

TEST_P(SpmdRedistributionWorlds, CallsThatCannotBeAreRefused) {
    const Layout ten({{10, Distribution::block(), 1}});
    const Layout over_two({{10, Distribution::block(), 2}});
    std::vector<int> in(10), out(10);
    EXPECT_THAT(error([&](Spmd& self) {
                    redistribute(self, {ten, over_two}, in, out);
                }),
                HasSubstr("redistribute with layouts over 2 ranks, and there are 1"));
    EXPECT_THAT(error([&](Spmd& self) {
                    redistribute(self, {ten, ten}, std::span(in).first(9), out);
                }),
                HasSubstr("redistribute with an input of 9 elements at rank 0, whose layout gives it 10"));
    EXPECT_THAT(error([&](Spmd& self) {
                    redistribute(self, {ten, ten}, in, in);
                }),
                HasSubstr("redistribute with an input and an output that overlap"));
    EXPECT_THAT(error([&](Spmd& self) { all_to_some(self, in, {9}, out, {10}); }),
                HasSubstr("all_to_some at rank 0 with an array of 10 elements, whose counts are 9 together"));
    EXPECT_THAT(error([&](Spmd& self) { all_to_some(self, in, {10}, std::span(out).first(2), {2}); }),
                HasSubstr("all_to_some: rank 0 gives itself 10 elements, and takes 2"));
    EXPECT_THAT(
        error([&](Spmd& self) { all_to_some(self.start(), in, {10}, std::span(out).first(2), {2}).wait(); }),
        HasSubstr("all_to_some: rank 0 gives itself 10 elements, and takes 2"));
    EXPECT_THAT(error([&](Spmd& self) {
                    all_gather_some(self, in, out, {5, 5});
                }),
                HasSubstr("all_gather_some with 2 counts, and there are 1 ranks"));
    EXPECT_THAT(error([&](Spmd& self) {
                    redistribute(self, Redistribution::shifted(ten, {1, 2}, Ends::circular), in, out);
                }),
                HasSubstr("a shift by 2 distances of an array of 1 dimensions"));
}

TEST(SpmdRedistribution, LayoutsThatDoNotFitAreRefused) {
    const auto layout = [](std::vector<Dimension> dimensions) { return Layout(std::move(dimensions)); };
    const Layout ten = layout({{.extent = 10}}), eleven = layout({{.extent = 11}}),
                 none = layout({{.extent = 0}});
    const Layout matrix = layout({{.extent = 10}, {.extent = 3}});
    EXPECT_THAT(error_of([&] { Redistribution(ten, eleven); }),
                HasSubstr("from an array of 10 to one of 11 elements"));
    EXPECT_THAT(error_of([&] { Redistribution(none, none); }),
                HasSubstr("redistribute of a layout of no elements"));
    EXPECT_THAT(error_of([&] { Redistribution(ten, matrix); }), HasSubstr("from 1 to 2 dimensions"));
    EXPECT_THAT(error_of([&] { Redistribution::transposed(ten, ten); }), HasSubstr("by the axes 1, 0"));
    EXPECT_THAT(error_of([&] {
                    Redistribution::permuted(matrix, matrix, {0, 0});
                }),
                HasSubstr("by the axes 0, 0"));
    EXPECT_THAT(error_of([&] { Redistribution::transposed(matrix, matrix); }),
                HasSubstr("transpose from an array of 10 x 3 to one of 10 x 3"));
}

TEST_P(SpmdRedistributionWorlds, RanksWithOtherLayoutsAreNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error(
        [](Spmd& self) {
            const Layout blocks({{12, Distribution::block(), self.nodes()}});
            const Layout cyclic({{12, Distribution::cyclic(self.node() == 1 ? 2 : 1), self.nodes()}});
            const std::vector<int> in(4);
            std::vector<int> out(4);
            redistribute(self, {blocks, cyclic}, in, out);
        },
        3);
    EXPECT_THAT(text, HasSubstr("disagree in a collective call"));
    EXPECT_THAT(text, HasSubstr("redistribute of 12 elements of 4 bytes with layouts number"));
}

TEST_P(SpmdRedistributionWorlds, RanksThatGiveMoreThanIsTakenAreNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error(
        [](Spmd& self) {
            const std::vector<int> in(6);
            std::vector<int> out(self.node() == 0 ? 5 : 6);
            std::vector<Index> take(3, 2);
            if (self.node() == 0) take[2] = 1;
            all_to_some(self, in, {2, 2, 2}, out, take);
        },
        3);
    EXPECT_THAT(text, HasSubstr("all_to_some: rank 2 sends rank 0 2 elements, which expects 1"));
}

// No message carries a rank's own block, so no receiver compares it. The sums of the counts are right.
TEST_P(SpmdRedistributionWorlds, ARankThatGivesItselfMoreThanItTakesIsNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error(
        [](Spmd& self) {
            const std::vector<int> in(6);
            std::vector<int> out(6);
            std::vector<Index> give(3, 2);
            if (self.node() == 1) give = {2, 3, 1};
            all_to_some(self, in, give, out, {2, 2, 2});
        },
        3);
    EXPECT_THAT(text, HasSubstr("all_to_some: rank 1 gives itself 3 elements, and takes 2"));
}

TEST_P(SpmdRedistributionWorlds, ABlockOfAnotherSizeThanItsCountIsNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error(
        [](Spmd& self) {
            const std::vector<int> in(self.node() == 1 ? 3 : 2);
            std::vector<int> out(6);
            all_gather_some(self, in, out, {2, 2, 2});
        },
        3);
    EXPECT_THAT(text, HasSubstr("all_gather_some at rank 1 with an input of 3 elements, whose count is 2"));
}

// The paper, section 4: 3 messages a process against 7, with 2 threads on each of 4 nodes.
TEST(SpmdRedistribution, AnExchangeOfAllHasAMessageForEachPairOfRanks) {
    struct Counted final : Steps {
        std::uint64_t messages = 0;
        Index elements = 0;
        void reserve(Index) override {}
        void take(const Step& step) override {
            if (step.kind != Step::Kind::send) return;
            ++messages;
            elements += step.from.count;
        }
    };
    for (const RankId p : {2U, 3U, 4U, 7U, 16U, 64U}) {
        for (const RankId threads : {1U, 2U, 4U}) {
            const RankId ranks = p * threads;
            const Index n = 2 * ranks;
            const Layout rows({{n, Distribution::block(), ranks}, {n}});
            const Redistribution transpose = Redistribution::transposed(rows, rows);
            Counted all;
            for (RankId rank = 0; rank < ranks; ++rank) transpose.steps({.rank = rank, .ranks = ranks}, all);
            EXPECT_EQ(all.messages, std::uint64_t{ranks} * (ranks - 1));
            EXPECT_EQ(all.elements, n * n / ranks * (ranks - 1));
        }
    }
}

}  // namespace
}  // namespace heddle::spmd
