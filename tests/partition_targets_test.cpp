// Tests partitions for workers of unequal speed, data heavier than a part, and a library's suppressed output.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/random.hpp"
#include "partitioners/graph/graph_partitioner.hpp"
#include "partitioners/graph/heavy_data.hpp"
#include "partitioners/graph/quality.hpp"
#include "tests/cli_testing.hpp"

namespace heddle::partitioners {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A square of cells, each with its four neighbours.
DataGraph square(DatumIndex side, std::vector<double> work = {}) {
    std::vector<std::size_t> begin{0};
    std::vector<DatumIndex> neighbours;
    for (DatumIndex cell = 0; cell < side * side; ++cell) {
        if (cell >= side) neighbours.push_back(cell - side);
        if (cell % side > 0) neighbours.push_back(cell - 1);
        if (cell % side + 1 < side) neighbours.push_back(cell + 1);
        if (cell + side < side * side) neighbours.push_back(cell + side);
        begin.push_back(neighbours.size());
    }
    return {std::move(begin), std::move(neighbours), {}, std::move(work)};
}

TEST(PartTargets, PartsHaveWorkInProportionToTheSpeedOfTheirWorker) {
    const DataGraph graph = square(40);
    const std::vector<double> speeds = {1, 3, 2, 2};
    for (const char* name : {"metis", "metis_recursive", "scotch", "scotch_map", "two_level", "block"}) {
        SCOPED_TRACE(name);
        const Parts part = make_graph_partitioner(name)->partition(graph, {2, 2}, speeds);
        std::vector<double> work(4, 0);
        for (const std::uint32_t one : part) work[one] += 1;
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(work[i] / 1600, speeds[i] / 8, 0.02) << i;
        EXPECT_LT(imbalance(graph, part, 4, speeds), 1.1);
        EXPECT_GT(imbalance(graph, part, 4), 1.4);
    }
}

TEST(PartTargets, ImbalanceIsMeasuredAgainstTheTargets) {
    const DataGraph graph({0, 0, 0, 0, 0}, {});
    EXPECT_DOUBLE_EQ(imbalance(graph, {0, 1, 1, 1}, 2, std::vector<double>{1, 3}), 1);
    EXPECT_DOUBLE_EQ(imbalance(graph, {0, 1, 1, 1}, 2), 1.5);
    // A half where a quarter was wanted.
    EXPECT_DOUBLE_EQ(imbalance(graph, {0, 0, 1, 1}, 2, std::vector<double>{1, 3}), 2);
}

TEST(PartTargets, DataThatFillAPartGetOneOfTheirOwn) {
    const DataGraph graph({0, 0, 0, 0, 0, 0, 0}, {}, {}, {1, 1, 100, 1, 1, 1});
    const HeavyData heavy(graph, {0.25, 0.25, 0.25, 0.25});
    EXPECT_THAT(heavy.rest, ElementsAre(0, 1, 3, 4, 5));
    EXPECT_EQ(heavy.alone[2], 0U);
    EXPECT_THAT(heavy.parts, ElementsAre(1, 2, 3));
    // The heaviest gets the largest share.
    const HeavyData uneven(graph, {0.2, 0.6, 0.2});
    EXPECT_EQ(uneven.alone[2], 1U);
    EXPECT_THAT(uneven.parts, ElementsAre(0, 2));
}

class PartitionOutput : public testing_cli::Folder {};

// METIS complains on standard output where a vertex weighs more than a part's share.
TEST_F(PartitionOutput, OneHeavyTaskLeavesJsonAlone) {
    const std::string graph =
        file("heavy.dot",
             "digraph g {\na [Weight=1000000000];\nb [Weight=1];\nc [Weight=1];\nd [Weight=1];\ne "
             "[Weight=1];\nf [Weight=1];\na -> b [Weight=1];\nb -> c [Weight=1];\nc -> d [Weight=1];\nd -> e "
             "[Weight=1];\ne -> f [Weight=1];\n}\n");
    for (const char* name : {"metis", "metis_recursive", "two_level"}) {
        const auto said = binary("partition " + graph + " --partitioner " + name + " --parts 4 --json");
        EXPECT_EQ(said.code, 0) << said.err;
        EXPECT_NO_THROW(EXPECT_EQ(json::parse(said.out)["parts"], 4)) << said.out;
    }
}

// Whatever the weights are, nothing but the caller writes to standard output.
TEST(PartTargets, MetisPrintsNothingOnRandomWeights) {
    ::testing::internal::CaptureStdout();
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Random random(seed);
        std::vector<double> work;
        for (int i = 0; i < 36; ++i)
            work.push_back(random.below(3) == 0 ? 0 : std::pow(10.0, static_cast<double>(random.below(9))));
        const DataGraph graph = square(6, work);
        for (const char* name : {"metis", "metis_recursive"}) {
            for (const std::uint32_t parts : {2U, 7U, 20U, 35U}) {
                const Parts part = make_graph_partitioner(name)->partition(graph, {parts, 1});
                check_parts(graph, part, parts);
            }
        }
    }
    std::fflush(stdout);
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST_F(PartitionOutput, SpeedsAreRelativeAndRangesAreStated) {
    const auto said =
        testing_cli::heddle({"partition", "stencil_2d:width=32,height=32,steps=2", "--partitioner", "metis",
                             "--parts", "2", "--speeds", "3,1", "--json"});
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_LT(json::parse(said.out)["imbalance"].get<double>(), 0.05);
    const auto refused = [](const std::vector<std::string>& more, const std::string& why) {
        std::vector<std::string> words = {"partition", "fft", "--partitioner", "metis", "--parts", "2"};
        words.insert(words.end(), more.begin(), more.end());
        const auto wrong = testing_cli::heddle(words);
        EXPECT_EQ(wrong.code, 2) << wrong.out;
        EXPECT_THAT(wrong.err, HasSubstr(why));
    };
    refused({"--imbalance", "1e9"}, "1e9 is out of range; expected 0 to 1000");
    refused({"--imbalance", "-1"}, "-1 is out of range; expected 0 to 1000");
    refused({"--set", "iterations=99999999999"}, "expected 1 to 1000000");
    refused({"--speeds", "1,0"}, "speed: 0 is out of range; expected 1e-09 or more");
    refused({"--speeds", "1,,2"}, "expected a number");
}

}  // namespace
}  // namespace heddle::partitioners
