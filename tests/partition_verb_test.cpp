// Tests `heddle partition`: its table and JSON, part files written and read back, and errors for bad input.
// The numbers of the small graph are counted by hand.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "partitioners/graph/graph_partitioner.hpp"
#include "tests/cli_testing.hpp"

namespace heddle::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// Two triangles, 1-2-3 and 4-5-6, and one edge between 3 and 4: halved best there.
const std::string two_triangles = "6 7\n2 3\n1 3\n1 2 4\n3 5 6\n4 6\n4 5\n";

class PartitionVerb : public Folder {
protected:
    std::string graph() const { return file("triangles.graph", two_triangles); }

    static json parsed(const std::vector<std::string>& words) {
        const Said said = heddle(words);
        EXPECT_EQ(said.code, 0) << said.err;
        return json::parse(said.out);
    }
};

TEST_F(PartitionVerb, OnePartitionerPrintsOneObjectWithItsMeasures) {
    for (const char* name : {"metis", "metis_recursive", "scotch", "block"}) {
        const json object = parsed({"partition", graph(), "--partitioner", name, "--parts", "2", "--json"});
        EXPECT_EQ(object["partitioner"], name);
        EXPECT_EQ(object["graph"], graph());
        EXPECT_EQ(object["vertices"], 6);
        EXPECT_EQ(object["edges"], 7);
        EXPECT_EQ(object["parts"], 2);
        EXPECT_EQ(object["cut"], 1) << name;
        EXPECT_EQ(object["cut_between_nodes"], 1);
        EXPECT_EQ(object["communication_volume"], 2);  // 3 goes to the other part, and 4
        EXPECT_EQ(object["imbalance"], 0);
        EXPECT_GE(object["seconds"], 0);
        const std::string library = name[0] == 'm' ? "METIS " : name[0] == 's' ? "Scotch " : "heddle ";
        EXPECT_THAT(object["library"], StartsWith(library));
    }
}

TEST_F(PartitionVerb, SeveralPartitionersPrintAListAndATableWithARowForEach) {
    const json object =
        parsed({"partition", graph(), "--partitioner", "block,cyclic", "--parts", "2", "--json"});
    ASSERT_THAT(object["partitions"], SizeIs(2));
    EXPECT_EQ(object["partitions"][0]["cut"], 1);
    EXPECT_EQ(object["partitions"][1]["cut"], 5);  // all edges but 1-3 and 4-6
    const Said table = heddle({"partition", graph(), "--partitioner", "all", "--parts", "3"});
    EXPECT_EQ(table.code, 0);
    EXPECT_THAT(table.out, HasSubstr("6 vertices, 7 edges; 3 parts\n"));
    for (const auto& kind : partitioners::graph_partitioners())
        EXPECT_THAT(table.out, HasSubstr("\n" + kind.name + " ")) << kind.name;
    EXPECT_THAT(table.out, Not(HasSubstr("between nodes")));
}

TEST_F(PartitionVerb, NodesAndCoresMakeThePartsAndSplitTheCut) {
    const std::string part = file("parts", "0\n1\n2\n3\n2\n1\n");
    // On nodes {0, 1} and {2, 3}: between nodes are 1-3, 2-3, 4-6, 5-6.
    const json object =
        parsed({"partition", graph(), "--read", part, "--nodes", "2", "--cores", "2", "--json"});
    EXPECT_EQ(object["parts"], 4);
    EXPECT_EQ(object["nodes"], 2);
    EXPECT_EQ(object["cores"], 2);
    EXPECT_EQ(object["cut"], 7);
    EXPECT_EQ(object["cut_between_nodes"], 4);
    EXPECT_DOUBLE_EQ(object["imbalance"], 2 / 1.5 - 1);
    const Said table = heddle({"partition", "stencil_2d:width=8,height=8,steps=2", "--partitioner",
                               "two_level,scotch_map", "--nodes", "2", "--cores", "4", "--parts", "8"});
    EXPECT_EQ(table.code, 0);
    EXPECT_THAT(table.out, AllOf(HasSubstr("8 parts on 2 nodes of 4 cores"), HasSubstr("between nodes")));
}

TEST_F(PartitionVerb, ATaskGraphIsCutByItsData) {
    // 5 tiles a row: 25 tiles, of which the 15 of the lower triangle are written.
    const json object =
        parsed({"partition", "cholesky:tiles=5", "--partitioner", "block", "--parts", "2", "--json"});
    EXPECT_EQ(object["vertices"], 25);
    const std::string heddle_graph =
        file("pair.json",
             "{\"heddle_graph\": 1, \"tasks\": [{\"flops\": 1}, {\"flops\": 1}], \"edges\": [[0, 1, 10]]}");
    EXPECT_EQ(parsed({"partition", heddle_graph, "--partitioner", "cyclic", "--parts", "2", "--bytes-unit",
                      "3B", "--json"})["cut"],
              30);
}

TEST_F(PartitionVerb, UnitsHoldForMetisFilesToo) {
    const std::string weighted = file("w.graph", "3 2 001\n2 5\n1 5 3 7\n2 7\n");
    const std::string mesh = file("a.mesh", "2\n1 2 3\n2 3 4\n");
    const auto cut = [](const std::string& path, const std::string& parts, std::vector<std::string> more) {
        more.insert(more.begin(), {"partition", path, "--partitioner", "block", "--parts", parts, "--json"});
        return parsed(more)["cut"];
    };
    EXPECT_EQ(cut(weighted, "3", {}), 12);
    EXPECT_EQ(cut(weighted, "3", {"--bytes-unit", "10B"}), 120);
    EXPECT_EQ(cut(weighted, "3", {"--time-unit", "2f"}), 12);
    EXPECT_EQ(cut(graph(), "2", {"--bytes-unit", "10B"}), 10);
    EXPECT_EQ(cut(mesh, "2", {"--bytes-unit", "10B"}), 10);
}

TEST_F(PartitionVerb, TheOptionsReachThePartitioner) {
    const std::string mesh = "stencil_2d:width=24,height=24,steps=3";
    const auto settings = [&](const std::string& name, std::vector<std::string> more) {
        more.insert(more.begin(), {"partition", mesh, "--partitioner", name, "--parts", "8", "--json"});
        const json object = parsed(more);
        EXPECT_LE(object["imbalance"], 0.1 + 1e-9) << name;
        EXPECT_GT(object["cut"], 0) << name;
        return object["settings"];
    };
    EXPECT_EQ(settings("metis", {})["imbalance"], "0.03");
    const json kway = settings("metis", {"--imbalance", "0.1", "--seed", "5", "--set", "objective=volume"});
    EXPECT_EQ(kway["imbalance"], "0.1");
    EXPECT_EQ(kway["seed"], "5");
    EXPECT_EQ(kway["objective"], "volume");
    // Three halvings, each with its share of the whole.
    const std::string share = settings("metis_recursive", {"--imbalance", "0.1"})["imbalance"];
    EXPECT_NEAR(std::pow(1 + std::stod(share), 3), 1.1, 1e-6);
    EXPECT_EQ(settings("block", {"--imbalance", "0.1", "--seed", "5"}), json::object());
    const auto random = [&](const char* seed) {
        return parsed(
            {"partition", mesh, "--partitioner", "random", "--parts", "8", "--seed", seed, "--json"})["cut"];
    };
    EXPECT_EQ(random("1"), random("1"));
    EXPECT_NE(random("1"), random("2"));
}

TEST_F(PartitionVerb, WhatIsWrittenReadsBackWithTheSameNumbers) {
    const std::string out = folder / "parts.txt";
    json made = parsed({"partition", "stencil_2d:width=10,height=10,steps=3", "--partitioner", "metis",
                        "--parts", "4", "--out", out, "--json"});
    const std::string text = read(out);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), made["vertices"].get<int>());
    EXPECT_THAT(text, ::testing::MatchesRegex("([0-3]\n)+"));
    json judged = parsed({"partition", "stencil_2d:width=10,height=10,steps=3", "--read", out, "--json"});
    EXPECT_EQ(judged["partitioner"], "from file");
    for (const char* key :
         {"vertices", "edges", "parts", "cut", "cut_between_nodes", "communication_volume", "imbalance"})
        EXPECT_EQ(judged[key], made[key]) << key;
    EXPECT_GT(judged["cut"], 0);
}

TEST_F(PartitionVerb, APartFileIsJudgedWithMorePartsThanItUses) {
    const std::string halves = file("halves", "0\n0\n0\n1\n1\n1\n");
    EXPECT_EQ(parsed({"partition", graph(), "--read", halves, "--json"})["parts"], 2);
    const json object = parsed({"partition", graph(), "--read", halves, "--parts", "4", "--json"});
    EXPECT_EQ(object["parts"], 4);
    EXPECT_EQ(object["imbalance"], 1);  // 3 where 1.5 is the mean
}

TEST_F(PartitionVerb, APartitionerThatCannotIsLeftOutOfAllAndAnErrorAlone) {
    // Two weights a vertex, which Scotch does not balance.
    const std::string weights = file("weights.graph", "2 1 010 2\n1 1 2\n1 1 1\n");
    const Said all = heddle({"partition", weights, "--partitioner", "all", "--parts", "2", "--json"});
    EXPECT_EQ(all.code, 0);
    EXPECT_THAT(all.err, AllOf(HasSubstr("scotch is left out"), HasSubstr("scotch_map is left out")));
    EXPECT_THAT(json::parse(all.out)["partitions"], SizeIs(partitioners::graph_partitioners().size() - 2));
    const Said alone = heddle({"partition", weights, "--partitioner", "scotch", "--parts", "2"});
    EXPECT_EQ(alone.code, 2);
    EXPECT_THAT(alone.err, HasSubstr("use metis"));
}

TEST_F(PartitionVerb, DamagedPartFilesAreRefusedWithFileAndLine) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"0\n0\n0\n1\n1\n", ": parts for 5 vertices, but the graph has 6"},
        {"", ": parts for 0 vertices"},
        {"0\n0\n0\n1\n1\n1\n0\n", ":7: a part for vertex 7, but the graph has 6"},
        {"0\n0\nx\n1\n1\n1\n", ":3: the part of vertex 3 is `x`"},
        {"0\n0\n-1\n1\n1\n1\n", ":3: the part of vertex 3 is"},
        {"0\n0\n0.5\n1\n1\n1\n", ":3: the part of vertex 3 is"},
        {"0\n0\n0\n2\n1\n1\n", ":4: the part of vertex 4 is"},
        {"0\n0\n0 1\n1\n1\n1\n", ":3: "},
    };
    for (const auto& [text, message] : cases) {
        const std::string path = file("parts", text);
        const Said said = heddle({"partition", graph(), "--read", path, "--parts", "2"});
        EXPECT_EQ(said.code, 2) << message;
        EXPECT_THAT(said.err, AllOf(StartsWith("heddle: " + path), HasSubstr(message)));
        EXPECT_THAT(said.out, IsEmpty());
    }
    EXPECT_THAT(heddle({"partition", graph(), "--read", file("parts", "0\n0\n0\n4000000\n1\n1\n")}).err,
                HasSubstr(":4: the part of vertex 4"));
}

TEST_F(PartitionVerb, MistakesOnTheCommandLineAreNamed) {
    const std::string good = graph();
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{}, "GRAPH is required"},
        {{good, "--parts", "2"},
         "--partitioner is missing; give names, separated by commas, or all; known: metis"},
        {{good, "--partitioner", "block"}, "the number of parts is missing; state --parts"},
        {{good, "--partitioner", "blocks", "--parts", "2"},
         "unknown partitioner \"blocks\"; did you mean \"block\"?"},
        {{good, "--partitioner", "block", "--parts", "0"}, "--parts: expected a whole number from 1"},
        {{good, "--partitioner", "block", "--parts", "k"}, "--parts: expected a whole number"},
        {{good, "--partitioner", "block", "--nodes", "0"}, "--nodes: expected a whole number"},
        {{good, "--partitioner", "block", "--nodes", "1000000", "--cores", "1000000"}, "--nodes: expected"},
        {{good, "--partitioner", "block", "--nodes", "2", "--cores", "2", "--parts", "3"},
         "2 nodes of 2 cores are not 3 parts"},
        {{good, "--partitioner", "block", "--parts", "2", "--imbalance", "x"},
         "--imbalance: imbalance: expected"},
        {{good, "--partitioner", "block", "--parts", "2", "--imbalance", "-0.1"},
         "-0.1 is out of range; expected 0 to 1000"},
        {{good, "--partitioner", "block", "--parts", "2", "--seed", "x"},
         "--seed: seed: expected a whole number"},
        {{good, "--partitioner", "block", "--parts", "2", "--speeds", "1,1,9"},
         "--speeds: 3 speeds for 2 parts; state one for each part, or fewer"},
        {{good, "--partitioner", "metis", "--parts", "2", "--set", "objective"}, "expected KEY=VALUE"},
        {{good, "--partitioner", "metis", "--parts", "2", "--set", "objectiv=cut"},
         "unknown key \"objectiv\"; did you mean \"objective\"?"},
        {{good, "--partitioner", "block,metis", "--parts", "2", "--set", "objective=cut"},
         "--set objective (block): unknown key"},
        {{good, "--partitioner", "all", "--parts", "2", "--out", folder / "x"}, "a file holds one partition"},
        {{good, "--partitioner", "block", "--parts", "2", "--out", folder / "no" / "x"}, "cannot be written"},
        {{good, "--partitioner", "block", "--parts", "2", "--read", good}, "excludes --read"},
        {{good, "--read", folder / "none"}, "cannot be read"},
        {{"cholesk", "--partitioner", "block", "--parts", "2"}, "did you mean \"cholesky\"?"},
        {{file("bad.graph", "3 2\n2\n1 9\n2\n"), "--partitioner", "block", "--parts", "2"}, "bad.graph:3: "},
    };
    for (auto [words, message] : cases) {
        words.insert(words.begin(), "partition");
        const Said said = heddle(words);
        EXPECT_EQ(said.code, 2) << message;
        EXPECT_THAT(said.err, AllOf(StartsWith("heddle: "), HasSubstr(message)));
        EXPECT_THAT(said.out, IsEmpty()) << message;
        EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << said.err;
    }
}

}  // namespace
}  // namespace heddle::testing_cli
