// Tests that simulated runs take exactly what their schedules promise, for any speeds of cores and network.
#include "tests/sim_promises.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/cli_testing.hpp"

namespace heddle::testing_promises {
namespace {

using nlohmann::json;

class Promises : public testing_cli::Folder {
protected:
    void expect_kept_everywhere(const std::string& source, const std::vector<std::string>& names) const {
        const graphs::GraphFile graph = graphs::load_graph(source);
        for (const NamedPlatform& platform : platforms(folder)) {
            for (const std::string& name : names) expect_kept(source, graph, platform, name);
        }
    }

    static std::vector<std::string> fast() {
        std::vector<std::string> names;
        for (const std::string& name : schedulers::names()) {
            if (name != "portfolio") names.push_back(name);
        }
        return names;
    }
};

TEST_F(Promises, GeneratedGraphsTakeTheirPromiseUnderEveryScheduler) {
    expect_kept_everywhere("layered:tasks=60,width=7,flops=3Mf,bytes=70kB,spread=0.9", fast());
    expect_kept_everywhere("cholesky:tiles=4,tile_size=100", fast());
}

TEST_F(Promises, SmallGraphsTakeTheirPromiseUnderThePortfolio) {
    expect_kept_everywhere("fork_join:width=4,stages=1,flops=3Mf,bytes=70kB,spread=0.9", {"portfolio"});
}

TEST_F(Promises, CostsOnEachProcessorAreKeptBesideSpeeds) {
    expect_kept_everywhere("topcuoglu:tasks=40,processors=3,mean=0.001,ccr=1e8", fast());
    expect_kept_everywhere("topcuoglu:tasks=40,processors=8,mean=0.001,ccr=1e9,alpha=2", fast());
}

TEST_F(Promises, TheTwoVerbsPrintOneNumber) {
    const std::string graph = "layered:tasks=50,width=6,flops=3Mf,bytes=70kB,spread=0.9";
    for (const NamedPlatform& platform : platforms(folder)) {
        SCOPED_TRACE(platform.name);
        const std::string yaml =
            file("dag.yaml", "workload: {name: dag, graph: '" + graph + "'}\nplatform: {" + platform.yaml +
                                 "}\nschedule: {stealing: none}\nbackend: sim\n");
        for (const std::string name : {"heft", "dsc", "random"}) {
            SCOPED_TRACE(name);
            const auto scheduled =
                testing_cli::heddle({"schedule", graph, "--scheduler", name, "--platform", yaml, "--json"});
            const auto ran =
                testing_cli::heddle({"run", yaml, "--set", "schedule.placement=" + name, "--json"});
            ASSERT_EQ(scheduled.code, 0) << scheduled.err;
            ASSERT_EQ(ran.code, 0) << ran.err;
            const json schedule = json::parse(scheduled.out), run = json::parse(ran.out);
            EXPECT_EQ(schedule["feasible"], true);
            EXPECT_EQ(schedule["makespan"], run["makespan_seconds"]);
            EXPECT_EQ(schedule["makespan"], run["promised_seconds"]);
            // The run adds up what its tasks declared, each rounded to a picosecond.
            EXPECT_NEAR(schedule["lower_bound"].get<double>(), run["lower_bound_seconds"].get<double>(),
                        1e-10);
            // What was written is read back on the same machine.
            const std::string out = file("s.json", scheduled.out);
            const auto again = testing_cli::heddle({"schedule", graph, "--read", out, "--json"});
            EXPECT_EQ(again.code, 0) << again.err;
            EXPECT_EQ(json::parse(again.out)["makespan"], schedule["makespan"]);
        }
    }
}

TEST_F(Promises, HeftPutsTwoTasksOnTheFastNode) {
    // Two tasks of a second on speeds 1 and 0.1: both on the fast node take 2 s, one on each 10 s.
    const std::string yaml = file(
        "slow.yaml",
        "workload: {name: dag, graph: 'fork_join:width=2,stages=1,flops=1Gf,bytes=0'}\n"
        "platform: {nodes: 2, cores: 1, core_speed: 1Gf, node_speeds: [1, 0.1], overheads: none, network: "
        "{contention: none}}\nschedule: {placement: heft, stealing: none}\nbackend: sim\n");
    const auto ran = testing_cli::heddle({"run", yaml, "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(json::parse(ran.out)["makespan_seconds"], 4);  // fork, two tasks, join
}

TEST_F(Promises, ATaskThatOutlastsVirtualTimeIsRefusedByName) {
    // The second task takes 2e16 flops at 1 Gf: 2e7 s, and virtual time ends after 9.2e6 s.
    const std::string graph = file("long.json", R"({"heddle_graph": 1, "tasks": [{"name": "short",
        "flops": 1}, {"name": "endless", "flops": 2e16}], "edges": []})");
    const std::string yaml =
        file("long.yaml", "workload: {name: dag, graph: '" + graph +
                              "'}\nplatform: {nodes: 2, cores: 1, core_speed: 1Gf, overheads: none}\n"
                              "schedule: {placement: heft, stealing: none}\nbackend: sim\n");
    const auto scheduled =
        testing_cli::heddle({"schedule", graph, "--scheduler", "heft", "--platform", yaml});
    const auto ran = testing_cli::heddle({"run", yaml});
    for (const auto& refused : {scheduled, ran}) {
        EXPECT_EQ(refused.code, 2);
        EXPECT_NE(refused.err.find("endless takes 20000000 s on processor 0"), std::string::npos)
            << refused.err;
    }
}

TEST_F(Promises, ASumBeyondVirtualTimeIsRefused) {
    // 92 tasks of 1e5 s end at 9.2e6 s on a core, 93 after the last moment.
    const auto run = [&](int tasks) {
        const std::string yaml = file("bag.yaml", "workload: {name: bag, tasks: " + std::to_string(tasks) +
                                                      ", task_cost: 1Pf}\n"
                                                      "platform: {nodes: 1, cores: 1, core_speed: 10Gf, "
                                                      "overheads: none}\nbackend: sim\n");
        return testing_cli::heddle({"run", yaml, "--json"});
    };
    EXPECT_EQ(json::parse(run(92).out)["makespan_seconds"], 9.2e6);
    const auto refused = run(93);
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("virtual time passes 106 days"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace heddle::testing_promises
