// Tests the verbs of heddle besides `run`, and the errors for mistakes on the command line.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "model/fork_join.hpp"
#include "tests/cli_testing.hpp"
#include "workloads/workload.hpp"

namespace heddle::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// A task that cannot leave its node.
struct Pinned {
    static int run(model::Strand, const int* where) { return *where; }
};
class PinnedWorkload final : public workloads::Workload {
public:
    std::unique_ptr<runtime::Program> program(NodeId) const override { return nullptr; }
    workloads::Verdict check(const runtime::RunResult&) const override { return {}; }
    std::vector<const runtime::TaskType*> tasks() const override {
        return {&model::TaskFunction<Pinned>::type};
    }
};
const workloads::Registration registration{
    {"pinned", "for this test", {}, [](const Settings&) -> std::unique_ptr<workloads::Workload> {
         return std::make_unique<PinnedWorkload>();
     }}};

class Verbs : public Folder {};

TEST_F(Verbs, AloneHeddleExplainsItselfWithExamples) {
    const Said said = heddle({});
    EXPECT_EQ(said.code, 0);
    EXPECT_THAT(said.out, AllOf(HasSubstr("run "), HasSubstr("launch "), HasSubstr("doctor ")));
    std::size_t examples = 0;
    for (std::size_t at = said.out.find("\n  heddle "); at != std::string::npos;
         at = said.out.find("\n  heddle ", at + 1)) {
        ++examples;
    }
    EXPECT_EQ(examples, 4U);
    EXPECT_EQ(heddle({"--help"}).out, said.out);
    EXPECT_THAT(heddle({"--version"}).out, testing::MatchesRegex("heddle [0-9]+\\.[0-9]+\\.[0-9]+\n"));
    EXPECT_THAT(heddle({"run", "--help"}).out, HasSubstr("--set"));
}

TEST_F(Verbs, MistakesOnTheCommandLineAreNamedWithTheNearestKnownName) {
    const std::string good = file("a.yaml", "workload: {name: fib, n: 5}");
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{"runn"}, "heddle: unknown verb \"runn\"; did you mean \"run\"? known: run, compare, schedule,"},
        {{"platform", "sho"}, "heddle: unknown verb \"sho\"; did you mean \"show\"?"},
        {{"run", good, "--bakcend", "sim"}, "heddle: unknown option --bakcend; did you mean \"--backend\"?"},
        {{"--jsno"}, "heddle: unknown option --jsno"},
        {{"run"}, "heddle: FILE is required; see heddle run --help"},
        {{"platform", "show"}, "heddle: PLATFORM is required; see heddle platform show --help"},
        {{"run", good, "extra"}, "heddle: one word too many: \"extra\"; see heddle run --help"},
        {{"run", good, "--set"}, "heddle: --set: 1 required KEY=VALUE missing; see heddle run --help"},
        {{"run", good, "--set", "seed"}, "heddle: --set seed: expected KEY=VALUE; write it like"},
        {{"run", good, "--set", "sead=1"},
         "heddle: --set sead: unknown key \"sead\"; did you mean \"seed\"?"},
        {{"run", good, "--backend", "sin"},
         "heddle: --backend: unknown value \"sin\"; did you mean \"sim\"?"},
        {{"run", good, "--seed", "-1"}, "heddle: --seed: -1 is negative; expected 0 to"},
        {{"run", good, "--repeat", "0"}, "heddle: --repeat: 0 is out of range; expected 1 to"},
        {{"list", "workload"}, "heddle: there is no list of \"workload\"; did you mean \"workloads\"?"},
        {{"launch", "--", "heddle"}, "heddle: the number of nodes is missing; give -n, or name hosts"},
        {{"launch", "-n", "2"}, "heddle: nothing to launch; write it like"},
        {{"launch", "-n", "0", "--", "heddle"}, "heddle: cannot launch 0 nodes; -n takes 1 to"},
        {{"launch", "-n", "1", "--address", "eth_9", "--", "true"},
         "heddle: this machine has no interface \"eth_9\" with an address; this machine has "},
        {{"launch", "-n", "1", "--address", "203.0.113.9", "--", "true"},
         "heddle: 203.0.113.9 is no address of this machine; this machine has "},
        {{"launch", "-n", "1", "--", "no/program"},
         "heddle: cannot run no/program: No such file or directory; check the path"},
#ifdef HEDDLE_SIM
        {{"validate", good, "--budget", "10"}, "heddle: --budget: no unit in `10`; expected a time"},
        {{"calibrate", "--quick", "--simulate", "{cores: 1}", "--out", folder / "no" / "a.yaml"},
         "heddle: the platform file cannot be written to"},
#endif
        {{"platform", "show", "{cores 1}"}, "heddle: the command line:1: unknown key \"cores 1\""},
        {{"run", folder / "none.yaml"},
         "heddle: " + (folder / "none.yaml").string() + ": cannot be read (No such file"},
    };
    for (const auto& [words, message] : cases) {
        const Said said = heddle(words);
        EXPECT_EQ(said.code, 2) << message;
        EXPECT_THAT(said.err, StartsWith(message));
        EXPECT_THAT(said.out, IsEmpty());
        EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << said.err;
    }
}

TEST_F(Verbs, OptionsThatWouldHaveNoEffectAreRefused) {
    const std::string good = file("a.yaml", "workload: {name: fib, n: 5}\nbackend: inprocess");
    const std::string calls = file("calls.yaml", "workload: {name: collective}\nbackend: sim");
    const std::string graph = "cholesky:tiles=2";
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{"calibrate", "--workload", good, "--out", "x"},
         "--out excludes --workload; leave one of them out; see heddle calibrate --help"},
        {{"calibrate", "--workload", good, "--quick"}, "--quick excludes --workload"},
        {{"calibrate", "--workload", good, "--hosts", "a,b"}, "--hosts excludes --workload"},
        {{"calibrate", "--diff", good, good, "--out", "x"}, "--out excludes --diff"},
        {{"calibrate", "--diff", good, good, "--repetitions", "3"}, "--repetitions excludes --diff"},
        {{"calibrate", "--diff", good, good, "--workload", good}, "--diff excludes --workload"},
        {{"calibrate", "--simulate", "{cores: 1}", "--force", "--out", "x"}, "--force excludes --simulate"},
        {{"run", good, "--resolve", "--out", "x"}, "--out excludes --resolve"},
        {{"run", good, "--resolve", "--gantt"}, "--gantt excludes --resolve"},
        {{"run", good, "--no-tables"}, "--no-tables requires --out"},
        {{"run", good, "--trace", "x.paje", "--tasks", "./x.paje"},
         "--trace and --tasks are both ./x.paje; name another file for one of them"},
        {{"run", good, "--tasks-max", "5"}, "--tasks-max limits a record, and none is wanted; add --trace"},
        {{"compare", good, "--show", "--retry-failed"}, "--retry-failed excludes --show"},
        {{"compare", good, "--show", "--slurm"}, "--show excludes --slurm"},
        {{"compare", good, "--slurm", "--shard", "0/2"}, "--shard excludes --slurm"},
        {{"compare", good, "--slurm", "--json"}, "--json excludes --slurm"},
        {{"compare", good, "--submit"}, "--submit requires --slurm"},
        {{"compare", good, "--tasks", "4"}, "--tasks requires --slurm"},
        {{"doctor", "--ssh", "rsh"}, "--ssh goes with several hosts; add --hosts"},
        {{"doctor", "--hosts", "a", "--hostfile", "b"}, "--hosts excludes --hostfile"},
        {{"launch", "--join", "run", "--ssh", "rsh"}, "--join excludes --ssh"},
        {{"launch", "-n", "1", "--meeting-time", "-1", "--", "true"},
         "--meeting-time: Value -1 not in range"},
        {{"platform", "show", "{nodes: 4}", "--set", "nodes=5"},
         "--set nodes: \"nodes\" is no key of a platform; these begin with `platform.`"},
        {{"schedule", graph, "--platform", "{nodes: 2}", "--set", "workload.n=5"},
         "--set workload.n: \"workload.n\" is no key of a platform"},
        {{"schedule", graph, "--procs", "2", "--budget", "1"},
         "--budget: none of these schedulers improves a schedule as long as it may; add portfolio"},
        {{"tune", calls, "--set", "workload.bytes=8"},
         "--set workload.bytes: tune varies it itself; state --bytes"},
        {{"tune", calls, "--nodes", "2", "--set", "platform.nodes=4"},
         "--set platform.nodes: tune varies it itself; state it by --nodes alone"},
    };
    for (const auto& [words, message] : cases) {
        const Said said = heddle(words);
        EXPECT_EQ(said.code, 2) << message;
        EXPECT_THAT(said.err, StartsWith("heddle: " + message));
        EXPECT_THAT(said.out, IsEmpty()) << message;
        EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << said.err;
    }
}

TEST_F(Verbs, AnOutputThatWouldReplaceAnInputIsRefused) {
    const std::string text = "workload: {name: collective}\nbackend: sim\n";
    const std::string yaml = file("a.yaml", text);
    const std::string edges = "3 2\n2\n1 3\n2\n";
    const std::string graph = file("a.graph", edges);
    const std::string one = R"({"heddle_graph": 1, "tasks": [{"name": "a", "flops": 1}], "edges": []})";
    const std::string tasks = file("a.json", one);
    const std::string dag = file("dag.yaml", "workload: {name: dag, graph: a.json}\nbackend: inprocess\n");
    const std::string own = "workload: {name: collective}\nplatform: {from: p.yaml}\nbackend: sim\n";
    const std::string machine = file("p.yaml", "nodes: 2\n");
    const std::vector<std::vector<std::string>> commands = {
        {"run", dag, "--tasks", dag},
        {"run", dag, "--tasks", tasks},
        {"run", dag, "--trace", file("dag.yaml.paje", "x"), "--tasks", tasks},
        {"tune", file("own.yaml", own), "--out", machine},
        {"schedule", tasks, "--procs", "2", "--out", tasks},
        {"schedule", tasks, "--platform", yaml, "--out", yaml},
        {"partition", graph, "--partitioner", "metis", "--parts", "2", "--out", graph},
        {"calibrate", "--simulate", yaml, "--out", yaml},
        {"tune", yaml, "--out", yaml},
    };
    for (const std::vector<std::string>& words : commands) {
        const Said said = heddle(words);
        EXPECT_EQ(said.code, 2) << words.front();
        EXPECT_EQ(said.err, "heddle: " + words.end()[-2] + " " + words.back() +
                                " is a file that this command reads; name another file for the output\n");
    }
    EXPECT_EQ(read(yaml), text);
    EXPECT_EQ(read(machine), "nodes: 2\n");
    EXPECT_EQ(read(graph), edges);
    EXPECT_EQ(read(tasks), one);
}

TEST_F(Verbs, AnOutputOfTheWorkloadIsNoOtherOutputOfTheRun) {
    file("a.fa", ">a\nACGT\n");
    const std::string yaml =
        file("a.yaml", "workload: {name: atgc, a: a.fa, b: a.fa, output: out/o.csv}\nbackend: inprocess\n");
    const std::string output = folder / "out" / "o.csv";
    std::filesystem::create_directories(folder / "out");
    for (const std::string option : {"--tasks", "--trace"}) {
        const Said said = heddle({"run", yaml, option, output});
        EXPECT_EQ(said.code, 2);
        EXPECT_THAT(said.err, HasSubstr("a.yaml:1: workload.output and " + option + " are both " + output));
    }
    for (const std::string& out :
         {folder.string(), (folder / "out").string(), folder.string() + "/out/../out"}) {
        const Said said = heddle({"run", yaml, "--out", out});
        EXPECT_EQ(said.code, 2);
        EXPECT_THAT(said.err, HasSubstr(output + ", in the directory of results " + out));
    }
    EXPECT_FALSE(std::filesystem::exists(output));
    EXPECT_EQ(heddle({"run", yaml, "--out", folder / "out2", "--tasks", folder / "out2.csv"}).code, 0);
    EXPECT_TRUE(std::filesystem::exists(output));
}

TEST_F(Verbs, AReportReplacesNoResultButAnEarlierPage) {
    const std::string yaml = file("a.yaml", "workload: {name: fib, n: 5}\nbackend: inprocess\n");
    const std::string results = folder / "r";
    ASSERT_EQ(heddle({"run", yaml, "--out", results}).code, 0);
    std::vector<std::string> kept;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(results))
        if (entry.is_regular_file()) kept.push_back(entry.path());
    ASSERT_GT(kept.size(), 4U);
    std::filesystem::create_symlink("r/runs.csv", folder / "link.html");
    kept.push_back(folder / "link.html");
    for (const std::string& path : kept) {
        const std::string before = read(path);
        const Said said = heddle({"report", results, "--out", path});
        EXPECT_EQ(said.code, 2) << path;
        EXPECT_EQ(said.err, "heddle: --out " + path + " is a file of the results in " + results +
                                "; name another file for the page\n");
        EXPECT_EQ(read(path), before);
    }
    const std::string page = results + "/page.html";
    for (int time = 0; time < 2; ++time) EXPECT_EQ(heddle({"report", results, "--out", page}).code, 0);
    file("elsewhere.txt", "x");
    EXPECT_EQ(heddle({"report", results, "--out", folder / "elsewhere.txt"}).code, 0);
}

TEST_F(Verbs, MistakesInAFileAreNamedWithFileLineAndAdvice) {
    const std::vector<std::array<std::string, 3>> cases = {
        {"workload: {name: fib}\nplatfrom: {nodes: 1}", ":2: unknown key \"platfrom\"",
         "did you mean \"platform\"?"},
        {"workload:\n  name: fib\n  n: many", ":3: workload.n: expected a whole number, found `many`",
         "expected 0 to 78"},
        {"workload: {name: fib}\nschedule:\n  stack: -8MiB", ":3: schedule.stack: negative size `-8MiB`",
         "expected a size"},
        {"workload: {name: fib}\nschedule: {stealing: {victim: randm}}",
         ":2: schedule.stealing.victim: unknown value \"randm\"", "did you mean \"random\"?"},
        {"workload: {name: fib}\nplatform:\n  cores: 0", ":3: platform.cores: 0 is out of range",
         "expected 1 to"},
        {"workload: {name: pinned}\nbackend: inprocess\nplatform:\n  nodes: 2",
         ":4: pinned cannot run on 2 nodes", "set platform.nodes to 1"},
        {"workload: {name: fib\n", ":", "check colons, brackets and indentation"},
        {"workload: {name: dag, graph: none.dot}",
         ":1: workload.graph: " + (folder / "none.dot").string() + ": cannot be read", "check the path"},
    };
    for (const auto& [text, message, advice] : cases) {
        const std::string path = file("bad.yaml", text);
        const Said said = heddle({"run", path});
        EXPECT_EQ(said.code, 2);
        EXPECT_THAT(said.err, StartsWith("heddle: " + path + message));
        EXPECT_THAT(said.err, HasSubstr("; "));
        EXPECT_THAT(said.err, HasSubstr(advice));
        EXPECT_THAT(said.out, IsEmpty());
    }
}

TEST_F(Verbs, ListNamesEverythingWithHelpAndSettings) {
    for (const char* topic : {"workloads", "stealing", "partitioners", "graph_partitioners", "schedulers",
                              "graphs", "platforms", "models"}) {
        const Said text = heddle({"list", topic});
        EXPECT_EQ(text.code, 0);
        const json array = json::parse(heddle({"list", topic, "--json"}).out);
        ASSERT_GE(array.size(), 1U) << topic;
        for (const json& item : array) {
            EXPECT_FALSE(item["help"].get<std::string>().empty());
            EXPECT_THAT(text.out, HasSubstr(item["name"].get<std::string>()));
        }
    }
    // Without a topic the verb lists the topics, and so does `platform` the kinds of platforms.
    const Said topics = heddle({"list"});
    EXPECT_EQ(topics.code, 0);
    EXPECT_THAT(topics.out,
                AllOf(HasSubstr("workloads"), HasSubstr("graph_partitioners"), HasSubstr("models")));
    const Said platforms = heddle({"platform"});
    EXPECT_EQ(platforms.code, 0) << platforms.err;
    EXPECT_THAT(platforms.out, AllOf(HasSubstr("fat_tree"), HasSubstr("dragonfly")));
    EXPECT_THAT(heddle({"list", "stealing"}).out,
                AllOf(HasSubstr("local_first"), HasSubstr("hierarchical"), HasSubstr("lifeline")));
    const json workloads = json::parse(heddle({"list", "workloads", "--json"}).out);
    const auto fib = std::find_if(workloads.begin(), workloads.end(),
                                  [](const json& item) { return item["name"] == "fib"; });
    ASSERT_NE(fib, workloads.end());
    EXPECT_EQ((*fib)["settings"][0]["name"], "n");
    EXPECT_EQ((*fib)["settings"][0]["default"], "30");
}

TEST_F(Verbs, DoctorKnowsWhatIsBuiltIn) {
    const json object = json::parse(heddle({"doctor", "--json"}).out);
#ifdef HEDDLE_SIM
    EXPECT_EQ(object["simulation"], true);
    EXPECT_FALSE(object["simgrid"].get<std::string>().empty());
#else
    EXPECT_EQ(object["simulation"], false);
#endif
    EXPECT_GE(object["cores"], 1);
    EXPECT_THAT(heddle({"doctor"}).out, AllOf(HasSubstr("simulation"), HasSubstr("fib")));
}

TEST_F(Verbs, SchemaIsJson) {
    const json schema = json::parse(heddle({"schema"}).out);
    EXPECT_EQ(schema["properties"]["platform"]["properties"]["nodes"]["minimum"], 1);
    EXPECT_EQ(schema["properties"]["workload"]["properties"]["name"]["enum"].back(), "uts");
}

#ifdef HEDDLE_SIM
TEST_F(Verbs, PlatformShowDescribesWhatASimulationWouldBuild) {
    const std::string path =
        file("a.yaml", "workload: {name: fib}\nplatform: {nodes: 6, cores: 3, network: {latency: 2us}}\n");
    const json object = json::parse(heddle({"platform", "show", path, "--json"}).out);
    EXPECT_EQ(object["nodes"], 6);
    EXPECT_EQ(object["cores"]["total"], 18);
    EXPECT_EQ(object["topology"], "star");
    const Said text =
        heddle({"platform", "show", "{nodes: 8, network: {topology: torus, shape: [2, 2, 2]}}"});
    EXPECT_EQ(text.code, 0);
    EXPECT_THAT(text.out,
                AllOf(HasSubstr("torus (2 x 2 x 2)"), HasSubstr("latency"), HasSubstr("lookahead")));
    EXPECT_EQ(
        json::parse(heddle({"platform", "show", path, "--set", "platform.nodes=2", "--json"}).out)["nodes"],
        2);
    const std::string sized =
        "{nodes: 2, overheads: {message_bytes: [{size: 64KiB, send: 500us, receive: 400us}]}}";
    EXPECT_THAT(heddle({"platform", "show", sized}).out, HasSubstr("\n  64KiB  500us    400us\n"));
    EXPECT_EQ(json::parse(heddle({"platform", "show", sized, "--json"}).out)["overheads"]["message_bytes"],
              json::parse(R"([{"size": "64KiB", "send": "500us", "receive": "400us"}])"));
    // Longer than a file's name may be.
    const Said with_long_text = heddle({"platform", "show", "{nodes: 8" + std::string(5000, ' ') + "}"});
    EXPECT_EQ(with_long_text.code, 0) << with_long_text.err;
    // An experiment that states no platform has the default one.
    const std::string stated = heddle({"platform", "show", "{nodes: 1}"}).out;
    const std::string silent = file("silent.yaml", "workload: {name: fib}\n");
    EXPECT_EQ(heddle({"platform", "show", silent}).out, stated);
    const Said unknown = heddle({"schedule", std::string(5000, 'a')});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("there is no file")) << unknown.err.substr(0, 200);
    const Said bad = heddle({"platform", "show", "{nodess: 8}"});
    EXPECT_EQ(bad.code, 2);
    EXPECT_THAT(
        bad.err,
        StartsWith(
            "heddle: the command line:1: unknown key \"nodess\" in platform; did you mean \"nodes\"?"));
}
#endif

TEST_F(Verbs, LaunchStartsANativeRunInWhichOnlyOneNodeSpeaks) {
    const std::string path =
        file("a.yaml", "workload: {name: uts, depth: 7}\nplatform: {nodes: 16, cores: 2}\nbackend: native\n");
    const Said said = binary("launch -n 2 -- heddle run " + path + " --json");
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_THAT(said.err, IsEmpty());
    const json object = json::parse(said.out);
    EXPECT_EQ(object["answer"]["nodes"], 63914);
    EXPECT_EQ(object["nodes"], 2);  // not the file's
    EXPECT_EQ(object["configuration"]["platform"]["nodes"], 2);
    const Said table = binary("launch -n 2 heddle run " + path);  // the dashes may be left out
    EXPECT_EQ(table.code, 0);
    EXPECT_EQ(table.out.find("uts on 2 x 2"), table.out.rfind("uts on 2 x 2"));
    EXPECT_THAT(table.out, HasSubstr("thief \\ victim"));
}

TEST_F(Verbs, AMistakeUnderLaunchIsSaidOnce) {
    const std::string path = file("a.yaml", "workload: {name: fib, m: 7}\n");
    const Said said = binary("launch -n 3 -- heddle run " + path);
    EXPECT_EQ(said.code, 2);
    EXPECT_EQ(said.err,
              "heddle: " + path + ":1: unknown key \"m\" in workload; known: n, cutoff, unit_cost, unroll\n");
    const Said other = binary("launch -n 2 -- heddle run " + path + " --set workload.m=1 --backend sim");
    EXPECT_EQ(other.code, 2);
}

TEST_F(Verbs, AVerbThatStartsProcessesItselfIsNotLaunched) {
    const std::string path = file("a.yaml", "workload: {name: fib, n: 5}\n");
    for (const std::string& verb : {"calibrate --quick --out " + (folder / "x.yaml").string(),
                                    "calibrate --workload " + path, "compare " + path, "validate " + path}) {
        const Said said = binary("launch -n 2 -- heddle " + verb);
        EXPECT_EQ(said.code, 2) << verb;
        EXPECT_THAT(said.err, HasSubstr(" starts processes of its own; leave `heddle launch` out: ")) << verb;
    }
}

TEST_F(Verbs, AResultDirectoryThatCannotBeWrittenEndsALaunchedRunToo) {
    const std::string path = file("a.yaml", "workload: {name: fib, n: 5}\n");
    file("taken", "x");
    const Said said = binary("launch -n 2 -- heddle run " + path + " --out " + (folder / "taken").string());
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, HasSubstr("results cannot be written to"));
    EXPECT_THAT(said.out, IsEmpty());
}

TEST_F(Verbs, OutputThatCannotBeWrittenIsAFailureAndSaidSo) {
    const std::string lost = "heddle: standard output could not be written\n";
    const auto without_output = [&](const std::string& words) {
        const std::string err = folder / "err.txt";
        const std::string command = HEDDLE_BINARY " " + words + " >/dev/full 2>" + err;
        const int status = std::system(command.c_str());
        return Said{WEXITSTATUS(status), "", read(err)};
    };
    const Said listed = without_output("list workloads");
    EXPECT_EQ(listed.code, 2);
    EXPECT_EQ(listed.err, lost);
#ifdef HEDDLE_SIM
    // Undecided, which is 5, would say that the verdict was printed.
    const std::string path = file("a.yaml", "workload: {name: fib, n: 5}\nbackend: sim\n");
    const Said shown = without_output("validate " + path + " --show --json --out " + (folder / "v").string());
    EXPECT_EQ(shown.code, 2);
    EXPECT_THAT(shown.err, HasSubstr(lost));
#endif
}

#ifdef HEDDLE_SIM
TEST_F(Verbs, MessagesDoNotGoIntoAFileThatHasTheNumberOfAClosedDescriptor) {
    const auto tuned = [&](const std::string& name, const std::string& redirection) {
        const std::string out = folder / name;
        const std::string command = HEDDLE_BINARY
                                    " tune --operations all_reduce --bytes 8 --nodes 4 --threads 1 --out " +
                                    out + " >/dev/null " + redirection;
        EXPECT_EQ(std::system(command.c_str()), 0);
        return read(out);
    };
    const std::string rules = tuned("open.yaml", "2>/dev/null");
    EXPECT_THAT(rules, StartsWith("# Which algorithm"));
    EXPECT_EQ(tuned("closed.yaml", "2>&-"), rules);
    EXPECT_EQ(tuned("all_closed.yaml", "2>&- <&-"), rules);
    const std::string closed = HEDDLE_BINARY " list workloads >&- 2>/dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(closed.c_str())), 2);
}
#endif

}  // namespace
}  // namespace heddle::testing_cli
