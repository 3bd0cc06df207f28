// Tests that the first run of a dataflow group takes exactly the time that its placement promises, and that
// as many bytes travel. Nothing but work and messages costs time here, and no two messages share the network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "model/dataflow.hpp"
#include "model/placed_graph.hpp"
#include "partitioners/place_graph.hpp"
#include "tests/cli_testing.hpp"
#include "tests/sim_promises.hpp"
#include "workloads/dataflow_tiles.hpp"
#include "workloads/group_placing.hpp"

namespace heddle::testing_promises {
namespace {

using namespace dataflow;

struct Found {
    Time took{};
    Time promised{};
    std::uint64_t promised_bytes = 0;
    std::uint64_t bytes_home = 0;
};

/// A factorization as a group that each node records.
class TilesOnce final : public DataflowProgram {
public:
    TilesOnce(const workloads::DataflowTiles& algorithm, const workloads::tiles::Matrix& matrix,
              const Placer& placer, Found& found)
        : algorithm_(algorithm), matrix_(matrix), placer_(placer), found_(found) {}

    bool records_elsewhere() const override { return true; }
    void elsewhere(Thread& self) override {
        workloads::SharedTiles tiles(self, matrix_);
        run(self, tiles);
    }
    void main(Thread& self) override {
        workloads::SharedTiles tiles(self, matrix_);
        run(self, tiles);
    }
    runtime::Answer answer() const override { return {}; }

private:
    void run(Thread& self, workloads::SharedTiles& tiles) {
        const auto record = [&](GroupRecorder& recorder) {
            tiles.record(recorder);
            tiles.make_tiles(self);
            algorithm_.factorize(self, tiles);
        };
        Group group(self, placer_, record, Recorded::everywhere);
        group.run();
        if (self.worker().node().id() != 0) return;
        found_.took = group.run_time();
        found_.promised = group.placing().promised;
        look_at_bytes(group, {self.worker().node().topology().nodes, self.worker().node().cores()});
    }

    /// By a placed graph's own count: each task writes one tile.
    void look_at_bytes(const Group& group, WorkerGrid grid) {
        const TaskGraph graph = group.recording().sent_graph();
        const GroupPlacing& placing = group.placing();
        const model::PlacedGraph plan(graph, Placement(grid, placing.of_task), placing.sequence,
                                      model::PlacedGraph::Order::strict, model::PlacedGraph::Data::carried);
        found_.promised_bytes = plan.bytes_between_nodes();
        const std::uint64_t tile_bytes = 1 + 4 + 8 * matrix_.numbers_of_tile();
        const Recording& recording = group.recording();
        for (const Recording::Object& object : recording.objects())
            if (placing.of_task[recording.versions()[object.last].writer].node != 0)
                found_.bytes_home += tile_bytes;
    }

    const workloads::DataflowTiles& algorithm_;
    workloads::tiles::Matrix matrix_;
    const Placer& placer_;
    Found& found_;
};

class GroupPromises : public testing_cli::Folder {
protected:
    static void expect_kept(const workloads::DataflowTiles& algorithm, std::uint32_t tiles,
                            const NamedPlatform& named, const std::string& placement) {
        SCOPED_TRACE(algorithm.residual_name + " on " + named.name + " by " + placement);
        sim::SimBackend backend(configs::read_platform_text("{platform: {" + named.yaml + "}}", "test"));
        runtime::Schedule how;
        how.placement = placement;
        how.seed = 1;
        how.stealing.victim = "none";
        const auto placer = workloads::group_placer(backend.cluster(Time{}), how);
        const workloads::tiles::Matrix matrix{tiles, 12, 1, algorithm.symmetric};
        Found found;
        const auto make = [&](NodeId) {
            return std::make_unique<TilesOnce>(algorithm, matrix, *placer, found);
        };
        const runtime::RunResult result = runtime::Execution(backend, how, make).run();
        EXPECT_GT(found.promised.count(), 0);
        EXPECT_EQ(found.took.count(), found.promised.count());
        EXPECT_EQ(result.total.data_bytes, found.promised_bytes + found.bytes_home);
    }

    void expect_all_kept(const workloads::DataflowTiles& algorithm) const {
        for (const NamedPlatform& named : platforms(folder))
            for (const std::string& placement : partitioners::placement_names())
                if (placement != "none" && placement != "portfolio")
                    expect_kept(algorithm, 4, named, placement);
    }
};

TEST_F(GroupPromises, OfCholeskyAreKeptToThePicosecondUnderEveryPlacement) {
    expect_all_kept(workloads::dataflow_cholesky());
}

TEST_F(GroupPromises, OfLuAreKeptToThePicosecondUnderEveryPlacement) {
    expect_all_kept(workloads::dataflow_lu());
}

// Of few tasks, because the portfolio searches all schedules of so small a graph.
TEST_F(GroupPromises, OfSmallGraphsAreKeptUnderThePortfolio) {
    for (const NamedPlatform& named : platforms(folder)) {
        expect_kept(workloads::dataflow_cholesky(), 3, named, "portfolio");
        expect_kept(workloads::dataflow_lu(), 2, named, "portfolio");
    }
}

}  // namespace
}  // namespace heddle::testing_promises
