// Tests that a run which does not fit into memory is refused before it takes any. The error says what is
// needed, what there is and what to lower. Limits are read from Linux control groups of both versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cluster_view.hpp"
#include "base/error.hpp"
#include "base/memory_need.hpp"
#include "configs/combinations.hpp"
#include "graphs/generators/generator.hpp"
#include "host/memory_limit.hpp"
#include "workloads/workload.hpp"
#ifdef HEDDLE_SIM
#include "sim/platform_summary.hpp"
#endif

namespace heddle {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// As if the machine had so many bytes, as long as this lives.
class Machine {
public:
    explicit Machine(double bytes) { set_available_memory(bytes); }
    ~Machine() { set_available_memory(std::numeric_limits<double>::infinity()); }
};

std::string error_of(const std::string& workload, const std::map<std::string, std::string>& stated) {
    const auto& kind = workloads::find(workload);
    Settings settings(kind.settings);
    for (const auto& [key, value] : stated) settings.set(key, value);
    try {
        (void)kind.make(settings);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(MemoryNeed, IsARefusalAlsoOnceTheErrorHasAPlace) {
    const Machine small(100);
    try {
        need_memory(200, "200 bytes", "lower them");
        ADD_FAILURE() << "it was not refused";
    } catch (const Error& error) {
        EXPECT_TRUE(error.is_refusal());
        EXPECT_TRUE(error.at({"a.yaml", 3}).is_refusal());
        EXPECT_STREQ(error.at({"a.yaml", 3}).what(),
                     "a.yaml:3: 200 bytes take about 200 B of memory, and 100 B are there; lower them");
    }
    EXPECT_FALSE(Error("a failure").at({"a.yaml", 3}).is_refusal());
}

// Both add where the graph was stated, in words of their own.
TEST(MemoryNeed, IsARefusalAlsoInTheWordsOfAWorkloadOrAComparison) {
    const Machine small(100e6);
    const auto is_refusal = [](const std::string& text) {
        try {
            (void)configs::read_combinations_text(text, "a.yaml", {}, configs::Axes::optional);
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), AllOf(HasSubstr("a.yaml:"), HasSubstr("workload.graph: "),
                                            HasSubstr("take about"), HasSubstr("lower width")));
            return error.is_refusal();
        }
        ADD_FAILURE() << "it was not refused: " << text;
        return false;
    };
    EXPECT_TRUE(is_refusal("workload: {name: dag, graph: 'all_to_all:width=30000,steps=4'}\n"));
    EXPECT_TRUE(
        is_refusal("workload: {name: dag, graph: 'all_to_all:width=3,steps=4'}\n"
                   "compare: {workload.graph: ['all_to_all:width=30000,steps=4']}\n"));
}

TEST(MemoryNeed, OfWorkloadsIsRefusedBeforeItIsTaken) {
    const Machine small(100e6);
    EXPECT_THAT(error_of("bag", {{"tasks", "2000000"}}),
                AllOf(HasSubstr("2000000 tasks take about"), HasSubstr("lower workload.tasks")));
    EXPECT_EQ(error_of("bag", {{"tasks", "1000000"}}), "no error");
    // 120 * 121 * 122 / 6 and 120 * 121 * 241 / 6 tasks.
    for (const auto& [name, tasks] : {std::pair("cholesky", "295240"), std::pair("lu", "583220")}) {
        EXPECT_THAT(error_of(name, {{"tiles", "120"}, {"kernels", "declare"}}),
                    AllOf(HasSubstr(tasks), HasSubstr("lower workload.tiles")));
        EXPECT_EQ(error_of(name, {{"tiles", "30"}, {"kernels", "declare"}}), "no error");
    }
}

/// What `prepare` says on 64 nodes.
std::string error_on(const std::string& workload, const std::map<std::string, std::string>& stated,
                     std::optional<NodeId> nodes_here, std::uint32_t group = 1) {
    const auto& kind = workloads::find(workload);
    Settings settings(kind.settings);
    for (const auto& [key, value] : stated) settings.set(key, value);
    ClusterView cluster;
    cluster.grid.nodes = 64;
    cluster.nodes_here = nodes_here;
    runtime::Schedule schedule;
    schedule.memory.group = group;
    try {
        kind.make(settings)->prepare(cluster, schedule);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

// In simulation all ranks take the memory of one process. Natively each process has its own.
TEST(MemoryNeed, OfDataParallelWorkloadsCountsAllRanksOfTheProcess) {
    const Machine small(300e6);
    const std::vector<std::pair<std::string, std::map<std::string, std::string>>> runs{
        {"ptrans", {{"n", "20000"}}},
        {"fft2d", {{"n", "8192"}}},
        {"nas_ft", {{"class", "A"}}},
        {"collective", {{"operation", "all_gather"}, {"bytes", "1048576"}}}};
    for (const auto& [name, settings] : runs) {
        EXPECT_THAT(error_on(name, settings, {}), HasSubstr("take about")) << name;
        EXPECT_EQ(error_on(name, settings, 1), "no error") << name;
    }
    // The root alone has the blocks of all.
    EXPECT_EQ(error_on("collective", {{"operation", "gather"}, {"bytes", "1048576"}}, {}), "no error");
}

// Each node has a block of them.
TEST(MemoryNeed, OfAnAdaptiveLoopCountsTheNodesOfTheProcess) {
    const Machine small(300e6);
    for (const char* const loop : {"for", "prefix_sum"}) {
        const std::map<std::string, std::string> settings{{"loop", loop}, {"n", "100000000"}};
        EXPECT_THAT(error_on("adaptive", settings, {}), HasSubstr("lower workload.n")) << loop;
        EXPECT_EQ(error_on("adaptive", settings, 1), "no error") << loop;
    }
}

// The tiles themselves, where they are computed: 55 or 100 of 512 x 512 numbers.
TEST(MemoryNeed, OfAMatrixInTilesCountsTheNodesOfTheProcess) {
    const Machine small(100e6);
    for (const char* const name : {"cholesky", "lu"}) {
        const std::map<std::string, std::string> tiles{{"tiles", "10"}, {"tile_size", "512"}};
        auto unchecked = tiles, declared = tiles;
        unchecked["check"] = "none";
        declared["kernels"] = "declare";
        EXPECT_EQ(error_of(name, tiles), "no error") << name;
        EXPECT_THAT(error_on(name, unchecked, {}), HasSubstr("lower workload.tiles or workload.tile_size"))
            << name;
        EXPECT_EQ(error_on(name, unchecked, 1), "no error") << name;
        // One node gathers the factor.
        EXPECT_THAT(error_on(name, tiles, 1), HasSubstr("set workload.check to none")) << name;
        EXPECT_EQ(error_on(name, declared, {}), "no error") << name;
    }
}

// 256 messages of a torus of 64 places.
TEST(MemoryNeed, OfMessagesUnderWayCountsTheNodesOfTheProcess) {
    const Machine small(100e6);
    EXPECT_THAT(error_on("neighbours", {{"bytes", "1000000B"}}, {}), HasSubstr("or workload.bytes"));
    EXPECT_EQ(error_on("neighbours", {{"bytes", "1000000B"}}, 1), "no error");
}

// Each node has a part of them. Node 0 gathers what it checks, and nothing where kernels are skipped.
TEST(MemoryNeed, OfSharedArraysCountsTheNodesOfTheProcessAndTheCheck) {
    const Machine small(100e6);
    for (const char* const name : {"jacobi", "filament_lu"}) {
        const auto refused = HasSubstr("lower workload.n");
        EXPECT_THAT(error_on(name, {{"n", "4000"}, {"kernels", "skip"}}, {}), refused) << name;
        EXPECT_EQ(error_on(name, {{"n", "4000"}, {"kernels", "skip"}}, 1), "no error") << name;
        EXPECT_THAT(error_on(name, {{"n", "4000"}}, 1), refused) << name;
        EXPECT_EQ(error_on(name, {{"n", "1000"}}, {}), "no error") << name;
    }
    // So many points are compared with no sequential program.
    EXPECT_EQ(error_on("jacobi", {{"n", "4000"}, {"sweeps", "1000"}}, 1), "no error");
    // 1e9 points times sweeps are 62.5 sweeps of 4000 x 4000, and without a tolerance no sweep is left out.
    EXPECT_THAT(error_on("jacobi", {{"n", "4000"}, {"sweeps", "62"}}, 1), HasSubstr("lower workload.n"));
    EXPECT_EQ(error_on("jacobi", {{"n", "4000"}, {"sweeps", "63"}}, 1), "no error");
    // It may converge early, and is compared then. Each sweep multiplies by 1 - 3.1e-7, so the first one
    // changes a point by 3.1e-7. With 0.9 of that as tolerance it takes some 3e5 sweeps.
    for (const auto& [tolerance, compared] : {std::pair("1e-3", true), std::pair("2.8e-7", false)}) {
        const auto error =
            error_on("jacobi", {{"n", "4000"}, {"sweeps", "1000000"}, {"tolerance", tolerance}}, 1);
        EXPECT_EQ(error != "no error", compared) << error;
    }
    EXPECT_THAT(error_on("nas_is", {{"class", "A"}}, {}), HasSubstr("64 tables of counts"));
    EXPECT_EQ(error_on("nas_is", {{"class", "A"}}, 1), "no error");
}

// Each of the 64 nodes reads all of B, and node 0 writes all of A and B.
TEST(MemoryNeed, OfAProductCountsAFactorOnEachNode) {
    const Machine small(100e6);
    EXPECT_THAT(error_on("matmul", {{"n", "500"}, {"kernels", "skip"}}, {}), HasSubstr("lower workload.n"));
    EXPECT_EQ(error_on("matmul", {{"n", "400"}, {"kernels", "skip"}}, {}), "no error");
    EXPECT_THAT(error_on("matmul", {{"n", "2500"}, {"kernels", "skip"}}, 1), HasSubstr("lower workload.n"));
    EXPECT_EQ(error_on("matmul", {{"n", "2400"}, {"kernels", "skip"}}, 1), "no error");
    EXPECT_THAT(error_on("matmul", {{"n", "1800"}}, 1), HasSubstr("lower workload.n"));
    EXPECT_EQ(error_on("matmul", {{"n", "1700"}}, 1), "no error");
}

// 100 rows or 64 tables of counts, each in a group of 4 MiB.
TEST(MemoryNeed, OfAlignedRowsThatMoveCountsWholeGroupsOfPages) {
    const Machine small(100e6);
    const std::map<std::string, std::string> packed{{"n", "100"}}, aligned{{"n", "100"}, {"rows", "aligned"}};
    EXPECT_THAT(error_on("filament_lu", aligned, {}, 1024), HasSubstr("or schedule.memory.page or group"));
    EXPECT_EQ(error_on("filament_lu", aligned, 1, 1024), "no error");
    EXPECT_EQ(error_on("filament_lu", aligned, {}, 1), "no error");
    EXPECT_EQ(error_on("filament_lu", packed, {}, 1024), "no error");
    EXPECT_THAT(error_on("nas_is", {{"parts", "aligned"}}, {}, 1024), HasSubstr("64 tables of counts"));
    EXPECT_EQ(error_on("nas_is", {{"parts", "aligned"}}, {}, 1), "no error");
    EXPECT_EQ(error_on("nas_is", {{"parts", "packed"}}, {}, 1024), "no error");
}

TEST(MemoryNeed, OfAGridByDataflowCountsTheNodesOfTheProcess) {
    const Machine small(100e6);
    EXPECT_THAT(error_on("dataflow_jacobi", {{"n", "2300"}}, {}), HasSubstr("lower workload.n"));
    EXPECT_EQ(error_on("dataflow_jacobi", {{"n", "2300"}}, 1), "no error");
}

// A total of less than one element had been ignored.
TEST(MemoryNeed, OfACollectiveCallIsThatOfASmallTotal) {
    const Machine small(300e6);
    EXPECT_EQ(error_on("collective", {{"operation", "all_gather"}, {"bytes", "1048576"}, {"total", "7"}}, {}),
              "no error");
}

TEST(MemoryNeed, OfGeneratedGraphsToo) {
    const Machine small(100e6);
    for (const char* name : {"cholesky", "lu"}) {
        try {
            (void)graphs::generate(name, {{"tiles", "1000"}});
            FAIL() << name;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("lower the number of tiles"));
        }
    }
}

/// A directory of control groups.
class Groups {
public:
    Groups() : top_(fs::path(::testing::TempDir()) / ("groups_" + std::to_string(::getpid()))) {}
    ~Groups() { fs::remove_all(top_); }
    void write(const fs::path& group, const std::string& name, const std::string& text) const {
        fs::create_directories(top_ / group);
        std::ofstream(top_ / group / name) << text << "\n";
    }
    const fs::path& top() const { return top_; }

private:
    fs::path top_;
};

TEST(MemoryLimit, IsWhatTheNarrowestGroupHasLeft) {
    const Groups groups;
    EXPECT_FALSE(host::memory_left_in_group("0::/a/b\n", groups.top()).has_value());
    groups.write("a/b", "memory.max", "max");
    groups.write("a/b", "memory.current", "500");
    EXPECT_FALSE(host::memory_left_in_group("0::/a/b\n", groups.top()).has_value());
    groups.write("a", "memory.max", "10000");
    groups.write("a", "memory.current", "4000");
    EXPECT_EQ(host::memory_left_in_group("0::/a/b\n", groups.top()), 6000);
    groups.write("a", "memory.stat", "anon 1\ninactive_file 1500\nactive_file 7");
    EXPECT_EQ(host::memory_left_in_group("0::/a/b\n", groups.top()), 7500);
    groups.write("a/b", "memory.max", "600");
    EXPECT_EQ(host::memory_left_in_group("0::/a/b\n", groups.top()), 100);
}

TEST(MemoryLimit, IsReadFromTheFirstVersionAsWell) {
    const Groups groups;
    groups.write("memory/a", "memory.limit_in_bytes", "9000");
    groups.write("memory/a", "memory.usage_in_bytes", "2000");
    EXPECT_EQ(host::memory_left_in_group("5:cpu:/a\n4:blkio,memory:/a\n", groups.top()), 7000);
    EXPECT_FALSE(host::memory_left_in_group("5:cpu:/a\n", groups.top()).has_value());
}

TEST(MemoryLimit, OfThisProcessIsKnown) {
    const auto bytes = host::available_memory_bytes();
    ASSERT_TRUE(bytes.has_value());
    EXPECT_GT(*bytes, 1e6);
}

#ifdef HEDDLE_SIM
TEST(MemoryNeed, OfAPlatformIsRefusedBeforeItIsDescribed) {
    const Machine small(1e9);
    Platform platform;
    platform.nodes = 1'000'000;
    try {
        (void)sim::describe(platform);
        ADD_FAILURE() << "described";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("1000000 nodes"), HasSubstr("lower platform.nodes")));
    }
    platform.nodes = 2;
    platform.network.topology = Network::Topology::torus;
    platform.network.shape = {4096, 4096};
    try {
        (void)sim::describe(platform);
        ADD_FAILURE() << "described";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("16777216 hosts"), HasSubstr("shape smaller")));
    }
}
#endif

}  // namespace
}  // namespace heddle
