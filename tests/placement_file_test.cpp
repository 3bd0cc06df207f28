// Tests placements that a file states: the table of any schedule gives the same schedule back, and tables
// that are no placement are refused.
#include "partitioners/placement_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "partitioners/place_graph.hpp"
#include "tests/cli_testing.hpp"

namespace heddle::partitioners {
namespace {

using testing::HasSubstr;

class PlacementFile : public testing_cli::Folder {
protected:
    std::string write(const std::string& text) const { return file("placement.csv", text); }
    /// a -> b -> d, a -> c -> d
    static TaskGraph diamond() {
        TaskGraphBuilder builder;
        for (const char* name : {"a", "b", "c", "d"}) builder.add_task(1, name);
        for (const auto& [from, to] : {std::pair{0U, 1U}, {0U, 2U}, {1U, 3U}, {2U, 3U}})
            builder.add_edge(from, to, 1);
        return builder.build();
    }
    std::string refused(const std::string& text) const {
        try {
            read_placement(write(text), diamond(), {2, 2});
        } catch (const Error& error) {
            return error.what();
        }
        return "it was read";
    }
};

TEST_F(PlacementFile, NamesAndNumbersAreTasks) {
    const StatedPlacement read = read_placement(
        write("worker,task,node,flops\n1,d,1,5\n0,a,0,\n,,,\n0,1,0,\n1,c,0,\n"), diamond(), {2, 2});
    EXPECT_EQ(read.placement.of(0), (WorkerId{0, 0}));
    EXPECT_EQ(read.placement.of(1), (WorkerId{0, 0}));
    EXPECT_EQ(read.placement.of(2), (WorkerId{0, 1}));
    EXPECT_EQ(read.placement.of(3), (WorkerId{1, 1}));
    EXPECT_EQ(read.sequence, (std::vector<TaskIndex>{0, 1, 2, 3}));
}

/// 2 -> 0 -> 3, 2 -> 1 -> 3 in the order in which DOT files often name tasks; or all tasks of one name.
TaskGraph named(const std::vector<std::string>& names) {
    TaskGraphBuilder builder;
    for (const std::string& name : names) builder.add_task(1, name);
    for (const auto& [from, to] : {std::pair{0U, 1U}, {0U, 2U}, {1U, 3U}, {2U, 3U}})
        builder.add_edge(from, to, 1);
    return builder.build();
}

// `heddle run --tasks` writes the number into `task`, and the name into `name`.
TEST_F(PlacementFile, NamesThatAreNumbersAreReadAsTheTableMeansThem) {
    const TaskGraph graph = named({"2", "0", "1", "3"});
    const StatedPlacement written =
        read_placement(write("task,name,node,worker\n0,2,0,0\n1,0,1,0\n2,1,0,1\n3,3,1,1\n"), graph, {2, 2});
    EXPECT_EQ(written.sequence, (std::vector<TaskIndex>{0, 1, 2, 3}));
    EXPECT_EQ(written.placement.of(1), (WorkerId{1, 0}));
    EXPECT_EQ(written.placement.of(2), (WorkerId{0, 1}));
    const StatedPlacement own =
        read_placement(write("task,node,worker\n2,0,0\n0,1,0\n1,0,1\n3,1,1\n"), graph, {2, 2});
    EXPECT_EQ(own.sequence, written.sequence);
    EXPECT_EQ(own.placement.of(1), (WorkerId{1, 0}));
    EXPECT_EQ(read_placement(write("name,task,node,worker\n,0,0,0\n,2,0,0\n,1,0,1\n,3,0,1\n"),
                             named({"a", "b", "c", "d"}), {1, 2})
                  .placement.of(3),
              (WorkerId{0, 1}));
}

TEST_F(PlacementFile, ANameOfTwoTasksIsRefused) {
    const TaskGraph graph = named({"a", "b", "b", "d"});
    const auto read = [&](const std::string& text) { return read_placement(write(text), graph, {1, 1}); };
    try {
        read("task,node,worker\na,0,0\nb,0,0\n2,0,0\nd,0,0\n");
        FAIL() << "it was read";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("placement.csv:3: two tasks are called \"b\""));
    }
    EXPECT_NO_THROW(read("task,node,worker\na,0,0\n1,0,0\n2,0,0\nd,0,0\n"));
}

TEST_F(PlacementFile, AByteOrderMarkIsNoPartOfAName) {
    const std::string table = "\xEF\xBB\xBFtask,node,worker\na,1,1\nb,0,0\nc,0,0\nd,0,0\n";
    EXPECT_EQ(read_placement(write(table), diamond(), {2, 2}).placement.of(0), (WorkerId{1, 1}));
}

// Rows in any order: their times count.
TEST_F(PlacementFile, WorkersRunTheirTasksByStart) {
    const StatedPlacement read = read_placement(
        write("task,node,worker,start_seconds\nd,0,0,3\nb,0,0,2\nc,0,0,1\na,0,0,0.5\n"), diamond(), {2, 2});
    EXPECT_EQ(read.sequence, (std::vector<TaskIndex>{0, 2, 1, 3}));
}

TEST_F(PlacementFile, OtherTablesAreRefused) {
    EXPECT_THAT(refused("task,node\na,0\n"), HasSubstr("placement.csv:1: no column \"worker\""));
    EXPECT_THAT(refused(""), HasSubstr("no column \"task\""));
    try {
        read_placement("tasks.csv.gz", diamond(), {2, 2});
        ADD_FAILURE() << "it was read";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("gunzip"));
    }
    EXPECT_THAT(refused("task,node,worker\na,0,0\ne,0,0\n"),
                HasSubstr("placement.csv:3: the graph has no task \"e\""));
    EXPECT_THAT(refused("task,node,worker\na,0,0\n4,0,0\n"), HasSubstr("the graph has no task \"4\""));
    EXPECT_THAT(refused("task,node,worker\na,0,0\n0,0,0\n"),
                HasSubstr("placement.csv:3: task \"0\" is placed again"));
    EXPECT_THAT(refused("task,node,worker\na,0,2\n"), HasSubstr("there is no worker 2 of node 0"));
    EXPECT_THAT(refused("task,node,worker\na,-1,0\n"), HasSubstr("the node \"-1\" is no whole number"));
    EXPECT_THAT(refused("task,node,worker\na,0,x\n"),
                HasSubstr("csv:2: the worker \"x\" is no whole number"));
    EXPECT_THAT(refused("task,node,worker\na,0,0\nb,0,0\nd,0,0\n"),
                HasSubstr("1 of 4 tasks are not placed, the first one is \"c\""));
    EXPECT_THAT(refused("task,node,worker,start_seconds\na,0,0,soon\n"),
                HasSubstr("\"soon\" is no time in seconds"));
    EXPECT_THAT(refused("task,node,worker,start_seconds\na,0,0,nan\n"),
                HasSubstr("\"nan\" is no time in seconds"));
    EXPECT_THAT(refused("task,node,worker\na,0,0,1\n"), HasSubstr("placement.csv"));
}

// b waits for a in the graph, a for b on its worker; with two workers in a circle.
TEST_F(PlacementFile, TasksThatWaitForEachOtherAreRefused) {
    EXPECT_THAT(refused("task,node,worker\nb,0,0\na,0,0\nc,1,0\nd,1,0\n"),
                HasSubstr("placement.csv:2: 4 tasks wait for each other, the first one is \"b\""));
    EXPECT_THAT(refused("task,node,worker\na,0,0\nd,0,1\nb,0,1\nc,1,0\n"),
                HasSubstr("2 tasks wait for each other, the first one is \"d\""));
}

// Of list schedulers and partitioners, on 200 random graphs: workers, orders and the promise are the same.
TEST_F(PlacementFile, TheTableOfASchedulesGivesItBack) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        TaskGraphBuilder builder;
        const auto tasks = static_cast<TaskIndex>(1 + random.below(60));
        for (TaskIndex task = 0; task < tasks; ++task) {
            builder.add_task(static_cast<double>(1 + random.below(1000)) * 1e3);
            for (TaskIndex other = 0; other < task; ++other)
                if (random.below(8) == 0)
                    builder.add_edge(other, task, static_cast<double>(random.below(10'000)));
        }
        const TaskGraph graph = builder.build();
        const WorkerGrid grid{static_cast<NodeId>(1 + random.below(4)),
                              static_cast<CoreId>(1 + random.below(3))};
        const ClusterView cluster{grid, 1e9, 2e-6, 1e-9};
        for (const char* name : {"heft", "dsc", "etf", "metis", "cyclic"}) {
            const PlacedTasks placed = place_graph(name, {&graph}, cluster, seed);
            std::string text = "task,node,worker\n";
            for (const TaskIndex task : placed.sequence)
                text += fmt::format("{},{},{}\n", task, placed.placement.of(task).node,
                                    placed.placement.of(task).core);
            GraphToPlace what{&graph};
            what.file = write(text);
            const PlacedTasks again = place_graph("file", what, cluster, seed);
            ASSERT_EQ(again.sequence, placed.sequence) << name << ", seed " << seed;
            ASSERT_EQ(again.makespan_seconds, placed.makespan_seconds) << name << ", seed " << seed;
        }
    }
}

}  // namespace
}  // namespace heddle::partitioners
