// Tests the LU factorization of a sparse matrix of blocks. Which blocks it has before and after is compared
// with the BOTS suite and with elimination step by step. Interleavings and placements do not change it.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/faulty_machine.hpp"
#include "tests/placement_testing.hpp"
#include "workloads/dataflow_tiles.hpp"

namespace heddle {
namespace {

using workloads::tiles::filled_in;
using workloads::tiles::Matrix;
using workloads::tiles::Pattern;
using Kind = workloads::Verdict::Kind;

Matrix sparse(std::uint32_t tiles) {
    return {tiles, 4, 1, false, true};
}

std::vector<std::string> drawn(const Pattern& pattern) {
    std::vector<std::string> rows(pattern.tiles());
    for (std::uint32_t i = 0; i < pattern.tiles(); ++i)
        for (std::uint32_t j = 0; j < pattern.tiles(); ++j) rows[i] += pattern.has(i, j) ? 'x' : '.';
    return rows;
}

// Printed by the serial sparselu of BOTS (bsc-pm/bots, 2607a69) for 13 x 13 blocks, before and after the
// factorization.
TEST(SparseLu, BlocksAreThoseOfBots) {
    const std::vector<std::string> before{"xxx.x.x.x.x.x", "xxx..........", "xxxx.........", "..xxx........",
                                          "x..xxx.......", "....xxx......", "x....xxxx.x.x", "......xxx....",
                                          "x.....xxxx...", "........xxx..", "x.....x..xxx.", "..........xxx",
                                          "x.....x....xx"};
    const std::vector<std::string> after{"xxx.x.x.x.x.x", "xxx.x.x.x.x.x", "xxxxx.x.x.x.x", "..xxx.x.x.x.x",
                                         "xxxxxxx.x.x.x", "....xxx.x.x.x", "xxxxxxxxx.x.x", "......xxx.x.x",
                                         "xxxxxxxxxxx.x", "........xxx.x", "xxxxxxxxxxxxx", "..........xxx",
                                         "xxxxxxxxxxxxx"};
    EXPECT_EQ(drawn(Pattern(sparse(13))), before);
    EXPECT_EQ(drawn(filled_in(Pattern(sparse(13)))), after);
}

// Blocks before and after by the same program, and calls of its four functions together.
TEST(SparseLu, HasTheBlocksAndTasksOfBots) {
    const std::vector<std::array<std::uint64_t, 4>> known{
        {8, 28, 40, 84}, {12, 48, 84, 230}, {50, 364, 1300, 11'725}, {100, 1148, 5100, 88'450}};
    for (const auto& [tiles, before, after, tasks] : known) {
        const Matrix matrix = sparse(static_cast<std::uint32_t>(tiles));
        EXPECT_EQ(matrix.stored_tiles(), before) << tiles;
        const Pattern factor = filled_in(Pattern(matrix));
        EXPECT_EQ(factor.count(), after) << tiles;
        EXPECT_EQ(workloads::lu_closures(factor), tasks) << tiles;
    }
}

TEST(SparseLu, PathsFindWhatEliminationFillsIn) {
    Random random(3);
    for (int trial = 0; trial < 300; ++trial) {
        const auto n = static_cast<std::uint32_t>(1 + random.below(20));
        Pattern pattern(n);
        for (std::uint32_t i = 0; i < n; ++i) pattern.add(i, i);
        const std::uint64_t more = random.below(3 * n);
        for (std::uint64_t i = 0; i < more; ++i)
            pattern.add(static_cast<std::uint32_t>(random.below(n)),
                        static_cast<std::uint32_t>(random.below(n)));
        Pattern eliminated = pattern;
        for (std::uint32_t k = 0; k < n; ++k)
            for (std::uint32_t i = k + 1; i < n; ++i)
                for (std::uint32_t j = k + 1; j < n; ++j)
                    if (eliminated.has(i, k) && eliminated.has(k, j)) eliminated.add(i, j);
        ASSERT_EQ(drawn(filled_in(pattern)), drawn(eliminated)) << trial;
    }
}

TEST(SparseLu, AbsentTilesAreZero) {
    const Matrix matrix = sparse(7);
    const Matrix dense{7, 4, 1};
    for (std::uint32_t i = 0; i < 7; ++i) {
        for (std::uint32_t j = 0; j < 7; ++j) {
            std::vector<double> tile(16, 5.0);
            matrix.make(i, j, tile);
            for (std::size_t k = 0; k < 16; ++k) {
                const std::size_t row = std::size_t{i} * 4 + k % 4, column = std::size_t{j} * 4 + k / 4;
                ASSERT_EQ(tile[k], matrix.at(row, column));
                ASSERT_EQ(tile[k], matrix.stores(i, j) ? dense.at(row, column) : 0);
            }
        }
    }
}

struct Ended {
    std::unique_ptr<workloads::Workload> workload;
    runtime::RunResult result;
};

Ended factorize(const inprocess::Options& options, const runtime::Schedule& schedule, const char* tiles) {
    Ended ended;
    ended.workload = testing_placement::Stated{"sparse_lu", {{"tiles", tiles}, {"tile_size", "4"}}}.make();
    inprocess::InprocessBackend backend(options);
    ended.workload->prepare({{options.nodes, options.cores}, 1e9, 1e-9, 1e-12, {}}, schedule);
    const auto make = [&](NodeId id) { return ended.workload->program(id); };
    ended.result = runtime::Execution(backend, schedule, make).run();
    return ended;
}

TEST(SparseLu, IsTheSameAtManyInterleavingsAndPlacements) {
    const Ended expected = factorize({}, {}, "13");
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        testing_faults::FaultyMachine machine = testing_faults::draw_machine(seed);
        if (seed % 2 == 0) machine.schedule.placement = seed % 4 == 0 ? "random" : "heft";
        if (seed % 8 == 0) machine.schedule.stealing.victim = "none";
        const Ended ended = factorize(machine.options, machine.schedule, "13");
        const workloads::Verdict verdict = ended.workload->check(ended.result);
        ASSERT_EQ(verdict.kind, Kind::right) << "seed " << seed << ": " << verdict.reason;
        ASSERT_EQ(ended.result.evidence.front(), expected.result.evidence.front()) << "seed " << seed;
    }
}

TEST(SparseLu, AWrongFactorIsNoticed) {
    Ended ended = factorize({}, {}, "9");
    const auto verdict = [&] { return ended.workload->check(ended.result).kind; };
    runtime::Bytes& shown = ended.result.evidence.front();
    const runtime::Bytes right = shown;
    ASSERT_EQ(verdict(), Kind::right);
    constexpr std::size_t tile_bytes = 8 + 16 * sizeof(double);
    shown[tile_bytes - 1] ^= std::byte{1};  // the exponent of a number
    EXPECT_EQ(verdict(), Kind::wrong);
    shown = right;
    shown[0] = std::byte{3};  // a tile that the factor does not have
    EXPECT_EQ(verdict(), Kind::wrong);
    shown = right;
    shown.resize(right.size() - tile_bytes);
    EXPECT_EQ(verdict(), Kind::wrong);
    shown = right;
    std::copy_n(right.begin() + tile_bytes, tile_bytes,
                shown.begin());  // a tile twice, another one not at all
    EXPECT_EQ(verdict(), Kind::wrong);
}

}  // namespace
}  // namespace heddle
