// Counts the messages of published workflows: in proportion to their edges without stealing; with stealing
// nearly the same, whatever the tasks take.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graphs/graph_file.hpp"
#include "tests/cli_testing.hpp"
#include "tests/scheduler_testing.hpp"

namespace heddle::testing_cli {
namespace {

class WorkflowMessages : public testing::Test {
protected:
    void SetUp() override {
#ifndef HEDDLE_SIM
        GTEST_SKIP() << "this build has no simulator";
#endif
        if (schedulers::testing::data().empty()) GTEST_SKIP() << "no published graphs beside the project";
    }
    static std::string graph(const std::string& name) {
        return (schedulers::testing::data() / "wfcommons" / name).string();
    }
    static double messages(const std::string& path, const std::string& unit, const std::string& victim) {
        const Said said =
            heddle({"run", HEDDLE_SOURCE_DIR "/configs/dag.yaml", "--json", "--set", "workload.graph=" + path,
                    "--set", "workload.time_unit=" + unit, "--set", "platform.nodes=16", "--set",
                    "platform.cores=1", "--set", "platform.core_speed=1Gf", "--set",
                    "schedule.placement=heft", "--set", "schedule.stealing.victim=" + victim});
        EXPECT_EQ(said.code, 0) << said.err;
        return nlohmann::json::parse(said.out).at("messages").get<double>();
    }
};

TEST_F(WorkflowMessages, AreInProportionToTheEdgesWhereNothingIsStolen) {
    for (const char* name : {"montage-chameleon-dss-05d-001.json", "montage-chameleon-2mass-01d-001.json"}) {
        const std::string path = graph(name);
        const auto edges = static_cast<double>(graphs::read_task_graph(path).graph.edges());
        EXPECT_LT(messages(path, "1Gf", "none"), 20 * edges) << name;
    }
}

TEST_F(WorkflowMessages, DependLittleOnTheLengthOfTheTasks) {
    const std::string path = graph("1000genome-chameleon-2ch-100k-001.json");
    for (const char* victim : {"random", "local_first", "hierarchical"}) {
        const double one = messages(path, "1Gf", victim);
        for (const char* unit : {"0.1Gf", "10Gf"}) {
            const double other = messages(path, unit, victim);
            EXPECT_LT(std::max(one, other), 3 * std::min(one, other)) << victim << ", " << unit;
        }
    }
}

}  // namespace
}  // namespace heddle::testing_cli
