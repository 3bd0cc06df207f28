// Tests every graph partitioner on graphs whose least edge cuts are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "partitioners/graph/graph_partitioner.hpp"
#include "partitioners/graph/library_graph.hpp"
#include "partitioners/graph/owner_computes.hpp"
#include "partitioners/graph/quality.hpp"

namespace heddle::partitioners {
namespace {

/// A grid of cells, each with its four neighbours. `work` and `bytes` of cell and edge.
template <class Work, class Bytes>
DataGraph mesh(DatumIndex width, DatumIndex height, const Work& work, const Bytes& bytes) {
    std::vector<std::size_t> begin{0};
    std::vector<DatumIndex> neighbours;
    std::vector<double> weights, works;
    for (DatumIndex y = 0; y < height; ++y) {
        for (DatumIndex x = 0; x < width; ++x) {
            const auto add = [&](bool inside, DatumIndex other) {
                if (!inside) return;
                neighbours.push_back(other);
                weights.push_back(bytes(y * width + x, other));
            };
            const DatumIndex cell = y * width + x;
            add(y > 0, cell - width);
            add(x > 0, cell - 1);
            add(x + 1 < width, cell + 1);
            add(y + 1 < height, cell + width);
            begin.push_back(neighbours.size());
            works.push_back(work(cell));
        }
    }
    return {std::move(begin), std::move(neighbours), std::move(weights), std::move(works)};
}

const auto one = [](auto...) { return 1.0; };

std::vector<std::string> names() {
    std::vector<std::string> result;
    for (const GraphPartitionerKind& kind : graph_partitioners()) result.push_back(kind.name);
    return result;
}

TEST(Partition, EveryMemberGivesEveryDatumAPartOfTheGridAndTheSameOneAgain) {
    ASSERT_EQ(names().size(), 8U);
    for (const std::string& name : names()) {
        const auto partitioner = make_graph_partitioner(name);
        for (const WorkerGrid grid : {WorkerGrid{1, 1}, {1, 4}, {3, 1}, {2, 3}, {40, 2}}) {
            for (const DataGraph& graph : {DataGraph(), mesh(1, 1, one, one), mesh(7, 9, one, one)}) {
                const Parts part = partitioner->partition(graph, grid);
                ASSERT_NO_THROW(check_parts(graph, part, grid.workers())) << name;
                EXPECT_EQ(partitioner->partition(graph, grid), part) << name;
            }
        }
    }
}

TEST(Partition, LibrariesHalveAMeshAtItsShortSide) {
    const DataGraph graph = mesh(20, 8, one, one);
    for (const char* name : {"metis", "metis_recursive", "scotch", "scotch_map", "two_level", "block"}) {
        const Parts part = make_graph_partitioner(name)->partition(graph, {2, 1});
        EXPECT_LE(imbalance(graph, part, 2), 1.03) << name;
        // The best cut is the short side; block cuts across the long one.
        EXPECT_EQ(cut(graph, part), std::string(name) == "block" ? 20 : 8) << name;
    }
}

TEST(Partition, WeightsOfDataAndEdgesAreHonoured) {
    // The left column is as much work as all others together; edges between columns 9 and 10 are light.
    const DatumIndex width = 20, height = 8;
    const auto heavy = [&](DatumIndex cell) { return cell % width == 0 ? 19.0 : 1.0; };
    const DataGraph uneven = mesh(width, height, heavy, one);
    const auto light = [&](DatumIndex a, DatumIndex b) {
        return a % width + b % width == 9 + 10 ? 1.0 : 100.0;
    };
    const DataGraph weak = mesh(width, height, one, light);
    for (const char* name : {"metis", "metis_recursive", "scotch", "scotch_map", "two_level"}) {
        const auto partitioner = make_graph_partitioner(name);
        EXPECT_LE(imbalance(uneven, partitioner->partition(uneven, {2, 1}), 2), 1.03) << name;
        EXPECT_EQ(cut(weak, partitioner->partition(weak, {2, 1})), 8) << name;
    }
}

TEST(Partition, WeightsThatAreNoWholeNumbersKeepTheirProportions) {
    const double sum_max = 2147483647.0;
    EXPECT_THAT(whole_weights({3, 5, 0}, 0, sum_max), testing::ElementsAre(3, 5, 0));
    EXPECT_THAT(whole_weights({0, 0}, 0, sum_max), testing::IsEmpty());
    EXPECT_THAT(whole_weights({}, 1, sum_max), testing::IsEmpty());
    const auto halves = whole_weights({0.5, 1.5, 1e-30, 0}, 0, sum_max);
    EXPECT_NEAR(halves[1] / static_cast<double>(halves[0]), 3, 1e-6);
    EXPECT_EQ(halves[2], 1);
    EXPECT_EQ(halves[3], 0);
    const auto large = whole_weights({4e12, 8e12}, 0, sum_max);
    EXPECT_NEAR(large[1] / static_cast<double>(large[0]), 2, 1e-6);
    EXPECT_LE(static_cast<double>(large[0]) + large[1], sum_max);
    // An edge of no weight is the lightest, not as heavy as one of weight 1.
    const auto edges = whole_weights({0, 1}, 1, sum_max);
    EXPECT_EQ(edges[0], 1);
    EXPECT_GT(edges[1], 1000000);
    // Two weights a datum: each has its own scale.
    const auto two = whole_weights({0.5, 1e9, 0.5, 1e9}, 0, sum_max, 2);
    EXPECT_EQ(two[0], two[2]);
    EXPECT_NEAR(two[0], two[1], 2);
}

TEST(Partition, SeveralWeightsOfADatumAreAllBalancedOrRefused) {
    const DataGraph plain = mesh(16, 16, one, one);
    std::vector<double> work;
    for (DatumIndex datum = 0; datum < plain.data(); ++datum) {
        work.push_back(1);
        work.push_back(datum % 16 < 8 ? 3 : 1);
    }
    const DataGraph graph(plain.rows_begin(), plain.all_neighbours(), {}, work, 2);
    const Parts part = make_graph_partitioner("metis")->partition(graph, {4, 1});
    EXPECT_LE(imbalance(graph, part, 4), 1.1);
    EXPECT_THROW(make_graph_partitioner("scotch")->partition(graph, {4, 1}), Error);
}

TEST(Partition, GraphsBeyondTheLibrarysIndicesAreRefused) {
    EXPECT_NO_THROW(require_32_bits(2147483647, "data", "METIS"));
    EXPECT_THROW(
        try { require_32_bits(2147483648, "ends of edges", "METIS 5.1.0"); } catch (const Error& error) {
            EXPECT_THAT(error.message(), testing::HasSubstr("2147483648 ends of edges"));
            EXPECT_THAT(error.message(), testing::HasSubstr("METIS 5.1.0"));
            throw;
        },
        Error);
    EXPECT_THROW(make_graph_partitioner("metis")->partition(mesh(2, 2, one, one), {65536, 65536}), Error);
}

TEST(Partition, TheSeedIsWhatChangesTheResult) {
    const DataGraph graph = mesh(40, 40, one, one);
    for (const char* name : {"metis", "metis_recursive", "scotch", "random", "two_level"}) {
        std::set<Parts> seen;
        for (int seed = 1; seed <= 5; ++seed) {
            Settings settings(graph_partitioner_named(name).settings());
            settings.set("seed", std::to_string(seed));
            const auto partitioner = make_graph_partitioner(name, settings);
            const Parts part = partitioner->partition(graph, {7, 1});
            EXPECT_EQ(partitioner->partition(graph, {7, 1}), part);
            seen.insert(part);
        }
        EXPECT_GT(seen.size(), 1U) << name;
    }
}

TEST(Partition, TwoLevelAndMappingSendLessBetweenNodesThanAFlatCut) {
    // A 2D stencil on 64 nodes of 16 cores.
    const DataGraph graph = mesh(320, 320, one, one);
    const WorkerGrid grid{64, 16};
    const auto between = [&](const char* name) {
        const Parts part = make_graph_partitioner(name)->partition(graph, grid);
        EXPECT_LE(imbalance(graph, part, grid.workers()), 1.12) << name;
        const double bytes = cut_between_nodes(graph, part, grid);
        RecordProperty(name, std::to_string(bytes));
        return bytes;
    };
    const double flat = between("metis");
    EXPECT_LT(between("two_level"), flat);
    EXPECT_LT(between("scotch_map"), between("scotch"));
}

// Rows of heavy edges: if each part has two whole rows, 7 times 64 light edges join the 8 nodes; Scotch finds
// up to ten times as much. Weights times the largest distances leave 32 bits; then 64192 and more had passed
// between nodes.
TEST(Partition, MappingKeepsTheWeightsOfEdgesHoweverFarTheNodesAre) {
    const DataGraph graph = mesh(64, 64, one, [](DatumIndex cell, DatumIndex other) {
        return cell / 64 == other / 64 ? 1000.0 : 1.0;
    });
    const WorkerGrid grid{8, 4};
    for (const char* distance : {"1", "10", "1000", "10000", "1000000"}) {
        Settings settings(graph_partitioner_named("scotch_map").settings());
        settings.set("node_distance", distance);
        for (const auto& speeds : {std::vector<double>{}, std::vector<double>(32, 2e9)}) {
            const Parts part = make_graph_partitioner("scotch_map", settings)->partition(graph, grid, speeds);
            EXPECT_LE(cut_between_nodes(graph, part, grid), 15 * 7 * 64) << distance;
        }
    }
}

TEST(Partition, MetisMakesTheVolumeSmallBySizes) {
    constexpr DatumIndex side = 12;
    Settings settings(graph_partitioner_named("metis").settings());
    settings.set("objective", "volume");
    // Two lines of data in the middle are small, columns or rows: between them is the place to cut.
    for (const bool columns : {true, false}) {
        std::vector<double> sizes;
        for (DatumIndex cell = 0; cell < side * side; ++cell) {
            const DatumIndex line = columns ? cell % side : cell / side;
            sizes.push_back(line == side / 2 - 1 || line == side / 2 ? 1 : 50);
        }
        DataGraph graph = mesh(side, side, one, one);
        graph.set_sizes(sizes);
        const Parts part = make_graph_partitioner("metis", settings)->partition(graph, {2, 1});
        EXPECT_EQ(communication_volume(graph, part, 2), 2 * side) << columns;
    }
}

TEST(Partition, QualityIsCountedFromTheGraphAlone) {
    // A path of four data with weights; the middle edge is cut.
    const DataGraph path({0, 1, 3, 5, 6}, {1, 0, 2, 1, 3, 2}, {10, 10, 20, 20, 40, 40}, {1, 2, 3, 4});
    const Parts part{0, 0, 1, 1};
    EXPECT_EQ(cut(path, part), 20);
    EXPECT_EQ(imbalance(path, part, 2), 1.4);
    EXPECT_EQ(communication_volume(path, part, 2), 2);
    DataGraph sized = path;
    sized.set_sizes({100, 7, 0.5, 100});
    EXPECT_EQ(communication_volume(sized, part, 2), 7.5);
    EXPECT_EQ(cut_between_nodes(path, {0, 1, 2, 3}, {2, 2}), 20);
    EXPECT_EQ(cut(path, {0, 1, 2, 3}), 70);
    EXPECT_THROW(check_parts(path, {0, 0, 1, 2}, 2), Error);
    EXPECT_THROW(check_parts(path, {0, 0, 1}, 2), Error);
}

TEST(Partition, OwnerComputesPutsATaskWhereItsDatumLives) {
    TaskGraphBuilder builder;
    for (int i = 0; i < 4; ++i) builder.add_task(1);
    builder.add_edge(0, 1, 8);  // datum 0 to datum 1
    builder.add_edge(0, 2, 8);  // datum 0 to itself
    builder.add_edge(1, 3, 8);
    builder.add_edge(2, 3, 4);  // datum 0 to datum 1 again
    const TaskGraph graph = builder.build();
    const std::vector<DatumIndex> writes{0, 1, 0, 1};
    const DataGraph data = DataGraph::of_tasks(graph, writes, 2);
    EXPECT_EQ(data.edges(), 1U);
    EXPECT_EQ(data.edge_weight(0, 0), 12);
    EXPECT_EQ(data.work(0), 2);
    const Placement placement = owner_computes({3, 0}, writes, 4, {2, 2});
    EXPECT_EQ(placement.of(0), (WorkerId{1, 1}));
    EXPECT_EQ(placement.of(1), (WorkerId{0, 0}));
    EXPECT_EQ(placement.of(2), (WorkerId{1, 1}));
    // What the cut promises is what the tasks send.
    EXPECT_EQ(placement.bytes_between_nodes(graph), cut_between_nodes(data, {3, 0}, {2, 2}));
    EXPECT_THROW(owner_computes({3}, writes, 4, {2, 2}), Error);
    EXPECT_THROW(owner_computes({4, 0}, writes, 4, {2, 2}), Error);
    EXPECT_THROW(owner_computes({3, 0}, writes, 5, {2, 2}), Error);
    const Placement whole = place_by_data(*make_graph_partitioner("cyclic"), graph, writes, 2, {2, 1});
    EXPECT_EQ(whole.of(2), (WorkerId{0, 0}));
    EXPECT_EQ(whole.of(3), (WorkerId{1, 0}));
}

TEST(Partition, LibrariesNameTheirVersion) {
    EXPECT_THAT(make_graph_partitioner("metis")->library(),
                testing::MatchesRegex("METIS 5\\.[0-9]+\\.[0-9]+"));
    EXPECT_THAT(make_graph_partitioner("scotch")->library(),
                testing::MatchesRegex("Scotch 7\\.[0-9]+\\.[0-9]+"));
    EXPECT_EQ(make_graph_partitioner("two_level")->library(), make_graph_partitioner("metis")->library());
    EXPECT_EQ(make_graph_partitioner("block")->library(), "");
    EXPECT_THROW(make_graph_partitioner("metiss"), Error);
}

}  // namespace
}  // namespace heddle::partitioners
