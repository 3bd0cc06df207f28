// Tests that a graph's file means the same work in `schedule` and `run`. Weights are seconds on a core,
// flops, what time_unit says, or an abstract unit of 1 Gf. Expected times are worked out by hand.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli_testing.hpp"

namespace heddle::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Units : public Folder {
protected:
    static json parsed(const std::vector<std::string>& words) {
        const Said said = heddle(words);
        EXPECT_EQ(said.code, 0) << said.err;
        return json::parse(said.out);
    }

    /// Chains of a task of 5 and one of 3 units, whose data are 1000 bytes where the format has any.
    std::string stg() const { return file("chain.stg", "2\n0 0 0\n1 5 1 0\n2 3 1 1\n3 0 1 2\n"); }
    std::string weights() const {
        return file("weights.dot", "digraph g {\na [Weight=5];\nb [Weight=3];\na -> b [Weight=1000];\n}\n");
    }
    std::string sizes() const {
        return file("sizes.dot", "digraph g {\na [size=5e9];\nb [size=3e9];\na -> b [size=1000];\n}\n");
    }
    std::string dax() const {
        return file("flow.dax",
                    "<adag>\n<job id=\"a\" name=\"x\" runtime=\"5\"><uses file=\"f\" link=\"output\" "
                    "size=\"1000\"/></job>\n<job id=\"b\" name=\"x\" runtime=\"3\"><uses file=\"f\" "
                    "link=\"input\" size=\"1000\"/></job>\n</adag>\n");
    }
    std::string wfformat() const {
        return file(
            "flow.json",
            "{\"workflow\": {\"tasks\": [\n{\"name\": \"a\", \"runtimeInSeconds\": 5, \"files\": "
            "[{\"link\": \"output\", \"name\": \"f\", \"sizeInBytes\": 1000}]},\n{\"name\": \"b\", "
            "\"runtimeInSeconds\": 3, \"parents\": [\"a\"], \"files\": [{\"link\": \"input\", \"name\": "
            "\"f\", \"sizeInBytes\": 1000}]}]}}");
    }
    std::string own(const std::string& seconds) const {
        return file("own_" + seconds + ".json",
                    "{\"heddle_graph\": 1, \"in_seconds\": " + seconds +
                        ",\n\"tasks\": [{\"flops\": 5, \"name\": \"a\"}, {\"flops\": 3, \"name\": \"b\"}],\n"
                        "\"edges\": [[0, 1, 1000]]}\n");
    }

    /// An experiment on cores of 4 Gf, without anything that costs time but work and messages.
    std::string experiment(const std::string& graph, const std::string& more = "") const {
        return file("dag.yaml", "workload: {name: dag, graph: '" + graph + "'" + more +
                                    "}\nplatform: {nodes: 2, core_speed: 4Gf, overheads: none, network: "
                                    "{contention: none}}\n"
                                    "schedule: {placement: serial, stealing: none}\nbackend: sim\n");
    }
};

#ifdef HEDDLE_SIM
TEST_F(Units, ScheduleAndRunReadTheSameWorkFromEveryFormat) {
    const std::vector<std::pair<std::string, double>> cases = {
        {stg(), 8 * 1e9 / 4e9}, {weights(), 8 * 1e9 / 4e9}, {sizes(), 2},         {dax(), 8},
        {wfformat(), 8},        {own("true"), 8},           {own("false"), 2e-9},
    };
    for (const auto& [graph, seconds] : cases) {
        SCOPED_TRACE(graph);
        const std::string yaml = experiment(graph);
        const json run = parsed({"run", yaml, "--json"});
        const json schedule =
            parsed({"schedule", graph, "--scheduler", "serial", "--platform", yaml, "--json"});
        EXPECT_DOUBLE_EQ(schedule["makespan"].get<double>(), seconds);
        EXPECT_DOUBLE_EQ(run["makespan_seconds"].get<double>(), seconds);
        EXPECT_EQ(schedule["makespan"], run["promised_seconds"]);
        EXPECT_EQ(schedule["lower_bound"], run["lower_bound_seconds"]);
    }
}

TEST_F(Units, TheTimeUnitOfAnExperimentHoldsForBothVerbs) {
    for (const std::string& graph : {stg(), dax(), own("false")}) {
        SCOPED_TRACE(graph);
        const std::string yaml = experiment(graph, ", time_unit: 2Gf, bytes_unit: 1MB");
        const json run = parsed({"run", yaml, "--json"});
        const json schedule =
            parsed({"schedule", graph, "--scheduler", "serial", "--platform", yaml, "--json"});
        EXPECT_DOUBLE_EQ(schedule["makespan"].get<double>(), 8 * 2e9 / 4e9);
        EXPECT_EQ(schedule["makespan"], run["promised_seconds"]);
        // The command line comes first, and --set stands for the experiment's own.
        EXPECT_DOUBLE_EQ(parsed({"schedule", graph, "--scheduler", "serial", "--platform", yaml,
                                 "--time-unit", "1Gf", "--json"})["makespan"],
                         2);
        EXPECT_DOUBLE_EQ(parsed({"schedule", graph, "--scheduler", "serial", "--platform", yaml, "--set",
                                 "workload.time_unit=4Gf", "--json"})["makespan"],
                         8);
    }
}
#endif

TEST_F(Units, AFileInSecondsAssumesANetworkAndSaysSo) {
    // Two independent chains would hide the message: one chain on two processors costs 5 + message + 3.
    const Said said = heddle({"schedule", wfformat(), "--scheduler", "serial,random", "--procs", "2"});
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_THAT(said.out, AllOf(HasSubstr("a message takes 2 us and its bytes at 100Gbps (assumed; "),
                                HasSubstr("serial          8 s")));
    const json plain = parsed({"schedule", wfformat(), "--scheduler", "heft", "--procs", "2", "--json"});
    EXPECT_EQ(plain["in_seconds"], true);
    EXPECT_EQ(plain["machine"]["network_assumed"], true);
    EXPECT_DOUBLE_EQ(plain["machine"]["between_nodes"]["latency"], 2e-6);
    EXPECT_DOUBLE_EQ(plain["machine"]["between_nodes"]["time_per_byte"], 1 / 12.5e9);
    const json told =
        parsed({"schedule", wfformat(), "--scheduler", "heft", "--procs", "2", "--bytes-as-time", "--json"});
    EXPECT_EQ(told["machine"]["between_nodes"]["time_per_byte"], 1);
    EXPECT_EQ(told["machine"]["network_assumed"], false);
    // A second stays one on a core of any speed.
    EXPECT_DOUBLE_EQ(parsed({"schedule", dax(), "--scheduler", "heft", "--procs", "2", "--core-speed", "7Gf",
                             "--json"})["makespan"],
                     8);
}

TEST_F(Units, AnAssumedNetworkIsStillOneWhenTheScheduleIsRead) {
    const std::string out = folder / "assumed.json";
    ASSERT_EQ(heddle({"schedule", dax(), "--scheduler", "heft", "--procs", "2", "--out", out}).code, 0);
    EXPECT_THAT(heddle({"schedule", dax(), "--read", out}).out, HasSubstr("(assumed; "));
    EXPECT_EQ(parsed({"schedule", dax(), "--read", out, "--json"})["machine"]["network_assumed"], true);
}

TEST_F(Units, AnAbstractUnitIsAUnitOfTimeWithoutSpeedsAndAGigaflopWithThem) {
    const json abstract = parsed({"schedule", weights(), "--scheduler", "serial", "--procs", "2", "--json"});
    EXPECT_EQ(abstract["makespan"], 8);
    EXPECT_EQ(abstract["in_seconds"], false);
    EXPECT_DOUBLE_EQ(parsed({"schedule", weights(), "--scheduler", "serial", "--procs", "2", "--core-speed",
                             "4Gf", "--json"})["makespan"],
                     2);
}

TEST_F(Units, AScheduleOfAFileInSecondsReadsBack) {
    const std::string out = folder / "s.json";
    EXPECT_EQ(heddle({"schedule", dax(), "--core-speed", "2Gf", "--procs", "2", "--out", out}).code, 0);
    const json again = parsed({"schedule", dax(), "--read", out, "--json"});
    EXPECT_EQ(again["feasible"], true);
    EXPECT_DOUBLE_EQ(again["makespan"], 8);
}

TEST_F(Units, ScheduleAloneChoosesAFastSchedulerAndAnyNumberOfProcessors) {
    const Said said = heddle({"schedule", weights()});
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_THAT(said.out, AllOf(HasSubstr("any number of processors"), HasSubstr("\nheft")));
}

TEST_F(Units, WeightsWhoseSumLeavesTheRangeOfNumbersAreRefused) {
    const std::string tasks =
        file("tasks.dot", "digraph g {\na [Weight=1e308];\nb [Weight=1e308];\na -> b [Weight=1];\n}\n");
    const std::string edges = file("edges.dot",
                                   "digraph g {\na [Weight=1];\nb [Weight=1];\nc [Weight=1];\na -> b "
                                   "[Weight=1e308];\nb -> c [Weight=1e308];\n}\n");
    for (const std::string& graph : {tasks, edges}) {
        for (const std::string& verb : {std::string("schedule"), std::string("partition")}) {
            const Said said = verb == "schedule"
                                  ? heddle({verb, graph, "--procs", "2"})
                                  : heddle({verb, graph, "--partitioner", "block", "--parts", "2"});
            EXPECT_EQ(said.code, 2) << said.out;
            EXPECT_THAT(said.err, AllOf(HasSubstr(graph), HasSubstr("beyond the range of numbers")));
        }
    }
}

}  // namespace
}  // namespace heddle::testing_cli
