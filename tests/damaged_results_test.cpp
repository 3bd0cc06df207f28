// Tests directories of results with damaged files: each is refused, or counts as missing, and none ends the
// program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "report/causes.hpp"
#include "report/design.hpp"
#include "report/recorded.hpp"
#include "report/runs.hpp"
#include "results/cells.hpp"
#include "results/store.hpp"
#include "tests/cli_testing.hpp"

namespace heddle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DamagedResults : public testing_cli::Folder {
protected:
    void SetUp() override {
        Folder::SetUp();
        std::filesystem::create_directories(folder / "c");
    }
};

// Code that prints or copies a value calls itself for each level: this had overflowed the stack.
TEST_F(DamagedResults, DeepNestingCountsAsMissing) {
    const std::size_t depth = 300'000;
    file("c/result.json", R"({"cell": "c", "makespan_seconds": 1, "lower_bound_seconds": 1, "determinants": )"
                          R"({"files": {}}, "configuration": )" +
                              std::string(depth, '[') + std::string(depth, ']') + "}");
    EXPECT_EQ(results::read_outcome(folder, "c").state, results::Outcome::State::missing);
    const report::Runs runs = report::read_runs({folder});
    EXPECT_TRUE(runs.all.empty());
    EXPECT_THAT(runs.remarks,
                ElementsAre(HasSubstr("c/result.json cannot be read"), HasSubstr("no results")));
}

TEST_F(DamagedResults, ACellWithANameThatNoFileMayHaveHasNoFiles) {
    file("runs.csv", "cell,ok\n" + std::string(300, 'x') + ",true\n");
    const report::Runs runs = report::read_runs({folder});
    ASSERT_EQ(runs.all.size(), 1U);
    EXPECT_TRUE(runs.all[0].ok());
    EXPECT_FALSE(report::is_recorded(runs.all[0]));
}

// Each activity may last that long, and their sum overflows.
TEST_F(DamagedResults, TimesThatTogetherAreBeyondAllTimesAreRefused) {
    file("c/workers.csv",
         "node,worker,tasks,stolen_tasks,working_seconds,overhead_seconds,stealing_seconds,waiting_seconds,"
         "idle_seconds\n0,0,1,0,9000000.0,9000000.0,0.0,0.0,0.0\n");
    file("c/timeline.csv", "node,worker,state,start_seconds,end_seconds\n");
    file("c/tasks.csv", "task,node,worker,start_seconds,end_seconds\n");
    const report::Run run{folder, "c", {}, {}, {}, {}, {}, {}};
    EXPECT_THROW((void)report::read_recorded(run), Error);
}

// What was missing had counted as time of the scheduler.
TEST_F(DamagedResults, ATimelineThatIsCutOffIsRefused) {
    const std::string lines = "node,worker,state,start_seconds,end_seconds\n0,0,working,0.0,1.0\n",
                      last = "0,0,idle,1.0,2.0\n";
    file("c/workers.csv",
         "node,worker,tasks,stolen_tasks,working_seconds,overhead_seconds,stealing_seconds,waiting_seconds,"
         "idle_seconds\n0,0,1,0,1.0,0.0,0.0,0.0,1.0\n");
    file("c/tasks.csv", "task,node,worker,start_seconds,end_seconds\n0,0,0,0.0,1.0\n");
    const report::Run run{folder, "c", {}, {}, {}, {}, {}, {}};
    const std::filesystem::path plain = file("c/timeline.csv", lines + last);
    EXPECT_EQ(report::read_recorded(run).makespan, from_seconds(2));
    file("c/timeline.csv", lines);
    EXPECT_THROW((void)report::read_recorded(run), Error);

    std::filesystem::remove(plain);
    const std::filesystem::path compressed = plain.string() + ".gz";
    const gzFile stream = gzopen(compressed.c_str(), "wb");
    ASSERT_GT(gzputs(stream, (lines + last).c_str()), 0);
    ASSERT_EQ(gzclose(stream), Z_OK);
    EXPECT_EQ(report::read_recorded(run).makespan, from_seconds(2));
    for (std::uintmax_t size = std::filesystem::file_size(compressed); size-- > 0;) {
        std::filesystem::resize_file(compressed, size);
        EXPECT_THROW((void)report::read_recorded(run), Error) << size << " bytes";
    }
}

TEST_F(DamagedResults, TasksThatWaitForEachOtherHaveNoCriticalPath) {
    file("c/workers.csv",
         "node,worker,tasks,stolen_tasks,working_seconds,overhead_seconds,stealing_seconds,waiting_seconds,"
         "idle_seconds\n0,0,1,0,1.0,0.0,0.0,0.0,0.0\n0,1,1,0,1.0,0.0,0.0,0.0,0.0\n");
    file("c/timeline.csv",
         "node,worker,state,start_seconds,end_seconds\n0,0,working,0.0,1.0\n0,1,working,0.0,1.0\n");
    file("c/tasks.csv",
         "task,name,kernel,node,worker,placed_node,placed_worker,ready_seconds,start_seconds,end_seconds,"
         "stolen_from_node,stolen_from_worker,flops,bytes,predecessors\n"
         "0,a,k,0,0,0,0,0.0,0.0,1.0,,,1,0,1\n1,b,k,0,1,0,1,0.0,0.0,1.0,,,1,0,0\n");
    const report::Run run{folder, "c", {}, {}, {}, {}, {}, {}};
    const report::Recorded recorded = report::read_recorded(run);
    ASSERT_TRUE(recorded.is_graph);
    EXPECT_THROW((void)report::critical_path(recorded), Error);
}

// A table that could not be opened had counted as empty, and its rows were lost.
TEST_F(DamagedResults, ATableThatCannotBeReadIsNotReplaced) {
    std::filesystem::create_symlink("runs.csv", folder / "runs.csv");
    EXPECT_THROW(results::Store{folder.string()}, Error);
}

// The reader of a pipe without a writer had waited for ever.
TEST_F(DamagedResults, APipeInTheirPlaceIsRefused) {
    ASSERT_EQ(::mkfifo((folder / "c/result.json").c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo((folder / "runs.csv").c_str(), 0600), 0);
    EXPECT_THROW((void)results::read_outcome(folder, "c"), Error);
    EXPECT_THROW(results::Store{folder.string()}, Error);
    EXPECT_THAT(report::read_runs({folder}).remarks,
                ElementsAre(HasSubstr("runs.csv is left out: is not a regular file"),
                            HasSubstr("c/result.json cannot be read"), HasSubstr("no results")));
}

// The largest number and one more is zero: a matrix of that size had been written beyond its end. A billion
// nodes had taken all memory.
TEST_F(DamagedResults, NodesAndGroupsThatNoMachineHasAreNoReasonToEnd) {
    const std::string yaml =
        file("r.yaml", "backend: sim\nworkload: {name: fib, n: 5}\nplatform: {nodes: 2}\n");
    const std::string out = folder / "results";
    ASSERT_EQ(binary("run " + yaml + " --out " + out).code, 0);
    const std::string cell = results::folders_in(out).front();
    const auto whole = nlohmann::json::parse(read(folder / "results" / cell / "result.json"));
    const auto read_with = [&](const char* changes) {
        nlohmann::json json = whole;
        json.merge_patch(nlohmann::json::parse(changes));
        file("results/" + cell + "/result.json", json.dump());
        EXPECT_EQ(binary("report " + out + " --out " + (folder / "page.html").string()).code, 0) << changes;
        return report::read_runs({out});
    };
    const report::Runs sound = read_with(
        R"({"nodes": 100, "node_groups": [[4294967295, 60], [7, 40]], "steals": {"matrix": [[0, 99, 1]]}})");
    std::vector<std::uint32_t> groups(60, 1);
    groups.resize(100, 0);
    ASSERT_EQ(sound.all.size(), 1U);
    EXPECT_EQ(sound.all[0].groups, groups);
    EXPECT_EQ(sound.all[0].steals.size(), 1U);
    for (const char* changes :
         {R"({"nodes": 1000000000000000, "steals": {"matrix": [[0, 1, 1]]}})",
          R"({"nodes": -1, "steals": {"matrix": [[0, 1, 1]]}})", R"({"steals": {"matrix": [[0, 2, 1]]}})",
          R"({"steals": {"matrix": [[4294967296, 1, 1]]}})"}) {
        const report::Runs damaged = read_with(changes);
        EXPECT_THAT(damaged.remarks, ElementsAre(HasSubstr("its row of runs.csv is used instead")))
            << changes;
        ASSERT_EQ(damaged.all.size(), 1U);
        EXPECT_EQ(damaged.all[0].number("nodes"), 2) << changes;
        EXPECT_TRUE(damaged.all[0].steals.empty()) << changes;
    }
}

TEST_F(DamagedResults, NumbersThatNoSettingMayHaveAreShownAsTheyAre) {
    report::Factor factor;
    factor.unit = "flop/s";
    EXPECT_EQ(factor.shown("-1"), "-1");
    EXPECT_EQ(factor.shown("inf"), "inf");
    factor.unit = "B/s";
    EXPECT_EQ(factor.shown("1e308"), "1e+308Bps");
}

// An exception of the file system had counted as a mistake of heddle's own.
TEST_F(DamagedResults, ALoopOfSymbolicLinksIsTheCallersMistake) {
    std::filesystem::create_symlink("fib", folder / "fib");  // the name of a workload: asked for a file first
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder);
    const testing_cli::Said said = binary("run fib");
    std::filesystem::current_path(before);
    EXPECT_EQ(said.code, 2) << said.err;
    EXPECT_THAT(said.err, HasSubstr("fib: cannot be used (Too many levels of symbolic links)"));
}

}  // namespace
}  // namespace heddle
