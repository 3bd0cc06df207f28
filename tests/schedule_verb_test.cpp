// Tests `heddle schedule`: its table and JSON, schedules written and read back, machines from options, and
// errors for bad input. The numbers of the small graph are worked out by hand below.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "partitioners/schedulers/scheduler.hpp"
#include "tests/cli_testing.hpp"

namespace heddle::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// a takes 2, then b and c take 3 each; b waits 4 for a's data on another processor, c waits 1. On two
// processors the best is a and b on one (0 to 5), c on the other (3 to 6): 6, because a path takes 5 and the
// three in a row take 8, and c cannot start on another processor before 3.
const std::string fork_of_three =
    "{\"heddle_graph\": 1,\n\"tasks\": [\n{\"flops\": 2, \"name\": \"a\"},\n{\"flops\": 3, \"name\": "
    "\"b\"},\n{\"flops\": 3, \"name\": \"c\"}\n],\n\"edges\": [\n[\"a\", \"b\", 4],\n[\"a\", \"c\", 1]\n]}\n";

class ScheduleVerb : public Folder {
protected:
    std::string graph() const { return file("fork.json", fork_of_three); }

    static json parsed(const std::vector<std::string>& words) {
        const Said said = heddle(words);
        EXPECT_EQ(said.code, 0) << said.err;
        return json::parse(said.out);
    }

    /// A schedule of the fork, with the given lines as placement.
    std::string schedule(const std::string& placement, const std::string& head = "") const {
        return file("schedule.json", "{" + head + "\"placement\": [\n" + placement + "\n]}\n");
    }
};

TEST_F(ScheduleVerb, OneSchedulerPrintsOneObjectWithMeasuresAndPlacement) {
    const json object = parsed({"schedule", graph(), "--scheduler", "portfolio", "--procs", "2", "--json"});
    EXPECT_EQ(object["scheduler"], "portfolio");
    EXPECT_EQ(object["graph"], graph());
    EXPECT_EQ(object["tasks"], 3);
    EXPECT_EQ(object["edges"], 2);
    EXPECT_EQ(object["processors"], 2);
    EXPECT_EQ(object["makespan"], 6);
    EXPECT_EQ(object["lower_bound"], 6);  // found by exhausting all schedules
    EXPECT_EQ(object["proved_optimal"], true);
    EXPECT_EQ(object["feasible"], true);
    EXPECT_DOUBLE_EQ(object["slr"], 6.0 / 5);
    EXPECT_DOUBLE_EQ(object["speedup"], 8.0 / 6);
    EXPECT_DOUBLE_EQ(object["efficiency"], 8.0 / 6 / 2);
    EXPECT_EQ(object["processors_used"], 2);
    EXPECT_GE(object["seconds"], 0);
    EXPECT_FALSE(object.contains("violations"));
    ASSERT_THAT(object["placement"], SizeIs(3));
    std::map<std::string, json> at;
    for (const json& entry : object["placement"]) at[entry["name"]] = entry;
    EXPECT_EQ(at["a"]["task"], 0);
    EXPECT_EQ(at["b"]["processor"], at["a"]["processor"]);
    EXPECT_NE(at["c"]["processor"], at["a"]["processor"]);
    EXPECT_EQ(at["c"]["start"], 3);
    EXPECT_EQ(at["c"]["finish"], 6);
}

TEST_F(ScheduleVerb, SeveralSchedulersPrintAListAndATableWithARowForEach) {
    const json object =
        parsed({"schedule", graph(), "--scheduler", "serial,portfolio", "--procs", "2", "--json"});
    ASSERT_THAT(object["schedules"], SizeIs(2));
    EXPECT_EQ(object["schedules"][0]["makespan"], 8);
    EXPECT_EQ(object["schedules"][1]["makespan"], 6);
    EXPECT_EQ(object["schedules"][0]["lower_bound"], 6);  // what the other proved
    EXPECT_EQ(object["schedules"][0]["proved_optimal"], false);
    EXPECT_THAT(object["schedules"][1]["placement"], SizeIs(3));

    const Said table = heddle({"schedule", graph(), "--scheduler", "all", "--procs", "2"});
    EXPECT_EQ(table.code, 0);
    EXPECT_THAT(table.out, HasSubstr("3 tasks, 2 edges; 2 processors; a message takes its bytes as time"));
    EXPECT_THAT(table.out, HasSubstr("makespan"));
    for (const std::string& name : schedulers::names())
        EXPECT_THAT(table.out, HasSubstr("\n" + name + " ")) << name;
    EXPECT_THAT(table.out, Not(HasSubstr("NO")));
}

TEST_F(ScheduleVerb, AGeneratedGraphIsScheduledOnAnyNumberOfProcessors) {
    // A fork of 5 equal tasks and a join, messages of no size: 3 levels of 10, 7 tasks.
    const std::string fork = "fork_join:width=5,stages=1,flops=10f,bytes=0";
    const json object = parsed({"schedule", fork, "--scheduler", "etf", "--procs", "unbounded", "--json"});
    EXPECT_EQ(object["processors"], "unbounded");
    EXPECT_EQ(object["makespan"], 30);
    EXPECT_EQ(object["processors_used"], 5);
    EXPECT_DOUBLE_EQ(object["efficiency"], 70.0 / 30 / 5);
}

TEST_F(ScheduleVerb, UnitsGiveTimesInSeconds) {
    // 2 flops at 1 f/s; b's 4 bytes take 1 s at 4 bytes a second after a latency of 1 s, c's byte 1.25 s.
    const std::vector<std::string> words = {"schedule",  graph(), "--scheduler",  "portfolio",
                                            "--procs",   "2",     "--core-speed", "1f",
                                            "--latency", "1s",    "--bandwidth",  "4Bps"};
    std::vector<std::string> with_json = words;
    with_json.emplace_back("--json");
    const json object = parsed(with_json);
    EXPECT_EQ(object["in_seconds"], true);
    EXPECT_DOUBLE_EQ(object["makespan"], 2 + 1.25 + 3);
    EXPECT_THAT(heddle(words).out,
                AllOf(HasSubstr("a message takes 1 s and its bytes at"), HasSubstr("6.25 s")));
    // The file's units: a unit of time stands for 10 flops, a unit of weight for 8 bytes: 20 + 1 + 2 + 30.
    for (const char* word : {"--time-unit", "10f", "--bytes-unit", "8B"}) with_json.emplace_back(word);
    EXPECT_DOUBLE_EQ(parsed(with_json)["makespan"], 53);
}

TEST_F(ScheduleVerb, MessagesWithinANodeAreFreeOrCheaper) {
    std::vector<std::string> words = {"schedule", graph(),   "--scheduler", "portfolio", "--nodes",
                                      "1",        "--cores", "2",           "--json"};
    const json free = parsed(words);
    EXPECT_EQ(free["makespan"], 5);  // the longest path
    EXPECT_EQ(free["processors"], 2);
    for (const char* word : {"--core-speed", "1f", "--latency", "9s", "--latency-within-node", "500ms"})
        words.emplace_back(word);
    EXPECT_DOUBLE_EQ(parsed(words)["makespan"], 5.5);
}

TEST_F(ScheduleVerb, CostsOnEachProcessorComeFromTheFile) {
    // x is fast on the second processor, y on the first: 1 + 1 and 2 for the message, or 1 + 9.
    const std::string costs =
        file("costs.txt", "#critical\n0\n#tasks\n0: 9, 1\n1: 1, 9\n#edges\n0: 0, 1, 2\n#end\n");
    const json object = parsed({"schedule", costs, "--scheduler", "heft", "--json"});
    EXPECT_EQ(object["makespan"], 4);
    EXPECT_EQ(object["processors"], 2);
    EXPECT_EQ(object["placement"][0]["processor"], 1);
    EXPECT_EQ(object["placement"][1]["processor"], 0);
    const Said wrong = heddle({"schedule", costs, "--scheduler", "heft", "--procs", "3"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("each of 2 processors; use as many"));
}

// 1.000 says that no schedule is shorter. heft's takes 75000000, which is the bound, and mcp's 75020000.
TEST_F(ScheduleVerb, ARatioAboveOneIsNotRoundedToOne) {
    const Said table = heddle({"schedule", "layered:tasks=600", "--scheduler", "mcp,heft", "--procs", "8"});
    EXPECT_THAT(table.out, testing::ContainsRegex("mcp +75020000 +75000000 +1\\.001"));
    EXPECT_THAT(table.out, testing::ContainsRegex("heft +75000000 +75000000 +1\\.000"));
}

#ifdef HEDDLE_SIM
TEST_F(ScheduleVerb, APlatformGivesWhatARunOfTheSameGraphIsPromised) {
    const std::string yaml = file("dag.yaml",
                                  "workload: {name: dag, graph: 'cholesky:tiles=6'}\n"
                                  "platform: {nodes: 3, cores: 2, network: {bandwidth: 10Gbps}}\n"
                                  "schedule: {placement: mcp, stealing: {victim: none}}\nbackend: sim\n");
    const json run = parsed({"run", yaml, "--json"});
    const json object =
        parsed({"schedule", "cholesky:tiles=6", "--scheduler", "mcp", "--platform", yaml, "--json"});
    EXPECT_EQ(object["makespan"], run["promised_seconds"]);
    EXPECT_EQ(object["lower_bound"], run["lower_bound_seconds"]);
    EXPECT_EQ(object["processors"], 6);
    EXPECT_EQ(object["in_seconds"], true);
    EXPECT_EQ(parsed({"schedule", "cholesky:tiles=6", "--scheduler", "mcp", "--platform",
                      "{nodes: 3, cores: 2}", "--set", "platform.nodes=5", "--json"})["processors"],
              10);
}
#endif

TEST_F(ScheduleVerb, TheSeedDecidesAndIsRecorded) {
    const auto random = [&](const char* seed) {
        json object = parsed({"schedule", "layered:tasks=40,width=5", "--scheduler", "random", "--procs", "3",
                              "--seed", seed, "--json"});
        EXPECT_EQ(object["seed"], std::stoul(seed));
        return object["placement"];
    };
    EXPECT_EQ(random("7"), random("7"));
    EXPECT_NE(random("7"), random("8"));
}

// A number of JSON is a double.
TEST_F(ScheduleVerb, ASeedThatAFileCannotHoldIsRefused) {
    const std::string out = folder / "seed.json";
    const auto made = [&](const char* seed) {
        return heddle(
            {"schedule", graph(), "--scheduler", "random", "--procs", "3", "--seed", seed, "--out", out});
    };
    for (const char* seed : {"9007199254740991", "9007199254740992"}) {
        ASSERT_EQ(made(seed).code, 0);
        EXPECT_EQ(parsed({"schedule", graph(), "--read", out, "--json"})["seed"], std::stoull(seed));
    }
    for (const char* seed : {"9007199254740993", "18446744073709551615"}) {
        EXPECT_EQ(made(seed).code, 2);
        EXPECT_THAT(made(seed).err, HasSubstr("--seed"));
    }
}

// A platform may have more than --procs can state.
TEST_F(ScheduleVerb, AScheduleOfAMillionProcessorsAndMoreIsRead) {
    const std::string out = folder / "large.json";
    ASSERT_EQ(heddle({"schedule", graph(), "--scheduler", "heft", "--procs", "1000000", "--out", out}).code,
              0);
    json object = json::parse(read(out));
    object["machine"]["processors"] = 1'200'000;
    const json again = parsed({"schedule", graph(), "--read", file("more.json", object.dump()), "--json"});
    EXPECT_EQ(again["machine"]["processors"], 1'200'000);
    object["machine"]["processors"] = 4294967295;
    const Said said = heddle({"schedule", graph(), "--read", file("most.json", object.dump())});
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, HasSubstr("expected a whole number from 1 to 4294967294"));
}

TEST_F(ScheduleVerb, ABudgetOfNothingStopsThePortfolioAtOnce) {
    // 300 tasks, 20 messages each: improving goes on for long unless it is stopped.
    const json object = parsed({"schedule", "layered:tasks=300,width=30,degree=20,spread=0.5", "--scheduler",
                                "portfolio,heft", "--procs", "8", "--budget", "0", "--json"});
    EXPECT_EQ(object["schedules"][0]["makespan"], object["schedules"][1]["makespan"]);
    EXPECT_EQ(object["schedules"][0]["feasible"], true);
}

TEST_F(ScheduleVerb, AScheduleIsDrawnWithItsIdleTimes) {
    const Said said = heddle({"schedule", graph(), "--scheduler", "portfolio", "--procs", "2", "--gantt"});
    EXPECT_EQ(said.code, 0);
    // 64 characters for 6 units: a to 21, b to 53; c from 32.
    const std::string first = "0" + std::string(20, '=') + "1" + std::string(31, '=') + std::string(11, '.');
    const std::string second = std::string(32, '.') + "2" + std::string(31, '=');
    EXPECT_THAT(said.out, AllOf(HasSubstr("  " + first + "\n"), HasSubstr("  " + second + "\n")));
}

TEST_F(ScheduleVerb, WhatIsWrittenReadsBackWithTheSameNumbers) {
    const std::string out = folder / "out.json";
    const std::string generated = "cholesky:tiles=5,tile_size=16";
    for (const std::vector<std::string>& machine : {std::vector<std::string>{"--procs", "3"},
                                                    {"--procs", "unbounded"},
                                                    {"--nodes", "2", "--cores", "2", "--core-speed", "3Gf",
                                                     "--latency", "1us", "--bandwidth", "1Gbps"}}) {
        std::vector<std::string> words = {"schedule", generated, "--scheduler", "mcp",
                                          "--out",    out,       "--json"};
        words.insert(words.end(), machine.begin(), machine.end());
        const json made = parsed(words);
        EXPECT_EQ(json::parse(read(out)), made);
        EXPECT_EQ(parsed({"schedule", generated, "--read", out, "--json"}), made);
    }
    EXPECT_THAT(std::vector<std::filesystem::path>(std::filesystem::directory_iterator(folder), {}),
                SizeIs(1))
        << "a temporary file is left";
}

TEST_F(ScheduleVerb, NamesThatJsonCannotHoldAreWrittenAndReadBack) {
    const std::string dot =
        file("odd.dot", "digraph { \"\xff \" [Weight=1]; b [Weight=2]; \"\xff \" -> b [Weight=3]; }");
    const std::string out = folder / "out.json";
    ASSERT_EQ(heddle({"schedule", dot, "--scheduler", "heft", "--procs", "2", "--out", out}).code, 0);
    EXPECT_EQ(json::parse(read(out))["placement"][0]["name"], "\uFFFD ");
    EXPECT_EQ(heddle({"schedule", dot, "--read", out}).code, 0);
}

TEST_F(ScheduleVerb, AReadScheduleIsCheckedOnTheStatedMachine) {
    const std::string out = folder / "out.json";
    ASSERT_EQ(heddle({"schedule", graph(), "--scheduler", "portfolio", "--procs", "2", "--out", out}).code,
              0);
    EXPECT_EQ(heddle({"schedule", graph(), "--read", out, "--procs", "4"}).code, 0);
    // Messages that take seconds arrive too late for it.
    const Said late =
        heddle({"schedule", graph(), "--read", out, "--procs", "2", "--core-speed", "1f", "--latency", "2s"});
    EXPECT_EQ(late.code, 1);
    EXPECT_THAT(late.err, HasSubstr("c starts at 3 on processor"));
    const Said few = heddle({"schedule", graph(), "--read", out, "--procs", "1"});
    EXPECT_EQ(few.code, 2);
    EXPECT_THAT(few.err, AllOf(StartsWith("heddle: " + out + ":"), HasSubstr("names processor 1")));
}

TEST_F(ScheduleVerb, ATamperedScheduleIsFoundInfeasibleAndExplained) {
    const std::string out = folder / "out.json";
    ASSERT_EQ(heddle({"schedule", graph(), "--scheduler", "portfolio", "--procs", "2", "--out", out}).code,
              0);
    const json good = json::parse(read(out));
    const auto said = [&](const char* name, const char* field, const json& value, bool with_json = false) {
        json bad = good;
        for (json& entry : bad["placement"]) {
            if (entry["name"] == name) entry[field] = value;
        }
        const std::string path = file("tampered.json", bad.dump());
        return heddle(with_json ? std::vector<std::string>{"schedule", graph(), "--read", path, "--json"}
                                : std::vector<std::string>{"schedule", graph(), "--read", path});
    };
    const std::vector<std::tuple<const char*, const char*, json, std::string>> cases = {
        {"c", "start", 2, "c runs from 2 to 6"},
        {"c", "finish", 5, "c runs from 3 to 5"},
        {"a", "start", -1, "a starts at -1"},
        {"c", "processor", good["placement"][0]["processor"], "is busy until"},
        {"b", "processor", good["placement"][2]["processor"], "the data of a arrive there at 6"},
    };
    for (const auto& [name, field, value, violation] : cases) {
        const Said text = said(name, field, value);
        EXPECT_EQ(text.code, 1) << violation;
        EXPECT_THAT(text.out, HasSubstr("NO"));
        EXPECT_THAT(text.err, AllOf(HasSubstr("not feasible"), HasSubstr(violation)));
        const Said object = said(name, field, value, true);
        EXPECT_EQ(object.code, 1);
        const json judged = json::parse(object.out);
        EXPECT_EQ(judged["feasible"], false);
        EXPECT_EQ(judged["proved_optimal"], false);
        EXPECT_THAT(judged["violations"].dump(), HasSubstr(violation));
    }
}

TEST_F(ScheduleVerb, AScheduleOfSomebodyElseNeedsOnlyItsPlacement) {
    const std::string by_hand = schedule(
        "{\"task\": \"c\", \"processor\": 1, \"start\": 3, \"finish\": 6},\n"
        "{\"task\": \"a\", \"processor\": 0, \"start\": 0, \"finish\": 2},\n"
        "{\"task\": 1, \"processor\": 0, \"start\": 2, \"finish\": 5}");
    const json judged = parsed({"schedule", graph(), "--read", by_hand, "--procs", "2", "--json"});
    EXPECT_EQ(judged["makespan"], 6);
    EXPECT_EQ(judged["lower_bound"], 5);  // the longest path: no search was run
    EXPECT_EQ(judged["scheduler"], "from file");
    const Said no_machine = heddle({"schedule", graph(), "--read", by_hand});
    EXPECT_EQ(no_machine.code, 0) << no_machine.err;  // by default a processor for each task
}

TEST_F(ScheduleVerb, DamagedScheduleFilesAreRefusedWithFileAndLine) {
    const std::string a = "{\"task\": 0, \"processor\": 0, \"start\": 0, \"finish\": 2}";
    const std::string b = "{\"task\": 1, \"processor\": 0, \"start\": 2, \"finish\": 5}";
    const std::string c = "{\"task\": 2, \"processor\": 1, \"start\": 3, \"finish\": 6}";
    const auto with = [](std::string text, const std::string& from, const std::string& to) {
        return text.replace(text.find(from), from.size(), to);
    };
    struct Case {
        std::string placement, head, line, message;
    };
    const std::vector<Case> cases = {
        {a + ",\n" + b, "", ":1", "1 of 3 tasks are not placed, the first is c"},
        {a + ",\n" + b + ",\n" + with(c, "2", "3"), "", ":4", "task 3 is unknown; the graph has 3"},
        {a + ",\n" + b + ",\n" + with(c, "2", "\"d\""), "", ":4", "task \"d\" is unknown; known: a, b, c"},
        {a + ",\n" + b + ",\n" + with(c, "2", "1.5"), "", ":4", "task 1.5 is unknown"},
        {a + ",\n" + b + ",\n" + b, "", ":4", "b is placed twice, first in line 3"},
        {a + ",\n" + b + ",\n" + with(c, "\"start\": 3, ", ""), "", ":4", "c has no \"start\""},
        {a + ",\n" + with(b, "5", "\"5\"") + ",\n" + c, "", ":3", "\"finish\" is a text, not a number"},
        {with(a, "\"processor\": 0", "\"processor\": -1") + ",\n" + b, "", ":2", "\"processor\" is -1"},
        {with(a, "\"processor\": 0", "\"processor\": 1e30") + ",\n" + b, "", ":2", "\"processor\" is 1e+30"},
        {with(a, "\"processor\": 0", "\"processor\": 2") + ",\n" + b + ",\n" + c, "", ":1",
         "names processor 2; the machine has 2"},
        {"7", "", ":2", "an entry of the placement is a number, not an object"},
        {with(a, "0", "0, \"name\": \"z\"") + ",\n" + b, "", ":2",
         "task 0 is called z here and a in the graph"},
        {a + ",\n" + b + ",\n" + c, "\"tasks\": 4,\n", ":1", "it has 4 tasks, this graph 3"},
        {a + ",\n" + b + ",\n" + c, "\n\"edges\": 1,\n", ":2", "it has 1 edges, this graph 2"},
        {a + ",\n" + b + ",\n" + c, "\n\"graph_hash\": \"0\",\n", ":2",
         "for another graph, of the same size"},
        {a, "\n\"machine\": {\"processors\": 0},\n", ":2", "\"processors\" is 0"},
        {a, "\n\"machine\": {\"processors\": 2},\n", ":2", "the machine has no \"processors_per_node\""},
        {a, "\n\"machine\": 2,\n", ":2", "\"machine\" is a number, not an object"},
        {a, "\n\"schedules\": [],\n", "", "several schedules in one file"},
    };
    for (const Case& one : cases) {
        const std::string path = schedule(one.placement, one.head);
        const Said said = heddle({"schedule", graph(), "--read", path, "--procs", "2"});
        EXPECT_EQ(said.code, 2) << one.message;
        EXPECT_THAT(said.err, AllOf(StartsWith("heddle: " + path + one.line + ""), HasSubstr(one.message)));
        EXPECT_THAT(said.out, IsEmpty());
    }
    const std::string whole = read(schedule(a + ",\n" + b + ",\n" + c));
    for (std::size_t bytes = 0; bytes + 2 < whole.size(); bytes += 7) {
        const std::string cut_short = file("short.json", whole.substr(0, bytes));
        const Said said = heddle({"schedule", graph(), "--read", cut_short, "--procs", "2"});
        EXPECT_EQ(said.code, 2) << bytes;
        EXPECT_THAT(said.err, StartsWith("heddle: " + cut_short));
    }
    const Said none = heddle({"schedule", graph(), "--read", folder / "none.json"});
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, HasSubstr("cannot be read"));
}

TEST_F(ScheduleVerb, AScheduleOfAGraphWithOtherWeightsIsRefused) {
    const std::string out = folder / "out.json";
    ASSERT_EQ(heddle({"schedule", graph(), "--scheduler", "heft", "--procs", "2", "--out", out}).code, 0);
    const Said units = heddle({"schedule", graph(), "--read", out, "--time-unit", "2f"});
    EXPECT_EQ(units.code, 2);
    EXPECT_THAT(units.err, AllOf(HasSubstr("another graph"), HasSubstr("--time-unit")));
    const Said other = heddle({"schedule", "cholesky", "--read", out});
    EXPECT_EQ(other.code, 2);
    EXPECT_THAT(other.err, HasSubstr("it has 3 tasks, this graph 220"));
}

TEST_F(ScheduleVerb, MistakesOnTheCommandLineAreNamed) {
    const std::string good = graph(), undirected = file("path.graph", "3 2\n2\n1 3\n2\n");
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{}, "GRAPH is required"},
        {{good, "--scheduler", "hept", "--procs", "2"}, "unknown scheduler \"hept\"; did you mean \"heft\"?"},
        {{good, "--scheduler", "heft,", "--procs", "2"}, "unknown scheduler \"\""},
        {{good, "--scheduler", "heft", "--procs", "0"}, "--procs: expected a whole number from 1"},
        {{good, "--scheduler", "heft", "--procs", "two"}, "--procs: expected a whole number"},
        {{good, "--scheduler", "heft", "--procs", "-2"}, "--procs: expected a whole number"},
        {{good, "--scheduler", "heft", "--procs", "9999999999"}, "--procs: expected a whole number"},
        {{good, "--scheduler", "heft", "--nodes", "2", "--cores", "0"}, "--cores: expected a whole number"},
        {{good, "--scheduler", "heft", "--nodes", "2", "--cores", "3", "--procs", "4"},
         "2 nodes of 3 cores are not 4 processors"},
        {{good, "--scheduler", "heft", "--nodes", "2", "--procs", "unbounded"}, "nodes have a number"},
        {{good, "--scheduler", "heft", "--procs", "2", "--latency", "1us"}, "state --core-speed too"},
        {{good, "--scheduler", "heft", "--procs", "2", "--core-speed", "1Gf", "--latency", "1"},
         "--latency: no unit in `1`; expected a time"},
        {{good, "--scheduler", "heft", "--procs", "2", "--core-speed", "1Hz"},
         "--core-speed: unknown unit `Hz`"},
        {{good, "--scheduler", "heft", "--procs", "2", "--core-speed", "0f"},
         "--core-speed: a processor without"},
        {{good, "--scheduler", "heft", "--procs", "2", "--core-speed", "1f", "--bandwidth", "0bps"},
         "--bandwidth: nothing passes"},
        {{good, "--scheduler", "heft", "--procs", "2", "--core-speed", "1f", "--latency-within-node", "1s"},
         "no nodes; state --nodes and --cores"},
        {{good, "--bytes-as-time", "--core-speed", "1f", "--latency", "1s"}, "leave out --bytes-as-time"},
        {{good, "--scheduler", "heft", "--platform", "{nodes: 2}", "--procs", "2"},
         "--procs excludes --platform"},
        {{good, "--scheduler", "heft", "--set", "platform.nodes=2"}, "--set requires --platform"},
        {{good, "--scheduler", "heft", "--platform", "{nods: 2}"}, "unknown key \"nods\""},
        {{good, "--scheduler", "heft", "--platform", folder / "none.yaml"}, "none.yaml: cannot be read"},
        {{good, "--scheduler", "heft", "--procs", "2", "--seed", "-1"}, "--seed: expected a whole number"},
        {{good, "--scheduler", "heft", "--procs", "2", "--budget", "soon"},
         "--budget: budget: expected a number"},
        {{good, "--scheduler", "heft", "--procs", "2", "--budget", "-1"},
         "--budget: budget: -1 is out of range; expected 0 or more"},
        {{good, "--scheduler", "heft", "--procs", "2", "--format", "stx"},
         "--format: unknown format \"stx\""},
        {{good, "--scheduler", "heft", "--procs", "2", "--time-unit", "0f"},
         "--time-unit: a unit of nothing"},
        {{good, "--scheduler", "heft", "--procs", "2", "--bytes-unit", "x"}, "--bytes-unit: "},
        {{good, "--scheduler", "all", "--procs", "2", "--out", folder / "x"}, "a file holds one schedule"},
        {{good, "--scheduler", "heft", "--procs", "2", "--out", folder / "no" / "x"},
         "the schedule cannot be written to"},
        {{good, "--scheduler", "heft", "--procs", "2", "--read", good}, "--scheduler excludes --read"},
        {{good, "--scheduler", "heft", "--procs", "2", "--gantt", "--json"}, "--gantt excludes --json"},
        {{good, "--schedular", "heft"}, "unknown option --schedular; did you mean \"--scheduler\"?"},
        {{undirected, "--scheduler", "heft", "--procs", "2"}, undirected + ": this graph is undirected"},
        {{"choleski", "--scheduler", "heft", "--procs", "2"}, "there is no file `choleski`"},
        {{folder / "none.stg", "--scheduler", "heft", "--procs", "2"}, "cannot be read"},
    };
    for (auto [words, message] : cases) {
        words.insert(words.begin(), "schedule");
        const Said said = heddle(words);
        EXPECT_EQ(said.code, 2) << message;
        EXPECT_THAT(said.err, AllOf(StartsWith("heddle: "), HasSubstr(message)));
        EXPECT_THAT(said.out, IsEmpty()) << message;
        EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << said.err;
    }
}

TEST_F(ScheduleVerb, ASchedulerThatIsNamedTwiceSchedulesOnce) {
    const std::string out = folder / "one.json";
    EXPECT_EQ(heddle({"schedule", graph(), "--scheduler", "heft,heft", "--procs", "2", "--out", out}).code,
              0);
    EXPECT_EQ(heddle({"schedule", graph(), "--scheduler", "heft,etf", "--procs", "2", "--out", out}).code, 2);
}

TEST_F(ScheduleVerb, WorkBeyondTheRangeOfNumbersIsRefused) {
    const std::string huge = file("huge.stg", "2\n0 0 0\n1 1e308 1 0\n2 1e308 1 1\n3 0 1 2\n");
    const Said said = heddle({"schedule", huge, "--scheduler", "heft", "--procs", "2", "--json"});
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, HasSubstr("beyond the range of numbers"));
    EXPECT_EQ(heddle({"schedule", huge, "--scheduler", "heft", "--procs", "2"}).err, said.err);
}

}  // namespace
}  // namespace heddle::testing_cli
