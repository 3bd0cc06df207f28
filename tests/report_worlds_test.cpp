// Tests which simulated and native runs a report compares with each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/sections.hpp"
#include "report/world_pairs.hpp"

namespace heddle::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Runs of fib on a node of one core, all of which have SimGrid's id only in simulation.
class ReportWorlds : public ::testing::Test {
protected:
    ReportWorlds() {
        runs.columns = {"workload_name",  "backend",    "platform_nodes",
                        "platform_cores", "program_id", "files_id"};
        runs.configuration = {"workload_name", "backend", "platform_nodes", "platform_cores"};
    }

    report::Run& add(const std::string& backend, const std::string& program,
                     const std::string& directory = "out") {
        report::Run run{directory, "c" + std::to_string(runs.all.size()), {}, {}, {}, {}, {}, {}};
        run.values = {{"workload_name", "fib"},         {"backend", backend},    {"ok", "true"},
                      {"makespan_seconds", "2"},        {"platform_nodes", "1"}, {"platform_cores", "1"},
                      {"program_id", program + backend}};
        run.program = {{"program", program}};
        if (backend == "sim") run.program["simgrid"] = "3.32";
        runs.all.push_back(run);
        return runs.all.back();
    }
    void set(report::Run& run, const std::string& column, const std::string& value) {
        if (runs.configuration.insert(column).second) runs.columns.push_back(column);
        run.values[column] = value;
    }
    /// Of the cells, `simulated native`.
    std::vector<std::string> pairs() const {
        const Design design = design_of(runs);
        const auto cell = [&](std::size_t combination) {
            return runs.all[design.combinations[combination].runs.front()].cell;
        };
        std::vector<std::string> found;
        for (const WorldPair& pair : world_pairs(runs, design).pairs)
            found.push_back(cell(pair.simulated) + " " + cell(pair.native));
        std::sort(found.begin(), found.end());
        return found;
    }
    std::string page() const {
        const Design design = design_of(runs);
        const Findings findings = find_out(runs, design, {});
        Page page;
        add_worlds(page, {runs, design, findings});
        return page.html("title", "");
    }

    Runs runs;
};

TEST_F(ReportWorlds, OfTwoProgramsArePairedWithinEach) {
    for (const char* program : {"p", "q"})
        for (const char* world : {"sim", "native"}) add(world, program);
    EXPECT_THAT(pairs(), ElementsAre("c0 c1", "c2 c3"));
    EXPECT_THAT(page(), HasSubstr("of the native one in 0 of 2 configurations"));
    EXPECT_THAT(page(), HasSubstr("program psim / pnative"));
}

TEST_F(ReportWorlds, OfDifferentProgramsAreNotComparedAndThatIsSaid) {
    add("sim", "p");
    add("native", "q");
    EXPECT_THAT(pairs(), IsEmpty());
    EXPECT_THAT(page(), HasSubstr("1 configuration ran natively, and in simulation only by another program"));
    EXPECT_THAT(page(), Not(HasSubstr("worlds-table")));
}

TEST_F(ReportWorlds, MayDifferInKeysThatOneWorldHasNoUseFor) {
    set(add("sim", "p"), "platform_network_latency", "1e-06");
    set(add("sim", "p"), "platform_network_latency", "2e-06");
    set(add("native", "p"), "transport_window", "65536");
    EXPECT_THAT(pairs(), ElementsAre("c0 c2", "c1 c2"));
    EXPECT_THAT(page(), HasSubstr("platform.network.latency 2 us"));
    // If the native run states it, it counts.
    set(runs.all[2], "platform_network_latency", "2e-06");
    EXPECT_THAT(pairs(), ElementsAre("c1 c2"));
}

TEST_F(ReportWorlds, OnOtherCoresAreOtherConfigurations) {
    add("sim", "p");
    set(add("native", "p"), "platform_cores", "4");
    EXPECT_THAT(pairs(), IsEmpty());
}

TEST_F(ReportWorlds, MustHaveReadTheSameFilesButForThePlatform) {
    for (const char* graph : {"g", "h"}) {
        for (const char* world : {"sim", "native"}) {
            auto& run = add(world, "p");
            run.files["workload.graph"] = graph;
            if (world == std::string("sim")) run.files["platform.file"] = "x";
            run.values["files_id"] = graph + run.value("backend");
        }
    }
    EXPECT_THAT(pairs(), ElementsAre("c0 c1", "c2 c3"));
}

TEST_F(ReportWorlds, WhoseJsonIsLostArePairedIfAllHaveOneProgram) {
    add("sim", "p").program.clear();
    add("native", "p").program.clear();
    EXPECT_THAT(pairs(), ElementsAre("c0 c1"));
    add("native", "q").program.clear();
    EXPECT_THAT(pairs(), IsEmpty());
}

TEST_F(ReportWorlds, ArePairedWithinADirectoryIfItHasBoth) {
    add("sim", "p", "a");
    add("native", "p", "b");
    add("native", "p", "c");
    EXPECT_THAT(pairs(), ElementsAre("c0 c1", "c0 c2"));
    add("sim", "p", "b");
    add("sim", "p", "c");
    EXPECT_THAT(pairs(), ElementsAre("c0 c1", "c0 c2", "c3 c1", "c4 c2"));
    add("native", "p", "a");
    EXPECT_THAT(pairs(), ElementsAre("c0 c5", "c3 c1", "c4 c2"));
}

}  // namespace
}  // namespace heddle::report
