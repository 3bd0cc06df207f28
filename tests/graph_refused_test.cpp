// Tests that a mistake in a graph file is refused with file, line and the names concerned, in every
// format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "graphs/graph_file.hpp"

namespace heddle::graphs {
namespace {

struct Refused {
    std::string label;
    std::string ending;  ///< of the file's name
    std::string text;
    int line = 0;
    std::vector<std::string> words = {};  ///< in the message
};

std::string write(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "graph_refused_" + std::to_string(getpid()) + "_" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
}

const std::string dax_begin = "<?xml version=\"1.0\"?>\n<adag>\n";
const std::string job_a =
    "<job id=\"a\" name=\"k\" runtime=\"1\"><uses file=\"f\" link=\"output\" size=\"8\"/></job>\n";
const std::string job_b =
    "<job id=\"b\" name=\"k\" runtime=\"2\"><uses file=\"f\" link=\"input\" size=\"8\"/></job>\n";
const std::string hetero = "#critical\n0\n#tasks\n0: 1, 2\n1: 3, 4\n#edges\n";
const std::string ours =
    "{\"heddle_graph\": 1,\n\"tasks\": [\n{\"flops\": 1, \"name\": \"a\"},\n{\"flops\": 2}\n],\n\"edges\": "
    "[\n";
const std::string wf15 =
    "{\"workflow\": {\"specification\": {\"tasks\": [\n"
    "{\"id\": \"a\", \"name\": \"a\", \"parents\": [], \"outputFiles\": [\"f\"]},\n"
    "{\"id\": \"b\", \"name\": \"b\", \"parents\": [\n\"PARENT\"], \"inputFiles\": [\"f\"]}\n"
    "], \"files\": [\nFILES]},\n\"execution\": {\"tasks\": [\n"
    "{\"id\": \"a\", \"runtimeInSeconds\": 1},\n{\"id\": \"b\", RUN}\n]}}}\n";

std::string with(std::string text, std::vector<std::pair<std::string, std::string>> changes) {
    for (const auto& [from, to] : changes) {
        const std::size_t place = text.find(from);
        EXPECT_NE(place, text.npos) << from;
        text.replace(place, from.size(), to);
    }
    return text;
}

std::string wf(const std::string& parent, const std::string& files, const std::string& run) {
    return with(wf15, {{"PARENT", parent}, {"FILES", files}, {"RUN", run}});
}

const std::string file_f = "{\"id\": \"f\", \"sizeInBytes\": 8}";
const std::string run_b = "\"runtimeInSeconds\": 2";

const std::vector<Refused>& cases() {
    static const std::vector<Refused> all = {
        {"stg_cycle", ".stg", "2\n0 0 0\n1 5 2 0 2\n2 5 1 1\n3 0 1 2\n", 3, {"task 1", "task 2", "circle"}},
        {"stg_self", ".stg", "1\n0 0 0\n1 5 1 1\n2 0 1 1\n", 3, {"task 1", "circle"}},
        {"stg_dangling", ".stg", "1\n0 0 0\n1 5 1 7\n2 0 1 1\n", 3, {"task 1", "task 7"}},
        {"stg_negative", ".stg", "1\n0 0 0\n1 -5 1 0\n2 0 1 1\n", 3, {"task 1", "-5", "negative"}},
        {"stg_missing", ".stg", "1\n0 0 0\n1\n2 0 1 1\n", 3, {"processing time of task 1"}},
        {"stg_truncated", ".stg", "2\n0 0 0\n1 5 1 0\n2 5 1 1\n", 4, {"ends after 3 of 4"}},
        {"stg_truncated_line", ".stg", "1\n0 0 0\n1 5 2 0\n", 3, {"predecessor of task 1"}},
        {"stg_truncated_to_the_count", ".stg", "2\n0 0 0\n1 5 1 0\n", 3, {"ends after 2 of 4"}},
        {"stg_too_many", ".stg", "1\n0 0 0\n1 5 1 0\n2 0 1 1\n3 5 0\n", 5, {"more than the announced 1"}},
        {"stg_huge", ".stg", "99999999999999999999\n", 1, {"number of tasks", "99999999999999999999"}},
        {"stg_huge_weight", ".stg", "1\n0 0 0\n1 1e999 1 0\n2 0 1 1\n", 3, {"1e999", "too large"}},
        {"stg_not_finite", ".stg", "1\n0 0 0\n1 nan 1 0\n2 0 1 1\n", 3, {"task 1", "not finite"}},
        {"stg_words", ".stg", "1\n0 0 0\n1 five 1 0\n2 0 1 1\n", 3, {"`five`", "not a number"}},
        {"stg_order", ".stg", "1\n0 0 0\n2 5 1 0\n1 0 1 1\n", 3, {"expected task 1"}},
        {"stg_long_line", ".stg", "1\n0 0 0\n1 5 1 0 9\n2 0 1 1\n", 3, {"`9`"}},
        {"stg_empty", ".stg", "", 0, {"empty"}},

        {"dot_cycle",
         ".dot",
         "digraph {\na [Weight=1];\nb [Weight=1];\na -> b [Weight=1];\nb -> a [Weight=1];\n}",
         5,
         {"a -> b", "circle"}},
        {"dot_dangling", ".dot", "digraph {\na [Weight=1];\na -> ghost [Weight=1];\n}", 3, {"ghost"}},
        {"dot_negative", ".dot", "digraph {\na [Weight=-1];\n}", 2, {"task a", "-1", "negative"}},
        {"dot_negative_edge",
         ".dot",
         "digraph {\na [Weight=1];\nb [Weight=1];\na -> b [Weight=-3];\n}",
         4,
         {"from a to b", "-3"}},
        {"dot_missing",
         ".dot",
         "digraph {\na [Weight=1];\nb;\na -> b [Weight=1];\n}",
         3,
         {"task b", "no weight"}},
        {"dot_missing_edge",
         ".dot",
         "digraph {\na [Weight=1];\nb [Weight=1];\na -> b;\n}",
         4,
         {"from a to b", "no weight"}},
        {"dot_negative_size",
         ".dot",
         "digraph {\na [size=\"1\"];\nb [size=\"1\"];\na -> b [size=\"-2\"];\n}",
         4,
         {"from a to b", "-2"}},
        {"dot_negative_size_of_task", ".dot", "digraph {\na [size=\"-1\"];\n}", 2, {"task a", "negative"}},
        {"dot_truncated", ".dot", "digraph {\na [Weight=1];\n", 3, {"ends"}},
        {"dot_truncated_list", ".dot", "digraph {\na [Weight=1", 2, {"ends"}},
        {"dot_truncated_edge", ".dot", "digraph {\na [Weight=1];\na ->", 3, {"ends"}},
        {"dot_open_quote", ".dot", "digraph {\n\"a [Weight=1];\n}", 2, {"no end"}},
        {"dot_open_comment", ".dot", "digraph {\n/* a [Weight=1];\n}", 2, {"no end"}},
        {"dot_twice", ".dot", "digraph {\na [Weight=1];\na [Weight=2];\n}", 3, {"task a", "twice"}},
        {"dot_undirected", ".dot", "graph {\na -- b;\n}", 1, {"undirected"}},
        {"dot_line", ".dot", "digraph {\na [Weight=1];\nb [Weight=1];\na -- b [Weight=1];\n}", 4, {"--"}},
        {"dot_subgraph", ".dot", "digraph {\nsubgraph c { a [Weight=1]; }\n}", 2, {"subgraph"}},
        {"dot_two", ".dot", "digraph {\n}\ndigraph {\n}", 3, {"after the graph's end"}},
        {"dot_huge", ".dot", "digraph {\na [Weight=1e400];\n}", 2, {"task a", "too large"}},
        {"dot_words", ".dot", "digraph {\na [Weight=much];\n}", 2, {"task a", "much"}},
        {"dot_other", ".dot", "hello", 1, {"digraph", "hello"}},
        {"dot_colon", ".dot", "digraph {\na [Weight=1];\n: b [Weight=1];\n}", 3, {"expected a task", "`:`"}},
        {"dot_colon_in_list",
         ".dot",
         "digraph {\na [Weight=1 : x=2];\n}",
         2,
         {"expected an attribute", "`:`"}},
        {"dot_no_port", ".dot", "digraph {\na [Weight=1];\na: -> a;\n}", 3, {"expected a port", "`->`"}},
        {"dot_many_ports", ".dot", "digraph {\na:b:n:c [Weight=1];\n}", 2, {"`:`"}},
        {"dot_truncated_port", ".dot", "digraph {\na [Weight=1];\na:", 3, {"ends"}},
        // To Graphviz these are two edges.
        {"dot_list",
         ".dot",
         "digraph {\na [size=1];\nb [size=1];\na -> b, c [size=1];\n}",
         4,
         {"lists of tasks"}},
        {"dot_default", ".dot", "digraph {\nnode [size=\"7,5\"];\n}", 2, {"default weight"}},

        {"dax_cycle",
         ".xml",
         dax_begin + job_a + job_b + "<child ref=\"a\">\n<parent ref=\"b\"/>\n</child></adag>",
         6,
         {"a -> b", "circle"}},
        {"dax_dangling",
         ".xml",
         dax_begin + job_a + "<child ref=\"a\">\n<parent ref=\"ghost\"/></child></adag>",
         5,
         {"ghost"}},
        {"dax_negative", ".xml", dax_begin + "<job id=\"a\" runtime=\"-1\"/></adag>", 3, {"job a", "-1"}},
        {"dax_missing", ".xml", dax_begin + "<job id=\"a\"/></adag>", 3, {"job a", "no runtime"}},
        {"dax_missing_id", ".xml", dax_begin + "<job runtime=\"1\"/></adag>", 3, {"no attribute id"}},
        {"dax_missing_size",
         ".xml",
         dax_begin + "<job id=\"a\" runtime=\"1\"><uses file=\"f\" link=\"output\"/></job>\n"
                     "<job id=\"b\" runtime=\"1\"><uses file=\"f\" link=\"input\"/></job></adag>",
         4,
         {"file f", "from a to b", "no size"}},
        {"dax_negative_size",
         ".xml",
         dax_begin +
             "<job id=\"a\" runtime=\"1\">\n<uses file=\"f\" link=\"output\" size=\"-8\"/></job></adag>",
         4,
         {"file f", "job a", "-8"}},
        {"dax_truncated", ".xml", dax_begin + job_a, 4, {"not XML"}},
        {"dax_truncated_tag", ".xml", dax_begin + "<job id=\"a", 3, {"not XML"}},
        {"dax_twice", ".xml", dax_begin + job_a + job_a + "</adag>", 4, {"two tasks", "a"}},
        {"dax_other", ".xml", "<html/>", 1, {"html"}},
        {"dax_huge",
         ".xml",
         dax_begin + "<job id=\"a\" runtime=\"1e999\"/></adag>",
         3,
         {"job a", "too large"}},
        {"dax_link",
         ".xml",
         dax_begin + "<job id=\"a\" runtime=\"1\"><uses file=\"f\" size=\"1\"/></job></adag>",
         3,
         {"file f", "neither"}},
        {"dax_lonely_parent", ".xml", dax_begin + job_a + "<parent ref=\"a\"/></adag>", 4, {"outside"}},

        {"wf_cycle",
         ".json",
         with(wf("a", file_f, run_b), {{"\"parents\": []", "\"parents\": [\"b\"]"}}),
         2,
         {"circle", "a", "b"}},
        {"wf_dangling", ".json", wf("ghost", file_f, run_b), 4, {"ghost"}},
        {"wf_negative", ".json", wf("a", file_f, "\"runtimeInSeconds\": -2"), 9, {"task b", "-2"}},
        {"wf_missing", ".json", wf("a", file_f, "\"machines\": []"), 9, {"task b", "no runtime"}},
        {"wf_not_executed",
         ".json",
         with(wf("a", file_f, run_b), {{"{\"id\": \"b\", \"runtime", "{\"id\": \"c\", \"runtime"}}),
         3,
         {"task b", "no runtime"}},
        {"wf_missing_size", ".json", wf("a", "", run_b), 4, {"file f", "from a to b", "no size"}},
        {"wf_negative_size", ".json", wf("a", "{\"id\": \"f\", \"sizeInBytes\": -8}", run_b), 6, {"f", "-8"}},
        {"wf_executed_twice",
         ".json",
         wf("a", file_f, run_b + "},\n{\"id\": \"b\", " + run_b),
         10,
         {"task b", "executed twice"}},
        {"wf_files_alike", ".json", wf("a", file_f + ",\n" + file_f, run_b), 7, {"two files", "f"}},
        {"wf_truncated", ".json", wf("a", file_f, run_b).substr(0, 200), 6, {}},
        {"wf_huge", ".json", wf("a", file_f, "\"runtimeInSeconds\": 1e999"), 9, {"1e999", "too large"}},
        {"wf_words",
         ".json",
         wf("a", file_f, "\"runtimeInSeconds\": \"2\""),
         9,
         {"task b", "a text, not a number"}},
        {"wf_other", ".json", "{\n\"a\": 1}", 1, {"workflow"}},
        {"wf_neither", ".json", "\n{}", 2, {"neither \"workflow\" nor \"heddle_graph\""}},
        {"wf_list", ".json", "{\"workflow\": [\n]}", 1, {"a list, not an object"}},
        {"wf_deep", ".json", "{\"workflow\":\n" + std::string(200000, '['), 2, {"nested"}},
        {"wf14_negative",
         ".json",
         "{\"workflow\": {\"tasks\": [\n{\"name\": \"a\", \"runtimeInSeconds\": -1}\n]}}",
         2,
         {"task a", "-1"}},
        {"wf14_missing",
         ".json",
         "{\"workflow\": {\"tasks\": [\n{\"name\": \"a\"}\n]}}",
         2,
         {"task a", "no runtime"}},
        {"wf14_twice",
         ".json",
         "{\"workflow\": {\"tasks\": [\n{\"name\": \"a\", \"runtime\": 1},\n{\"name\": \"a\", \"runtime\": "
         "1}\n]}}",
         3,
         {"a"}},
        {"wf14_dangling",
         ".json",
         "{\"workflow\": {\"tasks\": [\n{\"name\": \"a\", \"runtime\": 1, \"children\": [\n\"ghost\"]}\n]}}",
         3,
         {"ghost"}},

        {"wf14_two_transfers",
         ".json",
         "{\"workflow\": {\"tasks\": [\n{\"name\": \"t\", \"type\": \"transfer\", \"writtenBytes\": 1},\n"
         "{\"name\": \"u\", \"type\": \"transfer\", \"writtenBytes\": 1, \"parents\": [\"t\"]}\n]}}",
         3,
         {"transfer u", "transfer t"}},

        {"metis_dangling", ".graph", "2 1\n2\n3\n", 3, {"datum 2", "neighbour 3"}},
        {"metis_zero", ".graph", "2 1\n0\n1\n", 2, {"neighbour 0"}},
        {"metis_self", ".graph", "2 1\n1\n2\n", 2, {"datum 1", "own neighbour"}},
        {"metis_one_sided", ".graph", "3 2\n2 3\n1 3\n\n", 2, {"datum 1", "neighbour 3"}},
        {"metis_two_weights", ".graph", "2 1 1\n2 5\n1 6\n", 2, {"datum 1", "neighbour 2"}},
        {"metis_count", ".graph", "2 2\n2\n1\n", 1, {"2 edges are announced", "2 ends"}},
        {"metis_truncated", ".graph", "3 2\n2\n1 3\n", 3, {"ends after 2 of 3"}},
        {"metis_too_many", ".graph", "2 1\n2\n1\n1\n", 4, {"more than the announced 2"}},
        {"metis_negative", ".graph", "2 1 11\n-1 2 5\n1 1 5\n", 2, {"-1", "negative"}},
        {"metis_missing", ".graph", "2 1 1\n2\n1 5\n", 2, {"weight of an edge"}},
        {"metis_huge", ".graph", "99999999999 1\n", 1, {"99999999999"}},
        {"metis_announces_more_than_memory", ".graph", "4000000000 1000000000000\n2\n", 2, {"ends after 1"}},
        {"metis_flags", ".graph", "2 1 7\n2\n1\n", 1, {"`7`"}},
        {"metis_empty", ".graph", "% nothing\n", 0, {"empty"}},
        {"mesh_truncated", ".mesh", "2\n1 2 3\n", 2, {"ends after 1 of 2"}},
        {"mesh_zero", ".mesh", "1\n0 1 2\n", 2, {"counted from 1"}},
        {"mesh_empty_element", ".mesh", "2\n1 2 3\n\n", 3, {"element 2"}},

        {"hetero_cycle",
         ".dag",
         hetero + "0: 0, 1, 5\n1: 1, 0, 5\n#end\n",
         8,
         {"task 0", "task 1", "circle"}},
        {"hetero_dangling", ".dag", hetero + "0: 0, 2, 5\n#end\n", 7, {"task 2"}},
        {"hetero_negative", ".dag", hetero + "0: 0, 1, -5\n#end\n", 7, {"task 0 to task 1", "-5"}},
        {"hetero_missing", ".dag", hetero + "0: 0, 1\n#end\n", 7, {"weight of edge 0"}},
        {"hetero_truncated", ".dag", hetero + "0: 0, 1, 5\n", 7, {"before #end"}},
        {"hetero_negative_cost",
         ".dag",
         "#tasks\n0: 1, -2\n#edges\n#end\n",
         2,
         {"task 0 on processor 1", "-2"}},
        {"hetero_costs", ".dag", "#tasks\n0: 1, 2\n1: 3\n#edges\n#end\n", 3, {"task 1", "1 costs"}},
        {"hetero_sections", ".dag", "#edges\n#tasks\n#end\n", 1, {"#edges", "out of place"}},
        {"hetero_numbers", ".dag", "#tasks\n1: 1\n#edges\n#end\n", 2, {"expected task 0"}},
        {"hetero_huge", ".dag", "#tasks\n0: 1e999\n#edges\n#end\n", 2, {"too large"}},

        {"tgff_dangling",
         ".tgff",
         "@TASK_GRAPH 0 {\nTASK a TYPE 0\nARC x FROM a TO ghost TYPE 1\n}\n@computation_cost 0 {\n0 0 5\n}\n",
         3,
         {"ghost"}},
        {"tgff_costs_twice",
         ".tgff",
         "@TASK_GRAPH 0 {\nTASK a TYPE 0\n}\n@computation_cost 0 {\n0 0 5\n0 0 6\n}\n",
         6,
         {"type 0", "twice"}},
        {"tgff_missing",
         ".tgff",
         "@TASK_GRAPH 0 {\nTASK a TYPE 3\n}\n@computation_cost 0 {\n0 0 5\n}\n",
         2,
         {"task a", "type 3"}},
        {"tgff_truncated", ".tgff", "@TASK_GRAPH 0 {\nTASK a TYPE 0\n", 1, {"no end"}},
        {"tgff_without_a_brace", ".tgff", "@TASK_GRAPH 0\nTASK a TYPE 0\n}\n", 2, {"TASK", "outside"}},
        {"tgff_twice", ".tgff", "@TASK_GRAPH 0 {\nTASK a TYPE 0\nTASK a TYPE 0\n}\n", 3, {"task a", "twice"}},

        {"ours_cycle", ".json", ours + "[0, 1, 5],\n[1, 0, 5]\n]}\n", 8, {"a -> task 1", "circle"}},
        {"ours_dangling", ".json", ours + "[0, 7, 5]\n]}\n", 7, {"7"}},
        {"ours_dangling_name", ".json", ours + "[0, \"ghost\", 5]\n]}\n", 7, {"ghost"}},
        {"ours_negative", ".json", ours + "[0, 1, -5]\n]}\n", 7, {"-5"}},
        {"ours_missing", ".json", ours + "[0, 1]\n]}\n", 7, {"three parts"}},
        {"ours_missing_flops",
         ".json",
         "{\"heddle_graph\": 1, \"tasks\": [\n{\"name\": \"a\"}], \"edges\": []}",
         2,
         {"task a", "flops"}},
        {"ours_truncated", ".json", ours + "[0, 1, 5]", 7, {}},
        {"ours_unknown_key",
         ".json",
         "{\"heddle_graph\": 1, \"tasks\": [\n{\"name\": \"a\", \"flops\": 1, \"writs\": 0}], \"edges\": []}",
         2,
         {"unknown key \"writs\" in task a"}},
        {"ours_key_twice",
         ".json",
         "{\"heddle_graph\": 1, \"tasks\": [\n{\"flops\": 1, \"flops\": 2}], \"edges\": []}",
         2,
         {"\"flops\" is twice in task 0"}},
        {"ours_version", ".json", "{\n\"heddle_graph\": 2, \"tasks\": [], \"edges\": []}", 2, {"version 2"}},
        {"ours_twice",
         ".json",
         "{\"heddle_graph\": 1, \"tasks\": [\n{\"flops\": 1, \"name\": \"a\"},\n{\"flops\": 1, \"name\": "
         "\"a\"}], \"edges\": []}",
         3,
         {"a"}},
        {"ours_datum",
         ".json",
         "{\"heddle_graph\": 1, \"tasks\": [\n{\"flops\": 1, \"writes\": 4294967295}], \"edges\": []}",
         2,
         {"writes is 4294967295"}},
        {"ours_half_a_task", ".json", ours + "[0, 0.5, 5]\n]}\n", 7, {"0.5"}},

        {"unknown_format", ".xyz", "what is this?", 0, {"format", "unknown"}},
    };
    return all;
}

class Refusal : public testing::TestWithParam<Refused> {};

TEST_P(Refusal, NamesFileLineAndTasks) {
    const Refused& refused = GetParam();
    const std::string path = write(refused.label + refused.ending, refused.text);
    try {
        refused.ending == ".graph" || refused.ending == ".mesh" ? void(read_data_graph(path))
                                                                : void(read_task_graph(path));
        ADD_FAILURE() << "accepted:\n" << refused.text;
    } catch (const Error& error) {
        EXPECT_EQ(error.where().file, path) << error.what();
        EXPECT_EQ(error.where().line, refused.line) << error.what();
        for (const std::string& word : refused.words) EXPECT_THAT(error.message(), testing::HasSubstr(word));
    }
    std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(All, Refusal, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Refused>& test) { return test.param.label; });

TEST(Refusal, OfAFileThatIsNotThereOrNotAFile) {
    EXPECT_THROW(read_task_graph(testing::TempDir() + "graph_refused_nowhere.stg"), Error);
    EXPECT_THROW(read_task_graph(testing::TempDir()), Error);
    EXPECT_THROW(format_named("stgg"), Error);
}

TEST(Refusal, OfAnUndirectedGraphAsATaskGraph) {
    const std::string path = write("undirected.graph", "2 1\n2\n1\n");
    EXPECT_THROW(read_task_graph(path), Error);
    EXPECT_EQ(read_data_graph(path).edges(), 1U);
    std::filesystem::remove(path);
}

/// Whatever prefix of a good file is left, it is read or refused with a place; nothing else happens.
TEST(Refusal, NoCutMakesAFileDangerous) {
    const std::vector<std::pair<std::string, std::string>> files = {
        {"cut.stg", "2\n0 0 0\n1 5 1 0\n2 5 1 1\n3 0 1 2\n# end\n"},
        {"cut.dot", "digraph g {\na [Weight=1, x=\"y\"]; /* c */\nb [Weight=2];\na -> b [Weight=3];\n}\n"},
        {"cut.xml", dax_begin + job_a + job_b + "<child ref=\"b\"><parent ref=\"a\"/></child>\n</adag>\n"},
        {"cut15.json", wf("a", file_f, run_b)},
        {"cut.graph", "3 2 11\n1 2 5\n1 1 5 3 6\n1 2 6\n"},
        {"cut.mesh", "2\n1 2 3\n2 3 4\n"},
        {"cut.dag", hetero + "0: 0, 1, 5\n#end\n"},
        {"cut.json", ours + "[0, 1, 5]\n]}\n"},
        {"cut.tgff",
         "@TASK_GRAPH 0 {\nTASK a TYPE 0\nTASK b TYPE 0\nARC x FROM a TO b TYPE 1\n}\n@computation_cost 0 "
         "{\n0 0 5\n}\n"}};
    for (const auto& [name, text] : files) {
        std::size_t accepted = 0;
        for (std::size_t length = 0; length <= text.size(); ++length) {
            const std::string path = write(name, text.substr(0, length));
            try {
                read_data_graph(path);
                ++accepted;
            } catch (const Error& error) {
                EXPECT_EQ(error.where().file, path) << error.what();
            }
            std::filesystem::remove(path);
        }
        EXPECT_GE(accepted, 1U) << name;
        EXPECT_LE(accepted, 20U) << name;  // the last line break, a comment at the end, a last digit
    }
}

}  // namespace
}  // namespace heddle::graphs
