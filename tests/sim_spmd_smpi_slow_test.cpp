// Compares the simulated time of collective calls with SMPI, SimGrid's simulator of MPI programs (A. Degomme
// et al.: "Simulating MPI applications: the SMPI approach", 2017). SMPI runs its own algorithms on the same
// platform file. Skipped if smpicc is not installed.
//
// SMPI's network is Heddle's: CM02 with latency and bandwidth as written. Its model `SMPI` is CM02 with
// factors by size: a message of more than 32 KiB is announced here, so it has three latencies there. Its
// processor and MPI calls take no time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "runtime/comm/endpoint.hpp"
#include "tests/cli_testing.hpp"
#include "tests/spmd_programs.hpp"
#include "tests/spmd_timed.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;
using Sends = CrewSettings::Sends;

const std::vector<Index> sizes = {1 << 10, 100 << 10, 1000 << 10};

struct Pair {
    std::string smpi_operation;
    std::string smpi_algorithm;
    Operation operation;
    std::string algorithm;
    Sends sends = Sends::together;  ///< with several ranks a host
    std::set<Index> apart{};        ///< sizes that differ then, for a reason in docs/models/spmd.md

    friend void PrintTo(const Pair& pair, std::ostream* out) {
        *out << pair.smpi_operation << " " << pair.smpi_algorithm;
    }
};

std::string name_of_pair(const testing::TestParamInfo<Pair>& info) {
    return info.param.smpi_operation + "_" + info.param.smpi_algorithm;
}

class Smpi : public heddle::testing_cli::Folder, public testing::WithParamInterface<Pair> {
protected:
    void SetUp() override {
        if (std::system("command -v smpicc >/dev/null && command -v smpirun >/dev/null") != 0)
            GTEST_SKIP() << "no smpicc (package libsimgrid-dev)";
        Folder::SetUp();
        const std::string source = HEDDLE_SOURCE_DIR "/tests/smpi_collective.c";
        ASSERT_EQ(std::system(fmt::format("smpicc -O1 {} -o {}", source, program()).c_str()), 0);
    }

    std::string program() const { return folder / "collective"; }

    /// So many hosts around a switch.
    std::string platform_file(NodeId hosts) const {
        return file("platform.xml", fmt::format(R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="node-" suffix="" radical="0-{}" speed="1Gf" bw="12.5GBps" lat="1us"
           loopback_bw="10GBps" loopback_lat="300ns"/>
</platform>
)",
                                                hosts - 1));
    }

    /// Seconds by size.
    std::map<Index, double> by_smpi(const Pair& pair, NodeId hosts, NodeId ranks_each,
                                    bool buffers_small) const {
        std::string places;
        for (NodeId rank = 0; rank < hosts * ranks_each; ++rank)
            places += fmt::format("node-{}\n", rank / ranks_each);
        const Index announced = runtime::Endpoint::eager_max - sizeof(Signature) + 1;
        constexpr Index envelope = 16;  // bytes that SMPI adds to a message
        const Index eager = buffers_small ? announced : 0;
        const std::string command = fmt::format(
            "smpirun -np {} -platform {} -hostfile {} --log=root.thresh:error --cfg=network/model:SMPI "
            "--cfg=network/weight-S:0 --cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:no "
            "--cfg=smpi/bw-factor:0:1 '--cfg=smpi/lat-factor:0:1;{}:3' --cfg=smpi/simulate-computation:no "
            "--cfg=smpi/host-speed:1f --cfg=smpi/os:0:0:0 --cfg=smpi/or:0:0:0 --cfg=smpi/ois:0:0:0 "
            "--cfg=smpi/wtime:0 --cfg=smpi/async-small-thresh:{} --cfg=smpi/send-is-detached-thresh:{} "
            "--cfg=smpi/{}:{} {} {} {} 2>&1",
            hosts * ranks_each, platform_file(hosts), file("hosts", places), announced + envelope, eager,
            eager, pair.smpi_operation, pair.smpi_algorithm, program(), pair.smpi_operation,
            fmt::join(sizes, " "));
        std::map<Index, double> seconds;
        FILE* const pipe = popen(command.c_str(), "r");
        std::string said;
        for (char line[512]; std::fgets(line, sizeof line, pipe);) {
            said += line;
            unsigned long bytes = 0;
            double time = 0;
            if (std::sscanf(line, "%lu %lf", &bytes, &time) == 2) seconds[bytes] = time;
        }
        EXPECT_EQ(pclose(pipe), 0) << said;
        EXPECT_EQ(seconds.size(), sizes.size()) << said;
        return seconds;
    }

    double by_heddle(const Pair& pair, NodeId hosts, NodeId ranks_each, Sends sends, Index bytes) const {
        Platform platform;
        platform.file = platform_file(hosts);
        platform.nodes = hosts * ranks_each;
        platform.processes = ranks_each;
        platform.cores = 1;
        platform.stated_nodes = platform.stated_cores = true;
        platform.core_speed = 1e18;
        platform.memory_bandwidth = 1e18;
        platform.stated_core_speed = true;
        platform.overheads = {};
        platform.shared_memory = {.latency = std::chrono::nanoseconds(300), .bandwidth = 10e9};
        complete(platform);
        const Task task{pair.operation, platform.nodes, 0, bytes / sizeof(std::uint64_t), 1, true};
        return timed(find_algorithm(pair.operation, pair.algorithm), task, platform, {.sends = sends})
            .seconds;
    }
};

INSTANTIATE_TEST_SUITE_P(
    All, Smpi,
    testing::Values(Pair{"bcast", "binomial_tree", Operation::broadcast, "binomial", Sends::in_turn},
                    Pair{"bcast", "scatter_LR_allgather", Operation::broadcast, "scatter_allgather"},
                    Pair{"allreduce", "rdb", Operation::all_reduce, "recursive_doubling"},
                    Pair{"allreduce", "rab", Operation::all_reduce, "rabenseifner"},
                    Pair{"allgather",
                         "ring",
                         Operation::all_gather,
                         "ring",
                         Sends::together,
                         {sizes.begin(), sizes.end()}},
                    Pair{"allgather", "NTSLR", Operation::all_gather, "ring", Sends::together, {sizes[1]}},
                    Pair{"allgather", "rdb", Operation::all_gather, "recursive_doubling"},
                    Pair{"allgather", "bruck", Operation::all_gather, "bruck"},
                    Pair{"alltoall", "pair", Operation::all_to_all, "pairwise"},
                    Pair{"alltoall", "ring", Operation::all_to_all, "ring"},
                    Pair{"alltoall", "bruck", Operation::all_to_all, "bruck", Sends::together, {sizes[0]}}),
    name_of_pair);

double shown(NodeId ranks, Index bytes, double ours, double theirs) {
    fmt::print("{} ranks, {} KiB: {:.3f} us, SMPI {:.3f} us, {:.4f}\n", ranks, bytes >> 10, 1e6 * ours,
               1e6 * theirs, ours / theirs);
    return ours / theirs;
}

// A send returns when its message has arrived in SMPI, and when its bytes have left here. The longest path of
// a tree takes as long in both. The rest is the 80 bytes that are added to a message here, and 16 in SMPI.
TEST_P(Smpi, TakesAsLongWithARankOnEachNode) {
    for (const NodeId nodes : {16U, 64U}) {
        for (const auto& [bytes, theirs] : by_smpi(GetParam(), nodes, 1, false)) {
            const double ours = by_heddle(GetParam(), nodes, 1, Sends::in_turn, bytes);
            EXPECT_NEAR(shown(nodes, bytes, ours, theirs), 1, 0.005);
        }
    }
}

// Ranks of a node share its link and are not in step, so it counts when a send returns.
TEST_P(Smpi, TakesAboutAsLongWithSeveralRanksOnEachNode) {
    for (const auto& [bytes, theirs] : by_smpi(GetParam(), 16, 4, true)) {
        const double ours = by_heddle(GetParam(), 16, 4, GetParam().sends, bytes);
        const double quotient = shown(64, bytes, ours, theirs);
        if (GetParam().apart.contains(bytes)) continue;
        EXPECT_NEAR(quotient, 1, 0.1);
    }
}

}  // namespace
}  // namespace heddle::spmd
