// Tests the tile factorizations under every placement and many interleavings. Their numbers equal LAPACK's on
// the whole matrix, and they send the promised bytes. A wrong factor is noticed.
#include "tests/tile_testing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "partitioners/place_graph.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/stealing/policy.hpp"
#include "tests/cli_testing.hpp"
#include "workloads/blas.hpp"

namespace heddle {
namespace {

using namespace testing_tiles;
using Kind = workloads::Verdict::Kind;

Done run_inprocess(workloads::Workload& workload, NodeId nodes, CoreId cores,
                   const runtime::Schedule& schedule) {
    inprocess::InprocessBackend backend({nodes, cores, schedule.seed});
    return run(workload, backend, schedule);
}

std::vector<double> whole(const workloads::tiles::Matrix& matrix) {
    std::vector<double> numbers;
    for (std::size_t column = 0; column < matrix.rows(); ++column)
        for (std::size_t row = 0; row < matrix.rows(); ++row) numbers.push_back(matrix.at(row, column));
    return numbers;
}

// --- the matrix

TEST(TileMatrix, IsDominantAndTilesAreItsParts) {
    for (const bool symmetric : {false, true}) {
        const workloads::tiles::Matrix matrix{3, 5, 7, symmetric};
        for (std::uint32_t i = 0; i < 3; ++i) {
            for (std::uint32_t j = 0; j < 3; ++j) {
                std::vector<double> tile(25);
                matrix.make(i, j, tile);
                for (std::size_t k = 0; k < 25; ++k)
                    ASSERT_EQ(tile[k], matrix.at(std::size_t{i} * 5 + k % 5, std::size_t{j} * 5 + k / 5));
            }
        }
        double least = 1, most = 0;
        for (std::size_t row = 0; row < 15; ++row) {
            for (std::size_t column = 0; column < 15; ++column) {
                const double number = matrix.at(row, column) - (row == column ? 15 : 0);
                least = std::min(least, number);
                most = std::max(most, number);
                EXPECT_EQ(matrix.at(row, column) == matrix.at(column, row), symmetric || row == column);
            }
        }
        EXPECT_GE(least, 0);
        EXPECT_LT(most, 1);
        EXPECT_LT(least, 0.1);
        EXPECT_GT(most, 0.9);
        EXPECT_NE(matrix.at(1, 0), (workloads::tiles::Matrix{3, 5, 8, symmetric}.at(1, 0)));
    }
}

TEST(TileMatrix, DoesNotDependOnTheSizeOfItsTiles) {
    EXPECT_EQ(whole({3, 4, 1, true}), whole({2, 6, 1, true}));
    EXPECT_EQ(whole({3, 4, 1, false}), whole({6, 2, 1, false}));
}

// --- the numbers

// Independent: LAPACK's dpotrf and dgetrf on the whole matrix at once.
TEST(Tiles, FactorsAreThoseOfLapackOnTheWholeMatrix) {
    for (const std::string name : {"cholesky", "lu"}) {
        const bool symmetric = name == "cholesky";
        std::vector<double> expected = whole({3, 17, 5, symmetric});
        blasint rows = 51, info = -1;
        std::vector<blasint> pivots(51);
        char lower = 'L';
        if (symmetric) {
            workloads::blas().dpotrf(&lower, &rows, expected.data(), &rows, &info);
            for (std::size_t c = 0; c < 51; ++c)
                for (std::size_t r = 0; r < c; ++r) expected[c * 51 + r] = 0;
        } else {
            workloads::blas().dgetrf(&rows, &rows, expected.data(), &rows, pivots.data(), &info);
            for (blasint row = 0; row < 51; ++row) ASSERT_EQ(pivots[static_cast<std::size_t>(row)], row + 1);
        }
        ASSERT_EQ(info, 0);

        const auto workload = make(name, {{"tiles", "3"}, {"tile_size", "17"}, {"matrix_seed", "5"}});
        const Done done = run_inprocess(*workload, 2, 2, schedule("heft", "none"));
        EXPECT_EQ(done.verdict.kind, Kind::right) << done.verdict.reason;
        const std::vector<double> found = factor(done.result, 3, 17);
        for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-12) << name;
    }
}

// The numbers of tasks: n + n (n - 1) + n (n - 1) (n - 2) / 6, and n (n + 1) (2 n + 1) / 6, for n = 5.
TEST(Tiles, EveryPlacementGivesOneFactorAndMovesWhatItPromised) {
    for (const std::string name : {"cholesky", "lu"}) {
        const auto workload = [&] { return make(name, {{"tiles", "5"}, {"tile_size", "6"}}); };
        const std::vector<double> alone =
            factor(run_inprocess(*workload(), 1, 1, schedule("serial", "none")).result, 5, 6);
        for (const std::string& placement : partitioners::placement_names()) {
            const auto placed = workload();
            const Done done = run_inprocess(*placed, 3, 2, schedule(placement, "none"));
            EXPECT_EQ(done.verdict.kind, Kind::right) << placement << ": " << done.verdict.reason;
            EXPECT_EQ(done.result.total.tasks, name == "lu" ? 55 : 35);
            EXPECT_EQ(done.result.answer.at(0).value, name == "lu" ? 55 : 35);
            EXPECT_EQ(done.result.answer.at(1).value, name == "lu" ? 25 : 15);
            EXPECT_EQ(done.result.total.data_bytes, done.promised_bytes) << placement;
            const bool together = placement == "none" || placement == "serial";
            EXPECT_EQ(done.promised_bytes == 0, together) << placement;
            // Bit by bit: on any worker, the kernels on a tile run in one order.
            EXPECT_EQ(factor(done.result, 5, 6), alone) << placement;
        }
    }
}

class TilesStolen : public testing::TestWithParam<std::string> {};

TEST_P(TilesStolen, GiveOneFactorInEveryInterleaving) {
    std::uint64_t within = 0, between = 0;
    for (const std::string name : {"cholesky", "lu"}) {
        const auto workload = [&] { return make(name, {{"tiles", "4"}, {"tile_size", "3"}}); };
        const std::vector<double> alone =
            factor(run_inprocess(*workload(), 1, 1, schedule("serial", "none")).result, 4, 3);
        for (std::uint64_t seed = 1; seed <= 100; ++seed) {
            // Uneven on purpose where all begins on one worker: then there is something to steal.
            const std::string placement = seed % 2 ? "none" : "heft";
            const auto placed = workload();
            const Done done =
                run_inprocess(*placed, seed % 3 ? 3 : 1, 2, schedule(placement, GetParam(), seed));
            ASSERT_EQ(done.verdict.kind, Kind::right) << done.verdict.reason << ", seed " << seed;
            ASSERT_EQ(factor(done.result, 4, 3), alone) << "seed " << seed;
            within += done.result.total.steals_within_node;
            between += done.result.total.steals_between_nodes;
        }
    }
    EXPECT_GT(within, 0);
    EXPECT_GT(between, 0);
}

std::vector<std::string> thieves() {
    std::vector<std::string> names = runtime::victim_policies();
    std::erase(names, "none");
    return names;
}
INSTANTIATE_TEST_SUITE_P(All, TilesStolen, testing::ValuesIn(thieves()),
                         [](const auto& parameter) { return parameter.param; });

// --- the check

class TileCheck : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        workload_ = make(GetParam(), {{"tiles", "3"}, {"tile_size", "4"}});
        done_ = run_inprocess(*workload_, 2, 1, schedule("cyclic", "none"));
        ASSERT_EQ(done_.verdict.kind, Kind::right);
        ASSERT_FALSE(done_.result.evidence.at(1).empty());
    }
    Kind verdict() const { return workload_->check(done_.result).kind; }

    /// Tile `tile` of those that node 1 shows, after its number.
    std::byte* shown(std::size_t tile) { return done_.result.evidence[1].data() + tile * record + 4; }
    std::size_t tiles_shown() const { return done_.result.evidence[1].size() / record; }

    static constexpr std::size_t record = 4 + 16 * sizeof(double);
    std::unique_ptr<workloads::Workload> workload_;
    Done done_;
};

TEST_P(TileCheck, NoticesEveryCorruptTile) {
    for (std::size_t tile = 0; tile < tiles_shown(); ++tile) {
        // The first number of a tile is on or below the diagonal of the matrix, or in U.
        double number = 0;
        std::memcpy(&number, shown(tile), sizeof number);
        for (const double wrong : {number + 1e-6, number * 2 + 1, std::numeric_limits<double>::quiet_NaN()}) {
            std::memcpy(shown(tile), &wrong, sizeof wrong);
            EXPECT_EQ(verdict(), Kind::wrong);
        }
        std::memcpy(shown(tile), &number, sizeof number);
        EXPECT_EQ(verdict(), Kind::right);
    }
}

TEST_P(TileCheck, NoticesTilesThatAreMissingTooManyOrCutShort) {
    const runtime::Bytes all = done_.result.evidence[1];
    const auto shows = [&](runtime::Bytes bytes) {
        done_.result.evidence[1] = std::move(bytes);
        return verdict();
    };
    EXPECT_EQ(shows({all.begin() + record, all.end()}), Kind::wrong);
    EXPECT_EQ(shows({all.begin(), all.end() - 8}), Kind::wrong);
    runtime::Bytes twice = all;
    twice.insert(twice.end(), all.begin(), all.begin() + record);
    EXPECT_EQ(shows(twice), Kind::wrong);
    runtime::Bytes nowhere = all;
    const DatumIndex tile = 9;
    std::memcpy(nowhere.data(), &tile, sizeof tile);
    EXPECT_EQ(shows(nowhere), Kind::wrong);
    EXPECT_EQ(shows(all), Kind::right);
}

TEST_P(TileCheck, NoticesATaskTooFew) {
    done_.result.answer[0].value -= 1;
    EXPECT_EQ(verdict(), Kind::wrong);
}

INSTANTIATE_TEST_SUITE_P(All, TileCheck, testing::Values("cholesky", "lu"),
                         [](const auto& parameter) { return parameter.param; });

// --- declared kernels, refusals

TEST(Tiles, DeclaredKernelsMoveTheSameBytesAndComputeNothing) {
    for (const std::string name : {"cholesky", "lu"}) {
        // A tile of 20 TB, more than any machine has.
        const auto workload = make(name, {{"tiles", "4"}, {"tile_size", "1000000"}, {"kernels", "declare"}});
        const Done done = run_inprocess(*workload, 3, 1, schedule("cyclic", "none"));
        EXPECT_EQ(done.verdict.kind, Kind::unchecked);
        EXPECT_EQ(done.result.total.data_bytes, done.promised_bytes);
        EXPECT_EQ(done.promised_bytes % 8'000'000'000'000, 0);
        EXPECT_GT(done.promised_bytes, 0);
        EXPECT_EQ(done.result.total.tasks, name == "lu" ? 30 : 20);
        auto result = done.result;
        result.answer[0].value += 1;
        EXPECT_EQ(workload->check(result).kind, Kind::wrong);
    }
}

TEST(Tiles, WithoutTheCheckNobodyShowsTheFactor) {
    const auto workload = make("lu", {{"tiles", "3"}, {"tile_size", "4"}, {"check", "none"}});
    const Done done = run_inprocess(*workload, 2, 1, schedule("block", "none"));
    EXPECT_EQ(done.verdict.kind, Kind::unchecked);
    for (const auto& shown : done.result.evidence) EXPECT_TRUE(shown.empty());
}

std::string refusal(const testing_tiles::Stated& stated) {
    try {
        make("cholesky", stated);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(Tiles, RefuseWhatCannotTravelInAMessage) {
    EXPECT_NE(refusal({{"tile_size", "4097"}}).find("kernels: declare"), std::string::npos);
    EXPECT_NE(refusal({{"tiles", "100"}, {"tile_size", "256"}}).find("check: none"), std::string::npos);
    EXPECT_NE(refusal({{"tiles", "2001"}, {"kernels", "declare"}}).find("2000"), std::string::npos);
    EXPECT_EQ(refusal({{"tiles", "100"}, {"tile_size", "256"}, {"kernels", "declare"}}), "");
}

// --- on threads and processes

TEST(Tiles, OnThreadsFactorsAreRightUnderEveryPolicy) {
    for (const std::string name : {"cholesky", "lu"}) {
        for (const std::string& victim : runtime::victim_policies()) {
            native::NativeOptions options;
            options.cores = 2;
            native::NativeBackend backend(options);
            const auto workload = make(name, {{"tiles", "8"}, {"tile_size", "32"}});
            const Done done = run(*workload, backend, schedule("heft", victim));
            EXPECT_EQ(done.verdict.kind, Kind::right) << victim << ": " << done.verdict.reason;
        }
    }
}

class TilesBetweenProcesses : public testing_cli::Folder {};

TEST_F(TilesBetweenProcesses, FactorIsRightAndBytesAreThosePromised) {
    for (const std::string name : {"cholesky", "lu"}) {
        for (const std::string placement : {"heft", "dsc", "metis", "cyclic"}) {
            for (const std::string victim : {"none", "local_first"}) {
                const auto path = file("run.yaml", "workload: {name: " + name +
                                                       ", tiles: 6, tile_size: 64}\nplatform: {cores: 1}\n"
                                                       "schedule: {placement: " +
                                                       placement + ", stealing: {victim: " + victim + "}}\n");
                const auto said = binary("launch -n 2 -- heddle run --json " + path);
                ASSERT_EQ(said.code, 0) << said.err;
                const auto json = nlohmann::json::parse(said.out);
                EXPECT_EQ(json.at("check").at("verdict"), "right") << json.at("check");
                EXPECT_EQ(json.at("answer").at("tasks"), name == "lu" ? 91 : 56);
                if (victim == "none") {
                    EXPECT_EQ(json.at("data_bytes"), json.at("promised_data_bytes"));
                }
            }
        }
    }
}

}  // namespace
}  // namespace heddle
