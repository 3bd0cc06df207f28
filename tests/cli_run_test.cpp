// Tests `heddle run`: its output, the files that it leaves, and its exit codes.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "model/fork_join.hpp"
#include "tests/cli_testing.hpp"
#include "workloads/workload.hpp"

namespace heddle::testing_cli {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// Runs nothing, and answers 41 where 42 is expected if it is told to be wrong. Or it throws.
int programs_made = 0;
class OddProgram final : public model::ForkJoinProgram {
public:
    OddProgram(double value, bool throws) : value_(value), throws_(throws) {}
    void root(model::Strand) override {
        if (throws_) throw std::out_of_range("odd indeed");
    }
    runtime::Answer answer() const override { return {{"value", value_}}; }

private:
    double value_;
    bool throws_;
};
class OddWorkload final : public workloads::Workload {
public:
    OddWorkload(bool wrong, bool throws) : wrong_(wrong), throws_(throws) {}
    std::unique_ptr<runtime::Program> program(NodeId node) const override {
        ++programs_made;
        return std::make_unique<OddProgram>(node == 0 ? (wrong_ ? 41 : 42) : 0, throws_);
    }
    workloads::Verdict check(const runtime::RunResult& result) const override {
        const runtime::Answer& answer = result.answer;
        return workloads::judge(answer, {{"value", 42}}, "the test");
    }
    std::vector<const runtime::TaskType*> tasks() const override { return {}; }

private:
    bool wrong_, throws_;
};
const workloads::Registration registration{
    {"odd",
     "for this test",
     {{"wrong", SettingKind::boolean, "false", "answer wrongly"},
      {"throws", SettingKind::boolean, "false", "end with an exception"}},
     [](const Settings& settings) -> std::unique_ptr<workloads::Workload> {
         return std::make_unique<OddWorkload>(settings.boolean("wrong"), settings.boolean("throws"));
     }}};

class Run : public Folder {
protected:
    std::string odd() const { return file("odd.yaml", "workload: {name: odd}\n"); }
    std::string fib() const {
        return file("fib.yaml",
                    "workload: {name: fib, n: 12}\nplatform: {nodes: 3, cores: 2}\nbackend: inprocess\n");
    }
};

TEST_F(Run, PrintsATableForPeople) {
    const Said said = heddle({"run", fib()});
    EXPECT_EQ(said.code, 0);
    EXPECT_THAT(said.err, IsEmpty());
    EXPECT_THAT(said.out, StartsWith("fib: fib on 3 x 2 inprocess (seed 1)\n  answer     value 144\n"));
    for (const char* line : {"check      right (", "makespan", "tasks      233\n", "steals     ", "messages",
                             "wall time", "memory", "thief \\ victim"}) {
        EXPECT_THAT(said.out, HasSubstr(line));
    }
}

TEST_F(Run, PrintsOneJsonObjectAndNothingElse) {
    const Said said = heddle({"run", fib(), "--json", "--set", "workload.n=13", "--seed", "9"});
    EXPECT_EQ(said.code, 0);
    EXPECT_THAT(said.err, IsEmpty());
    const json object = json::parse(said.out);
    for (const char* field :
         {"workload", "backend", "ok", "answer", "makespan_seconds", "tasks", "steals", "messages", "bytes",
          "time_seconds", "wall_seconds", "peak_memory_bytes", "seed", "configuration", "versions"}) {
        EXPECT_TRUE(object.contains(field)) << field;
    }
    EXPECT_EQ(object["answer"]["value"], 233);
    EXPECT_EQ(object["seed"], 9);
    EXPECT_EQ(object["nodes"], 3);
    EXPECT_EQ(object["configuration"]["workload"]["n"], 13);
    EXPECT_EQ(object["configuration"]["seed"], 9);
    EXPECT_GT(object["peak_memory_bytes"], 0);
    std::uint64_t stolen = 0;
    for (const auto& entry : object["steals"]["matrix"]) stolen += entry[2].get<std::uint64_t>();
    EXPECT_EQ(stolen, object["steals"]["between_nodes"].get<std::uint64_t>());
}

TEST_F(Run, NativelyTakesTheMachinesCoresWhereNoneAreStated) {
    const json object =
        json::parse(heddle({"run", file("a.yaml", "workload: {name: fib, n: 10}"), "--json"}).out);
    EXPECT_EQ(object["backend"], "native");
    EXPECT_GE(object["cores"], 1);
    EXPECT_EQ(object["configuration"]["platform"]["cores"], object["cores"]);
}

TEST_F(Run, SaysHowManyThreadsSimulated) {
    EXPECT_EQ(json::parse(heddle({"run", fib(), "--json", "--sim-threads", "3"}).out)["sim_threads"], 0);
#ifdef HEDDLE_SIM
    const auto simulated = [this](const std::vector<std::string>& more) {
        std::vector<std::string> words = {"run", fib(),   "--json",          "--backend",
                                          "sim", "--set", "platform.nodes=8"};
        words.insert(words.end(), more.begin(), more.end());
        return json::parse(heddle(words).out);
    };
    const json one = simulated({"--sim-threads", "1"});
    EXPECT_EQ(one["sim_threads"], 1);
    const json chosen = simulated({});
    EXPECT_GE(chosen["sim_threads"], 1);
    EXPECT_LE(chosen["sim_threads"], 2);  // one for four nodes
    EXPECT_EQ(chosen["makespan_seconds"], one["makespan_seconds"]);
    // Code that is measured on several cores at once would take longer.
    EXPECT_EQ(simulated({"--set", "platform.compute=measured"})["sim_threads"], 1);
#endif
}

TEST_F(Run, AWrongAnswerIsAFailedRunAndSaysWhatWasExpected) {
    const Said said = heddle({"run", odd(), "--json", "--set", "workload.wrong=true"});
    EXPECT_EQ(said.code, 1);
    EXPECT_EQ(json::parse(said.out)["ok"], false);
    EXPECT_EQ(said.err, "heddle: wrong answer (seed 1): value is 41, expected 42 (the test)\n");
    EXPECT_EQ(heddle({"run", odd()}).code, 0);
    EXPECT_THAT(heddle({"run", odd(), "--set", "workload.wrong=true"}).out,
                HasSubstr("WRONG (value is 41, expected 42"));
}

TEST_F(Run, AnExceptionOfTheProgramIsNoMistakeOfHeddles) {
    std::vector<std::string> backends{"native", "inprocess"};
#ifdef HEDDLE_SIM
    backends.emplace_back("sim");
#endif
    for (const std::string& backend : backends) {
        const Said said = heddle({"run", odd(), "--set", "workload.throws=true", "--set", "platform.cores=1",
                                  "--backend", backend});
        EXPECT_EQ(said.code, 2) << backend;
        EXPECT_EQ(said.err, "heddle: an exception ended the run: odd indeed\n") << backend;
    }
}

TEST_F(Run, RepeatsWithOneSeedAfterTheOther) {
    const Said said = heddle({"run", fib(), "--json", "--repeat", "3", "--seed", "5"});
    const json object = json::parse(said.out);
    ASSERT_EQ(object["runs"].size(), 3U);
    std::vector<double> makespans;
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(object["runs"][i]["seed"], 5 + i);
        makespans.push_back(object["runs"][i]["makespan_seconds"]);
    }
    std::sort(makespans.begin(), makespans.end());
    EXPECT_EQ(object["makespan_seconds"], makespans[1]);
    const std::string table = heddle({"run", fib(), "--repeat", "3"}).out;
    EXPECT_THAT(table, StartsWith("seed  answer"));
    EXPECT_THAT(table, HasSubstr("median\n"));
}

TEST_F(Run, LeavesTheSameBytesTwice) {
    for (const char* name : {"a", "b"}) {
        EXPECT_EQ(heddle({"run", fib(), "--repeat", "2", "--out", folder / name}).code, 0);
    }
    std::size_t compared = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "a")) {
        const std::string name = entry.path().filename();
        // The machine's share in a run is in files of its own.
        if (!entry.is_regular_file() || name.starts_with("timing")) continue;
        EXPECT_EQ(read(entry.path()),
                  read(folder / "b" / std::filesystem::relative(entry.path(), folder / "a")))
            << name;
        ++compared;
    }
    // result.json, steals.csv and datapackage.json of two cells, runs.csv, datapackage.json, .lock
    EXPECT_EQ(compared, 2 * 3 + 3);
}

TEST_F(Run, RefusesADirectoryThatCannotBeWrittenBeforeItRuns) {
    file("taken", "x");
    programs_made = 0;
    const Said said = heddle({"run", odd(), "--out", folder / "taken"});
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.out, IsEmpty());
    EXPECT_THAT(said.err, HasSubstr("results cannot be written to"));
    EXPECT_THAT(said.err, HasSubstr("choose another directory with --out"));
    EXPECT_EQ(programs_made, 0);
    EXPECT_EQ(heddle({"run", odd()}).code, 0);
    EXPECT_EQ(programs_made, 1);
}

TEST_F(Run, KeepsTheResultOfARunWhoseRecordCannotBeWritten) {
    const std::string tasks = folder / "tasks.csv", full = folder / "full.paje";
    std::filesystem::create_symlink("/dev/full", full);
    const Said said = heddle({"run", fib(), "--out", folder / "r", "--trace", full, "--tasks", tasks});
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, StartsWith("heddle: the trace cannot be written to " + full + " (No space left"));
    EXPECT_THAT(said.out, StartsWith("fib: fib on 3 x 2 inprocess"));
    EXPECT_THAT(read(folder / "r" / "runs.csv"), HasSubstr("fib"));
    EXPECT_THAT(read(tasks), StartsWith("task,"));
    EXPECT_THAT(heddle({"run", fib(), "--tasks", folder}).err,
                StartsWith("heddle: the table of tasks cannot be written to "));
    const Said wrong = heddle({"run", odd(), "--set", "workload.wrong=true", "--trace", full});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err, HasSubstr("heddle: wrong answer"));
}

TEST_F(Run, ResolvesAConfigurationWithoutRunningIt) {
    programs_made = 0;
    const Said said = heddle({"run", odd(), "--resolve"});
    EXPECT_EQ(said.code, 0);
    EXPECT_EQ(programs_made, 0);
    const std::string again = heddle({"run", file("again.yaml", said.out), "--resolve"}).out;
    EXPECT_EQ(again, said.out);
    EXPECT_EQ(json::parse(heddle({"run", odd(), "--resolve", "--json"}).out)["workload"]["wrong"], false);
}

TEST_F(Run, SeveralNativeNodesMustBeLaunched) {
    const Said said = heddle({"run", odd(), "--set", "platform.nodes=16"});
    EXPECT_EQ(said.code, 2);
    EXPECT_EQ(said.err,
              "heddle: --set platform.nodes: a native run on 16 nodes has 16 processes, and this is only "
              "one; start them "
              "with: heddle launch -n 16 -- heddle run ...; or --set platform.nodes=1; or --backend sim\n");
    const std::string path = file("many.yaml", "workload: {name: odd}\nplatform:\n  nodes: 4\n");
    EXPECT_THAT(heddle({"run", path}).err, StartsWith("heddle: " + path + ":3: a native run on 4 nodes"));
}

#ifdef HEDDLE_SIM
TEST_F(Run, SimulatesAndLeavesTheSameBytesTwice) {
    const std::string path =
        file("sim.yaml", "workload: {name: nqueens, n: 7}\nplatform: {nodes: 4, cores: 2}\nbackend: sim\n");
    for (const char* name : {"a", "b"}) EXPECT_EQ(heddle({"run", path, "--out", folder / name}).code, 0);
    EXPECT_EQ(read(folder / "a/runs.csv"), read(folder / "b/runs.csv"));
    EXPECT_THAT(read(folder / "a/runs.csv"), HasSubstr("nqueens"));
    const json object = json::parse(heddle({"run", path, "--json"}).out);
    EXPECT_EQ(object["answer"]["solutions"], 40);
    EXPECT_GT(object["makespan_seconds"], 0);
    EXPECT_EQ(object["configuration"]["platform"]["network"]["topology"], "star");
}
#else
TEST_F(Run, SaysThatItWasBuiltWithoutSimulation) {
    const Said said = heddle({"run", odd(), "--backend", "sim"});
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err,
                StartsWith("heddle: --backend: this heddle was built without simulation; build it with"));
}
#endif

}  // namespace
}  // namespace heddle::testing_cli
