// Tests which runs of a directory a report takes, and which of them it takes as repeats of each other.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/design.hpp"
#include "report/findings.hpp"
#include "report/runs.hpp"
#include "tests/cli_testing.hpp"

namespace heddle::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReportRuns : public testing_cli::Folder {
protected:
    /// Runs on one node and on two in turn, each with digests of its program and files.
    Runs runs_with(const std::vector<std::string>& digests) const {
        std::string table =
            "cell,ok,makespan_seconds,workload_name,platform_nodes,backend,seed,program_id,files_id\n";
        for (std::size_t i = 0; i < digests.size(); ++i)
            table += "c" + std::to_string(i) + ",true," + std::to_string(i + 1) + ",fib," +
                     std::to_string(1 + i % 2) + ",sim," + std::to_string(1 + i / 2) + "," + digests[i] +
                     "\n";
        file("runs.csv", table);
        return read_runs({folder});
    }
};

std::vector<std::string> keys_of(const Design& design) {
    std::vector<std::string> keys;
    for (const Factor& factor : design.factors) keys.push_back(factor.key);
    return keys;
}

TEST_F(ReportRuns, OfOneProgramAndOneInputAreRepeats) {
    const Design design = design_of(runs_with({"p,f", "p,f", "p,f", "p,f"}));
    EXPECT_THAT(keys_of(design), ElementsAre("platform.nodes"));
    EXPECT_EQ(design.combinations.size(), 2U);
}

// Digests without letters would pass for numbers.
TEST_F(ReportRuns, OfOtherInputFilesAreOtherCombinations) {
    const Runs runs = runs_with({"p,1", "p,1", "p,2", "p,2"});
    const Design design = design_of(runs);
    EXPECT_THAT(keys_of(design), ElementsAre("platform.nodes", "files"));
    EXPECT_EQ(design.combinations.size(), 4U);
    EXPECT_FALSE(design.factors.back().is_number);
}

TEST_F(ReportRuns, OfAnotherProgramCompeteWithTheFirstOnes) {
    const Runs runs = runs_with({"p,f", "p,f", "q,f", "q,f"});
    const Design design = design_of(runs);
    EXPECT_THAT(keys_of(design), ElementsAre("platform.nodes", "program"));
    const Findings findings = find_out(runs, design, {});
    ASSERT_EQ(findings.groups.size(), 2U);
    ASSERT_EQ(findings.groups[0].entries.size(), 2U);
    EXPECT_EQ(findings.groups[0].entries[1].competitor, "program q");
}

// As where both worlds ran: their programs differ, and so do the files that they read.
TEST_F(ReportRuns, AreNotToldApartByDigestsThatFollowFromKeys) {
    EXPECT_THAT(keys_of(design_of(runs_with({"p,f", "q,g", "p,f", "q,g"}))), ElementsAre("platform.nodes"));
}

// One of two keys whose values go together is the factor; the other one may be asked for. So may a key with
// fewer values than the one that it follows from.
TEST_F(ReportRuns, AreGroupedByAKeyThatFollowsFromAnotherOne) {
    std::string table =
        "cell,ok,makespan_seconds,workload_name,workload_tasks,platform_nodes,platform_cores,"
        "schedule_stealing_victim,backend,seed\n";
    int cell = 0;
    for (const char* machine : {"100,1,1", "200,2,1", "400,4,2"})
        for (const char* victim : {"none", "random"})
            table += fmt::format("c{},true,1,bag,{},{},sim,1\n", ++cell, machine, victim);
    file("runs.csv", table);
    const Runs runs = read_runs({folder});
    EXPECT_THAT(keys_of(design_of(runs)), ElementsAre("platform.nodes", "schedule.stealing.victim"));
    const auto groups_by = [&runs](const std::string& key) {
        const std::vector<std::string> by = {key};
        std::vector<std::string> names;
        for (const Competition& group : find_out(runs, design_of(runs, by), by).groups)
            names.push_back(fmt::format("{}: {}", group.name, group.entries.size()));
        return names;
    };
    EXPECT_THAT(groups_by("platform.nodes"),
                ElementsAre("platform.nodes 1: 2", "platform.nodes 2: 2", "platform.nodes 4: 2"));
    EXPECT_THAT(groups_by("workload.tasks"),
                ElementsAre("workload.tasks 100: 2", "workload.tasks 200: 2", "workload.tasks 400: 2"));
    EXPECT_THAT(groups_by("platform.cores"), ElementsAre("platform.cores 1: 4", "platform.cores 2: 2"));
    EXPECT_THROW(groups_by("platform.core"), Error);
}

TEST_F(ReportRuns, ThatTheTableLeavesOutAreLeftOutAndSaid) {
    std::filesystem::create_directories(folder / "earlier");
    std::filesystem::create_directories(folder / "failed");
    file("earlier/result.json", "{}");
    file("failed/failure.json",
         R"({"cell": "failed", "error": "no luck", "exit_code": 3, "command": "heddle"})");
    const Runs runs = runs_with({"p,f", "p,f"});
    EXPECT_EQ(runs.all.size(), 2U);
    ASSERT_EQ(runs.failed.size(), 1U);
    EXPECT_EQ(runs.failed[0].failure.error, "no luck");
    EXPECT_THAT(runs.remarks, ElementsAre(HasSubstr("has 1 result that runs.csv does not name")));
}

TEST_F(ReportRuns, OfADirectoryThatIsNamedTwiceAreReadOnce) {
    runs_with({"p,f", "p,f"});
    const Runs runs = read_runs({folder, folder, (folder / ".").string()});
    EXPECT_EQ(runs.all.size(), 2U);
    EXPECT_THAT(runs.remarks,
                ElementsAre(HasSubstr("is named twice, and was read once"), HasSubstr("is named twice")));
}

}  // namespace
}  // namespace heddle::report
