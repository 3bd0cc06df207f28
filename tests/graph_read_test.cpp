// Tests that each graph format is recognized, and that its content arrives: work, bytes, names, kernels,
// costs and units.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "graphs/generators/generator.hpp"
#include "graphs/graph_file.hpp"
#include "graphs/kernel_costs.hpp"
#include "graphs/source_text.hpp"

namespace heddle::graphs {
namespace {

class ReadGraph : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name, std::ios::binary) << text;
        return (folder_ / name).string();
    }
    GraphFile read(const std::string& name, const std::string& text, const ReadOptions& options = {}) const {
        return read_task_graph(file(name, text), options);
    }

    const std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / ("graph_read_" + std::to_string(getpid()));
};

/// A graph in words: `a 2 -> b 8, c 9; ...`.
std::string in_words(const TaskGraph& graph) {
    std::string words;
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        words += (task == 0 ? "" : "; ") + graph.name(task) + " " +
                 std::to_string(static_cast<long>(graph.flops(task)));
        std::string separator = " -> ";
        for (const TaskGraph::Link& link : graph.successors(task)) {
            words += separator + graph.name(link.task) + " " + std::to_string(static_cast<long>(link.bytes));
            separator = ", ";
        }
    }
    return words;
}

TEST_F(ReadGraph, StgHasWorkAndNoBytes) {
    const std::string text = "2\r\n0 0 0\r\n1 5 1 0\n\n2 7 2 0 1\n 3 0 2 1 2 \n# end\n";
    EXPECT_EQ(
        in_words(read("a.stg", text).graph),
        "task 0 0 -> task 1 0, task 2 0; task 1 5 -> task 2 0, task 3 0; task 2 7 -> task 3 0; task 3 0");
    // In some files the first line counts the dummies too.
    EXPECT_EQ(read("b.stg", "3\n0 0 0\n1 5 1 0\n2 0 1 1\n").graph.tasks(), 3U);
    EXPECT_EQ(read("c.stg",
                   "\xEF\xBB\xBF"
                   "3\n0 0 0\n1 5 1 0\n2 0 1 1\n")
                  .graph.tasks(),
              3U);
}

TEST_F(ReadGraph, DotHasNamesWeightsChainsAndComments) {
    const std::string text =
        "/* two\nlines */ strict DiGraph \"a b\" {\n# comment\n rankdir=LR; node [shape=box];\n"
        "  a [Weight=2, Start=0]; \"b c\" [label=\"x\\\"y\", Weight=\"3\"] // end\n c [Weight=1.5e1] "
        "[color=red]\n"
        "  a -> \"b c\" -> c [Weight=8]; edge [color=blue]; a -> c [ weight = 9 ]\n}\n";
    EXPECT_EQ(in_words(read("a.dot", text).graph), "a 2 -> b c 8, c 9; b c 3 -> c 8; c 15");
}

TEST_F(ReadGraph, AStrictDotHasOneEdgeAPairWithTheLastWeight) {
    const std::string tasks = "{ a[Weight=1]; b[Weight=1]; c[Weight=1];\n";
    const std::string edges = "a->b[Weight=5]; a->b->c[Weight=7]; a->b[color=red]; a->c[Weight=1]; }";
    EXPECT_EQ(in_words(read("a.dot", "strict digraph " + tasks + edges).graph),
              "a 1 -> b 7, c 1; b 1 -> c 7; c 1");
    EXPECT_EQ(read("b.dot", "strict digraph { a[Weight=1]; b[Weight=1]; a->b[Weight=5]; a->b[Weight=5]; }")
                  .graph.successors(0)
                  .size(),
              1U);
    // In any other graph two edges are two messages, each with a weight.
    EXPECT_EQ(read("c.dot", "digraph " + tasks + "a->b[Weight=5]; a->b[Weight=7]; }").graph.edges(), 2U);
    EXPECT_THROW(read("d.dot", "digraph " + tasks + edges), Error);
    EXPECT_THROW(read("e.dot", "strict digraph " + tasks + "a->b; a->b; }"), Error);
}

TEST_F(ReadGraph, SimgridsDotHasSizesAndItsTwoImpliedTasks) {
    EXPECT_EQ(
        in_words(read("a.dot",
                      "digraph G {\na [size=\"1e3\"];\nb [size=\"5\"];\nroot -> a;\na->b [size=\"-1.\"];\n"
                      "b->end [size=\"2e2\" category=\"x\"];\n}")
                     .graph),
        "a 1000 -> b 0; b 5 -> end 200; root 0 -> a 0; end 0");
}

// As Graphviz: a port says where in the drawing an edge ends, and attributes of the graph are no weights.
TEST_F(ReadGraph, DotPortsAndAttributesOfTheGraphChangeNoWeight) {
    EXPECT_EQ(in_words(read("a.dot", "digraph { a [size=1e9]; b [size=2e9]; a -> b:n [size=1000]; }").graph),
              "a 1000000000 -> b 1000; b 2000000000");
    const std::string text =
        "digraph { graph [size=\"7,5\", weight=x, rankdir=LR]; size=\"7,5\";\n"
        "a:p:e [Weight=1]; b [Weight=2]; c [Weight=3]; a:e -> b:\"a port\":w -> c:p [Weight=4]; }";
    EXPECT_EQ(in_words(read("b.dot", text).graph), "a 1 -> b 4; b 2 -> c 4; c 3");
}

TEST_F(ReadGraph, DaxHasRuntimesKernelsAndTheFilesBetweenJobs) {
    const std::string text =
        "<?xml version=\"1.0\"?>\n<adag xmlns=\"http://pegasus.isi.edu/schema/DAX\">\n"
        "<job id=\"1\" name=\"make\" runtime=\"10\">"
        "<uses file=\"f\" link=\"output\" size=\"100\"/><uses file=\"g\" link=\"output\" "
        "size=\"20\"/></job>\n"
        "<job id=\"2\" name=\"use\" runtime=\"20\"><uses file=\"f\" link=\"input\" size=\"100\"/>"
        "<uses file=\"g\" link=\"input\" size=\"20\"/><uses file=\"h\" link=\"inout\" size=\"3\"/></job>\n"
        "<job id=\"3\" name=\"use\" runtime=\"30\"><uses file=\"h\" link=\"input\"/></job>\n"
        "<child ref=\"2\"><parent ref=\"1\"/></child><child ref=\"3\"><parent ref=\"1\"/></child></adag>";
    const GraphFile read_file = read("a.xml", text);
    EXPECT_EQ(in_words(read_file.graph), "1 10 -> 2 120, 3 0; 2 20 -> 3 3; 3 30");
    EXPECT_THAT(read_file.kernels, testing::ElementsAre("make", "use"));
    EXPECT_THAT(read_file.kernel_of, testing::ElementsAre(0, 1, 1));
    EXPECT_EQ(read_file.unit, WorkUnit::seconds);
    // Units: a second is 1000 flops here, a byte counts double.
    EXPECT_EQ(in_words(read("b.xml", text, {{}, 1000, 2}).graph),
              "1 10000 -> 2 240, 3 0; 2 20000 -> 3 6; 3 30000");
}

TEST_F(ReadGraph, WfFormat15KeepsSpecificationAndExecutionApart) {
    const GraphFile wf = read("a.json", R"({"name": "w", "schemaVersion": "1.5", "workflow": {
        "specification": {"tasks": [
            {"name": "split", "id": "t1", "parents": [], "children": ["t2"], "inputFiles": [], "outputFiles": ["f", "g"]},
            {"name": "count", "id": "t2", "parents": ["t1"], "children": [], "inputFiles": ["g", "f"], "outputFiles": []}],
          "files": [{"id": "f", "sizeInBytes": 100}, {"id": "g", "sizeInBytes": 11}]},
        "execution": {"makespanInSeconds": 9, "tasks": [
            {"id": "t2", "runtimeInSeconds": 4, "command": {"program": "wc"}},
            {"id": "t1", "runtimeInSeconds": 3.0, "command": {"program": "split"}}]}}})");
    EXPECT_EQ(in_words(wf.graph), "t1 3 -> t2 111; t2 4");
    EXPECT_THAT(wf.kernels, testing::ElementsAre("split", "wc"));
}

TEST_F(ReadGraph, WfFormat14HasTheFilesOfEachTask) {
    // The shape of schema 1.4: parents by identifier or by name, files with link and size.
    const GraphFile wf = read("a.json", R"({"schemaVersion": "1.4", "workflow": {"tasks": [
        {"name": "split", "id": "7", "type": "compute", "runtimeInSeconds": 3, "children": ["count"], "category": "s",
         "files": [{"link": "output", "name": "f", "sizeInBytes": 100}]},
        {"name": "count", "id": "8", "type": "compute", "runtimeInSeconds": 4, "parents": ["7"], "command": {"program": "wc"},
         "files": [{"link": "input", "name": "f", "sizeInBytes": 100}]}]}})");
    EXPECT_EQ(in_words(wf.graph), "7 3 -> 8 100; 8 4");
    EXPECT_THAT(wf.kernels, testing::ElementsAre("s", "wc"));
    // Schema 1.0 to 1.2: jobs, runtime, size.
    EXPECT_EQ(in_words(read("b.json", R"({"workflow": {"jobs": [
        {"name": "a", "runtime": 3, "files": [{"link": "output", "name": "f", "size": 5}]},
        {"name": "b", "runtime": 4, "parents": ["a"], "files": [{"link": "input", "name": "f", "size": 5}]}]}})")
                           .graph),
              "a 3 -> b 5; b 4");
}

TEST_F(ReadGraph, SimgridsJsonTransfersBecomeEdges) {
    const GraphFile wf = read("a.json", R"({"workflow": {"tasks": [
        {"name": "a", "type": "compute", "parents": [], "runtimeInSeconds": 1e3},
        {"name": "t", "type": "transfer", "parents": ["a"], "writtenBytes": 5e2},
        {"name": "b", "type": "compute", "parents": ["t"], "runtimeInSeconds": 2},
        {"name": "c", "type": "compute", "parents": ["a", "b"], "runtimeInSeconds": 3}]}})");
    EXPECT_EQ(in_words(wf.graph), "a 1000 -> b 500, c 0; b 2 -> c 0; c 3");
    // What SimGrid's loader takes from it are flops.
    EXPECT_EQ(wf.unit, WorkUnit::flops);
    // The ends of a transfer may be stated twice, by identifier and by name, and are one.
    EXPECT_EQ(in_words(read("b.json", R"({"workflow": {"tasks": [
        {"name": "a", "id": "1", "type": "compute", "runtime": 5, "children": ["t"]},
        {"name": "t", "id": "2", "type": "transfer", "parents": ["1", "a"], "children": ["b"], "writtenBytes": 500},
        {"name": "b", "id": "3", "type": "compute", "parents": ["2"], "runtime": 6}]}})")
                           .graph),
              "1 5 -> 3 500; 3 6");
}

// Transfers with a runtime are WfFormat's own, of schema 1.0 to 1.4: tasks like others.
TEST_F(ReadGraph, WfFormatsTransfersAreTasks) {
    for (const std::string bytes : {"", "\"writtenBytes\": 5,"}) {
        const std::string transfer = R"("type": "transfer", "runtimeInSeconds": 100, )" + bytes;
        for (const bool by_name : {false, true}) {
            const auto ref = [by_name](const char* name, const char* id) {
                return std::string("[\"") + (by_name ? name : id) + "\"]";
            };
            const GraphFile wf = read(
                "a.json",
                R"({"schemaVersion": "1.4", "workflow": {"tasks": [{"name": "in", "id": "1", )" + transfer +
                    R"("parents": [], "children": )" + ref("a", "2") +
                    R"(}, {"name": "a", "id": "2", "type": "compute", "runtimeInSeconds": 2, "parents": )" +
                    ref("in", "1") + R"(, "children": )" + ref("b", "3") +
                    R"(}, {"name": "b", "id": "3", "type": "compute", "runtimeInSeconds": 3, "children": )" +
                    ref("out", "4") + R"(}, {"name": "out", "id": "4", )" + transfer + R"("parents": )" +
                    ref("b", "3") + "}]}}");
            EXPECT_EQ(in_words(wf.graph), "1 100 -> 2 0; 2 2 -> 3 0; 3 3 -> 4 0; 4 100");
            EXPECT_EQ(wf.graph.total_work(), 205);
            EXPECT_EQ(wf.unit, WorkUnit::seconds);
        }
    }
}

TEST_F(ReadGraph, HeterogeneousCostsStandBesideTheirMean) {
    const GraphFile hetero =
        read("a.dag", "#critical\n0.0\n#tasks\n0: 1.00, 3\n1: 4, 4.0\n#edges\n0:  0, 1, 18\n#end#");
    EXPECT_EQ(in_words(hetero.graph), "task 0 2 -> task 1 18; task 1 4");
    EXPECT_THAT(hetero.costs, testing::ElementsAre(testing::ElementsAre(1, 3), testing::ElementsAre(4, 4)));
    file("x_task_exe_time.csv", "TP,P0,P1\nT0,1,3\nT1,4,4");
    file("x_resource_BW.csv", "P,P0,P1\nP0,0,2\nP1,2,0\n");
    const GraphFile table = read("x_task_connectivity.csv", "T,T0,T1\nT0,0,36\nT1,0,0");
    EXPECT_EQ(in_words(table.graph), "T0 2 -> T1 18; T1 4");
    EXPECT_EQ(table.costs, hetero.costs);
    const GraphFile tgff =
        read("a.tgff",
             "@TASK_GRAPH 0 {\n APERIODIC\n TASK a TYPE 1\n TASK b TYPE 0\n ARC x FROM a TO b TYPE 18\n}\n"
             "@computation_cost 0 {\n# type version p1 p2\n 0 0 4 4\n 1 0 1 3\n}\n");
    EXPECT_EQ(in_words(tgff.graph), "a 2 -> b 18; b 4");
    EXPECT_EQ(tgff.costs, hetero.costs);
}

TEST_F(ReadGraph, RowsOfHeftTablesAreFoundByTheirNames) {
    file("a_task_exe_time.csv", "TP,P0,P1\nT_2,30,30\nT_0,1,3\nT_1,2,2\n");
    file("a_resource_BW.csv", "P,P0,P1\nP1,2,0\nP0,0,2\n");
    const GraphFile table = read("a_task_connectivity.csv", "T,T0,T1,T2\nT1,0,0,14\nT0,0,10,0\nT2,0,0,0\n");
    EXPECT_EQ(in_words(table.graph), "T0 2 -> T1 5; T1 2 -> T2 7; T2 30");
    EXPECT_THAT(table.costs[0], testing::ElementsAre(1, 3));
    EXPECT_THAT(table.costs[2], testing::ElementsAre(30, 30));
    // Names that differ in underscores only are two.
    file("b_task_exe_time.csv", "TP,P0\nT1_1,2\nT_11,1\n");
    EXPECT_EQ(in_words(read("b_task_connectivity.csv", "T,T_11,T1_1\nT_11,0,5\nT1_1,0,0\n").graph),
              "T_11 1 -> T1_1 5; T1_1 2");
    // What no row, or two, or two columns say is refused, in the file and line that says it.
    const std::string good_costs = "TP,P0\nT0,1\nT1,2\n", good_edges = "T,T0,T1\nT0,0,5\nT1,0,0\n";
    struct Bad {
        std::string costs, edges, ending;
        int line;
    };
    for (const Bad& bad : {Bad{"TP,P0\nT0,1\nT2,2\n", good_edges, "exe_time.csv", 3},
                           Bad{"TP,P0\nT0,1\nT_0,2\n", good_edges, "exe_time.csv", 3},
                           Bad{good_costs, "T,T0,T1\nT0,0,5\nT5,0,0\n", "connectivity.csv", 3},
                           Bad{good_costs, "T,T0,T1\nT1,0,5\nT1,0,0\n", "connectivity.csv", 3},
                           Bad{good_costs, "T,T0,T0\nT0,0,5\nT1,0,0\n", "connectivity.csv", 1}}) {
        file("c_task_exe_time.csv", bad.costs);
        try {
            read("c_task_connectivity.csv", bad.edges);
            ADD_FAILURE() << bad.costs << bad.edges;
        } catch (const Error& error) {
            EXPECT_THAT(error.where().file, testing::EndsWith(bad.ending)) << error.what();
            EXPECT_EQ(error.where().line, bad.line) << error.what();
        }
    }
}

TEST_F(ReadGraph, TgffLinesWithoutABraceAreNoSections) {
    EXPECT_EQ(in_words(read("a.tgff",
                            "@HYPERPERIOD 300\n@TASK_GRAPH 0 { # the only one\n PERIOD 300\n TASK a TYPE 0\n"
                            " TASK b TYPE 1\n ARC x FROM a TO b TYPE 3\n}\n@VERSION 2\n"
                            "@computation_cost 0 {\n 0 0 3 4\n 1 0 5 6\n}\n")
                           .graph),
              "a 3 -> b 3; b 5");
}

TEST_F(ReadGraph, MetisFlagsSayWhichWeightsThereAre) {
    const DataGraph plain = read_data_graph(file("a.graph", "% c\n3 2\n2\n1 3\n2\n"));
    EXPECT_EQ(plain.data(), 3U);
    EXPECT_EQ(plain.edges(), 2U);
    EXPECT_EQ(plain.work(1), 1);
    const DataGraph all =
        read_data_graph(file("b.graph", "3 2 111 2\n9 1 2 2 5\n% c\n7 3 4 1 5 3 6\n8 5 6 2 6\n"));
    EXPECT_EQ(all.constraints(), 2U);
    EXPECT_EQ(all.work(1, 0), 3);
    EXPECT_EQ(all.work(2, 1), 6);
    EXPECT_EQ(all.edge_weight(1, 1), 6);
    EXPECT_EQ(all.size(1), 7);
    EXPECT_EQ(plain.size(1), 1);
    ReadOptions tens;
    tens.bytes_per_weight_unit = 10;
    EXPECT_EQ(read_data_graph((folder_ / "b.graph").string(), tens).size(1), 70);
    const std::vector<DatumIndex> some = {2, 0};
    EXPECT_EQ(all.restricted_to(some).all_sizes(), (std::vector<double>{8, 9}));
    const DataGraph edges = read_data_graph(file("c.graph", "3 1 1\n2 5\n1 5\n\n"));  // datum 3 is alone
    EXPECT_EQ(edges.edge_weight(0, 0), 5);
    EXPECT_EQ(edges.neighbours(2).size(), 0U);
    // Two triangles with a common side, and one with a common corner only.
    const DataGraph mesh = read_data_graph(file("a.mesh", "4\n1 2 3\n2 3 4\n4 5 6\n7 8 9\n"));
    EXPECT_EQ(mesh.edges(), 2U);
    EXPECT_EQ(mesh.neighbours(1).size(), 2U);
    // A precedence graph is partitioned by its tasks.
    EXPECT_EQ(read_data_graph(file("d.dot", "digraph {\na [Weight=2]; b [Weight=3]; a -> b [Weight=7]; }"))
                  .edge_weight(1, 0),
              7);
}

TEST_F(ReadGraph, FormatsAreToldByNameOrContentOrByHand) {
    const auto detected = [this](const std::string& name, const std::string& text) {
        return detect_format(SourceText::read(file(name, text)));
    };
    EXPECT_EQ(detected("a", "# c\n  50\n0 0 0\n"), Format::stg);
    EXPECT_EQ(detected("a",
                       "\xEF\xBB\xBF"
                       "50\n0 0 0\n"),
              Format::stg);
    EXPECT_EQ(detected("b", "% c\n3 2\n"), Format::metis);
    EXPECT_EQ(detected("c.txt", "\n#tasks\n"), Format::hetero);
    EXPECT_EQ(detected("d.txt", "<?xml"), Format::dax);
    EXPECT_EQ(detected("e.json", "{\"heddle_graph\": 1"), Format::heddle);
    EXPECT_EQ(detected("f.json", "{\"workflow\": 1"), Format::wfformat);
    EXPECT_EQ(detected("g", "// c\ndigraph {"), Format::dot);
    EXPECT_EQ(detected("h.DOT", ""), Format::dot);
    EXPECT_EQ(detected("i", "@TASK_GRAPH"), Format::tgff);
    EXPECT_EQ(read("j.graph", "digraph { a [Weight=1]; }", {Format::dot, 1, 1}).graph.tasks(), 1U);
    for (const NamedFormat& format : formats()) EXPECT_EQ(format_named(format.name), format.format);
}

// Longer than what a pipe hands over at once. A pipe's text is there once only.
TEST_F(ReadGraph, APipesFormatIsToldFromTheTextThatIsRead) {
    const std::string path = (folder_ / "pipe").string();
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const auto piped = [&path](const std::string& text, const auto& reader) {
        std::thread writer([&] { std::ofstream(path, std::ios::binary) << text; });
        const auto result = reader(path, ReadOptions{});
        writer.join();
        return result;
    };
    constexpr int count = 20'000;
    std::string chain = "20000\n0 0 0\n", ring = "20000 20000\n";
    for (int i = 1; i <= count; ++i) {
        chain += fmt::format("{} 1 1 {}\n", i, i - 1);
        ring += fmt::format("{} {}\n", i == 1 ? count : i - 1, i == count ? 1 : i + 1);
    }
    chain += "20001 0 1 20000\n";
    EXPECT_EQ(piped(chain, read_task_graph).graph.edges(), 20'001U);
    EXPECT_EQ(piped(chain, read_data_graph).data(), 20'002U);
    EXPECT_EQ(piped(ring, read_data_graph).data(), 20'000U);
}

// Programs that sort the keys write a long list of edges first.
TEST_F(ReadGraph, OurOwnFormatIsToldByAKeyAnywhere) {
    std::string edges, tasks = "{\"flops\": 1}";
    for (int i = 0; i < 10'000; ++i) {
        edges += fmt::format("{}[{}, {}, 1]", i == 0 ? "" : ", ", i, i + 1);
        tasks += ", {\"flops\": 1}";
    }
    const std::string text = "{\"edges\": [" + edges + "], \"heddle_graph\": 1, \"tasks\": [" + tasks + "]}";
    EXPECT_EQ(read("sorted.json", text).graph.edges(), 10'000U);
}

TEST_F(ReadGraph, OurOwnFormatKeepsEverything) {
    GraphFile before = generate("cholesky", {{"tiles", "4"}});
    before.costs.assign(before.graph.tasks(), {1.5, 0.1 + 0.2});
    before.unit = WorkUnit::seconds;
    const std::string path = (folder_ / "own.json").string();
    write_graph(before, path);
    const GraphFile after = read_task_graph(path);
    EXPECT_EQ(in_words(after.graph), in_words(before.graph));
    for (TaskIndex task = 0; task < before.graph.tasks(); ++task)
        EXPECT_EQ(after.graph.flops(task), before.graph.flops(task));
    EXPECT_EQ(after.kernels[after.kernel_of[5]], before.kernels[before.kernel_of[5]]);
    EXPECT_EQ(after.writes, before.writes);
    EXPECT_EQ(after.costs, before.costs);
    EXPECT_EQ(after.unit, WorkUnit::seconds);
    EXPECT_EQ(in_words(read("hand.json",
                            "{\"heddle_graph\": 1, \"tasks\": [{\"flops\": 2, \"name\": \"a \\\"b\\\"\"}, "
                            "{\"flops\": 3}],\n"
                            "\"edges\": [[\"a \\\"b\\\"\", 1, 8]]}")
                           .graph),
              "a \"b\" 2 -> task 1 8; task 1 3");
    EXPECT_THROW(write_graph(before, (folder_ / "nowhere" / "a.json").string()), Error);
}

TEST_F(ReadGraph, OurOwnFormatKeepsWhatItsWorkCounts) {
    const std::string path = (folder_ / "unit.json").string();
    for (const WorkUnit unit : {WorkUnit::abstract, WorkUnit::flops, WorkUnit::seconds}) {
        GraphFile file = generate("fork_join", {{"width", "2"}});
        file.unit = unit;
        write_graph(file, path);
        EXPECT_EQ(read_task_graph(path).unit, unit);
    }
    const std::string rest = "\"tasks\": [{\"flops\": 2}], \"edges\": []}";
    EXPECT_EQ(read("plain.json", "{\"heddle_graph\": 1, " + rest).unit, WorkUnit::flops);
    EXPECT_THROW(read("both.json", "{\"heddle_graph\": 1, \"in_seconds\": true, \"in_units\": true, " + rest),
                 Error);
    EXPECT_THROW(read("text.json", "{\"heddle_graph\": 1, \"in_units\": \"true\", " + rest), Error);
}

TEST_F(ReadGraph, KernelCostsAreDrawnAroundTheirMeans) {
    const KernelTable table =
        read_kernel_costs(file("k.csv",
                               "# measured\nkernel, mean, deviation\npotrf, 0.001, 0\ntrsm,0.002,0.0001\n"
                               "syrk,0.002,0\ngemm, 0.004, 0.0004\n"));
    const GraphFile plain = generate("cholesky", {{"tiles", "20"}});
    const GraphFile real = with_kernel_costs(plain, table, 1e9, Random(1));
    EXPECT_EQ(real.graph.edges(), plain.graph.edges());
    EXPECT_EQ(real.graph.name(3), plain.graph.name(3));
    double sum = 0, squares = 0, count = 0;
    for (TaskIndex task = 0; task < real.graph.tasks(); ++task) {
        const std::string& kernel = real.kernels[real.kernel_of[task]];
        if (kernel == "potrf") {
            EXPECT_NEAR(real.graph.flops(task), 1e6, 1e-6);
        }
        if (kernel != "gemm") continue;
        const double flops = real.graph.flops(task);
        EXPECT_NEAR(flops, 4e6, 3 * 4e5 + 1);
        sum += flops;
        squares += (flops - 4e6) * (flops - 4e6);
        ++count;
    }
    EXPECT_EQ(count, 1140);
    EXPECT_NEAR(sum / count, 4e6, 5e4);
    EXPECT_NEAR(std::sqrt(squares / count), 4e5, 4e4);
    EXPECT_EQ(with_kernel_costs(plain, table, 1e9, Random(1)).graph.flops(7), real.graph.flops(7));
    EXPECT_THROW(with_kernel_costs(generate("lu"), table, 1e9, Random(1)), Error);
    EXPECT_THROW(with_kernel_costs(generate("in_tree"), table, 1e9, Random(1)), Error);
    for (const auto& [text, line] :
         std::vector<std::pair<std::string, int>>{{"kernel,mean\n", 1},
                                                  {"kernel,mean,deviation\na,-1,0\n", 2},
                                                  {"kernel,mean,deviation\na,1\n", 2},
                                                  {"kernel,mean,deviation\na,1,0\na,1,0\n", 3},
                                                  {"kernel,mean,deviation\na,1,0,0\n", 2}}) {
        try {
            read_kernel_costs(file("bad.csv", text));
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.where().line, line) << error.what();
        }
    }
}

}  // namespace
}  // namespace heddle::graphs
