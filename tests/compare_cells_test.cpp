// Tests a comparison's combinations and cells: which there are, in which order, and what a directory stores
// of them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "cli/comparison_plan.hpp"
#include "cli/slurm_script.hpp"
#include "configs/cell.hpp"
#include "configs/combinations.hpp"
#include "host/command_line.hpp"
#include "host/process_pool.hpp"
#include "results/cells.hpp"
#include "tests/cli_testing.hpp"

namespace heddle::testing_cli {
namespace {

using results::Outcome;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
    try {
        configs::read_combinations_text(text, "a.yaml");
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(Combinations, TheLastKeyChangesFastest) {
    const auto combinations = configs::read_combinations_text(
        "workload: {name: fib}\nbackend: sim\ncompare:\n  platform.nodes: [1, 4]\n  "
        "schedule.stealing.victim: "
        "[none, random, lifeline]\n",
        "a.yaml");
    std::vector<std::string> words;
    for (const auto& one : combinations.all) words.push_back(one.words);
    EXPECT_THAT(words, ElementsAre("platform.nodes=1 schedule.stealing.victim=none",
                                   "platform.nodes=1 schedule.stealing.victim=random",
                                   "platform.nodes=1 schedule.stealing.victim=lifeline",
                                   "platform.nodes=4 schedule.stealing.victim=none",
                                   "platform.nodes=4 schedule.stealing.victim=random",
                                   "platform.nodes=4 schedule.stealing.victim=lifeline"));
    EXPECT_EQ(combinations.all[5].experiment.platform.nodes, 4U);
    EXPECT_TRUE(combinations.all[5].experiment.compare.axes.empty());
}

TEST(Combinations, AnAssignmentReadsBackAsTheSameCell) {
    const std::string text =
        "workload: {name: uts}\nbackend: sim\nplatform: {nodes: 8, network: {topology: torus}}\ncompare:\n"
        "  transport.interface: ['a: b', c]\n  platform.network.shape: [[8], [2, 4], [2, 2, 2]]\n  "
        "platform.network.latency: [1us, "
        "2.5us]\n";
    const auto combinations = configs::read_combinations_text(text, "a.yaml");
    ASSERT_EQ(combinations.all.size(), 12U);
    std::set<std::string> names;
    for (const auto& one : combinations.all) {
        std::vector<configs::Override> typed;
        for (const auto& given : one.assignment)
            typed.push_back(configs::parse_override(given.key + "=" + given.value));
        const auto again = configs::read_experiment_text(text, "a.yaml", typed);
        EXPECT_EQ(configs::cell_name(again), configs::cell_name(one.experiment));
        typed.push_back(configs::parse_override("name=other"));  // which changes no run
        EXPECT_EQ(configs::cell_name(configs::read_experiment_text(text, "a.yaml", typed)),
                  configs::cell_name(one.experiment));
        names.insert(configs::cell_name(one.experiment));
    }
    EXPECT_EQ(names.size(), 6U);  // the interface changes no simulated run
}

// In weak scaling the work follows from the nodes. Where two points have as many nodes it does not.
TEST(Combinations, WhatFollowsFromAPivotsKeyCompetesWithIt) {
    const auto competing = [](const std::string& tasks, const std::string& rows, const std::string& columns) {
        return configs::competing_keys(
            configs::read_combinations_text(
                "workload: {name: bag}\nbackend: sim\ncompare:\n  seed: [1, 2]\n  zip: {platform.nodes: [1, "
                "4, 4], "
                "workload.tasks: " +
                    tasks + "}\n  schedule.placement: [none, block]\n  pivot: {rows: " + rows +
                    ", columns: " + columns + "}\n",
                "a.yaml")
                .base.compare);
    };
    EXPECT_THAT(competing("[10, 40, 80]", "schedule.placement", "workload.tasks"),
                ElementsAre("platform.nodes", "workload.tasks", "schedule.placement"));
    EXPECT_THAT(competing("[10, 40, 80]", "schedule.placement", "platform.nodes"),
                ElementsAre("platform.nodes", "schedule.placement"));
    EXPECT_THAT(competing("[10, 40, 80]", "platform.nodes", "workload.tasks"),
                ElementsAre("platform.nodes", "workload.tasks"));
    EXPECT_THAT(competing("[10, 40, 80]", "seed", "schedule.placement"),
                ElementsAre("seed", "schedule.placement"));
}

// Several points of a `zip` may have the baseline's values.
TEST(Combinations, TheBaselineHasACombinationsOwnValuesOfWhatItDoesNotState) {
    const auto baselines = [](const std::string& compare) {
        return configs::read_combinations_text("workload: {name: fib}\nbackend: sim\ncompare:\n" + compare,
                                               "a.yaml")
            .baselines;
    };
    const std::string zip = "  zip: {platform.nodes: [1, 1, 4, 4], workload.n: [14, 18, 14, 18]}\n";
    EXPECT_THAT(baselines(zip + "  baseline: {platform.nodes: 1}\n"), ElementsAre(0, 1, 0, 1));
    EXPECT_THAT(baselines(zip + "  baseline: {platform.nodes: 1, workload.n: 18}\n"),
                ElementsAre(1, 1, 1, 1));
    EXPECT_THAT(baselines("  seed: [1, 2]\n" + zip + "  baseline: {workload.n: 18, seed: 2}\n"),
                ElementsAre(5, 5, 7, 7, 5, 5, 7, 7));
    // Weak scaling: only one point has so many nodes.
    EXPECT_THAT(
        baselines("  zip: {platform.nodes: [1, 4], workload.n: [14, 18]}\n  baseline: {platform.nodes: "
                  "1}\n"),
        ElementsAre(0, 0));
    EXPECT_THAT(
        error_of("workload: {name: fib}\nbackend: sim\ncompare:\n"
                 "  zip: {platform.nodes: [1, 1, 4], workload.n: [14, 18, 20]}\n"
                 "  baseline: {platform.nodes: 1}\n"),
        AllOf(HasSubstr("a.yaml:5"), HasSubstr("the other values of platform.nodes=4 workload.n=20")));
}

TEST(Combinations, WhatDoesNotGoTogetherIsRefusedWithItsValuesAndItsLine) {
    const std::string error = error_of(
        "workload: {name: fib}\nbackend: sim\ncompare:\n  platform.nodes: [4, 6]\n  "
        "platform.network.topology: [torus]\n"
        "  platform.network.shape: [[2, 2]]\n");
    EXPECT_THAT(error, HasSubstr("platform.nodes=6"));
    EXPECT_THAT(error, HasSubstr("a.yaml:"));
    EXPECT_THAT(error_of("workload: {name: fib}\n"), HasSubstr("a.yaml: nothing is compared; add a section"));
    std::string many = "workload: {name: fib}\ncompare:\n";
    for (const char* key : {"seed", "workload.n", "platform.nodes", "platform.cores", "workload.cutoff",
                            "schedule.stealing.requests"})
        many += fmt::format("  {}: [1, 2, 3, 4, 5, 6, 7, 8]\n", key);
    EXPECT_THAT(error_of(many), HasSubstr("a.yaml:8: more than 100000 combinations"));
}

class Cells : public Folder {};

TEST_F(Cells, EveryCombinationHasOneCellForEachSeedAndSharedCellsRunOnce) {
    const cli::Plan plan = cli::make_plan(
        file(
            "a.yaml",
            "workload: {name: fib}\nbackend: inprocess\nseed: 3\nrepeat: 2\ncompare: {workload.n: [5, 6]}\n"),
        {});
    ASSERT_EQ(plan.cells.size(), 4U);
    EXPECT_EQ(plan.described(plan.cells[3]), "workload.n=6 seed=4");
    EXPECT_THAT(plan.runs, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
    EXPECT_FALSE(plan.cells[0].alone);

    const cli::Plan shared = cli::make_plan(
        file("b.yaml", "workload: {name: fib}\nbackend: inprocess\nrepeat: 2\ncompare: {seed: [1, 2]}\n"),
        {});
    EXPECT_EQ(shared.cells.size(), 3U);
    EXPECT_THAT(shared.runs, ElementsAre(ElementsAre(0, 1), ElementsAre(1, 2)));
}

TEST_F(Cells, NativeCellsRunAloneAndAreLaunchedOnSeveralNodes) {
    const cli::Plan plan =
        cli::make_plan(file("a.yaml", "workload: {name: fib}\ncompare: {platform.nodes: [1, 2]}\n"),
                       {configs::parse_override("workload.n=9")});
    ASSERT_EQ(plan.cells.size(), 2U);
    EXPECT_TRUE(plan.cells[0].alone);
    EXPECT_EQ(host::shell_words(plan.cells[0].words),
              "run " + (folder / "a.yaml").string() +
                  " --set workload.n=9 --set platform.nodes=1 --seed 1 --repeat 1");
    EXPECT_THAT(host::shell_words(plan.cells[1].words), HasSubstr("launch -n 2 -- heddle run"));
}

// Each cell is a run of its own, whose nodes may join and leave once.
TEST_F(Cells, NodesOfNativeCellsMayJoinAndLeave) {
    const std::string rest = "backend: native\nrepeat: 3\ncompare: {workload.n: [8, 9]}\n";
    const cli::Plan leaves = cli::make_plan(
        file("a.yaml",
             "workload: {name: fib}\nplatform: {nodes: 2, cores: 1, events: [{at: 1ms, node: 1, "
             "member: false}]}\n" +
                 rest),
        {});
    EXPECT_EQ(leaves.cells.size(), 6U);
    EXPECT_THAT(host::shell_words(leaves.cells[0].words), HasSubstr("launch -n 2 -- heddle run"));
    const cli::Plan joins =
        cli::make_plan(file("b.yaml",
                            "workload: {name: fib}\nplatform: {nodes: 4, cores: 1, "
                            "nodes_at_start: 2, events: [{at: 1ms, node: 2, member: true}]}\n" +
                                rest),
                       {});
    EXPECT_EQ(joins.runs[1].size(), 3U);
    EXPECT_THAT(host::shell_words(joins.cells[0].words), HasSubstr("launch -n 2 --capacity 4 -- heddle run"));
    EXPECT_EQ(joins.cells[0].processes, 4U);
}

TEST_F(Cells, ANetworkThatMpiCarriesIsRefusedBeforeTheFirstCell) {
    const auto plan_with = [&](const std::string& transport) {
        return cli::make_plan(file("a.yaml",
                                   "workload: {name: fib}\nplatform: {nodes: 2, cores: 1, networks: [{name: "
                                   "a, members: 0-1, transport: " +
                                       transport + "}]}\ncompare: {workload.n: [8, 9]}\n"),
                              {});
    };
    EXPECT_EQ(plan_with("tcp").cells.size(), 2U);
    try {
        (void)plan_with("mpi");
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("a.yaml:2"), HasSubstr("MPI carries a network")));
    }
}

TEST_F(Cells, TheSizeOfDatagramsIsForNetworksByUdpToo) {
    const auto plan_with = [&](const std::string& carrier) {
        return cli::make_plan(
            file("a.yaml",
                 "workload: {name: fib}\nplatform: {nodes: 2, cores: 1, networks: [{name: "
                 "a, members: 0-1, transport: " +
                     carrier + "}]}\ntransport: {udp: {segment: 1KiB}}\ncompare: {workload.n: [8, 9]}\n"),
            {});
    };
    EXPECT_EQ(plan_with("udp").cells.size(), 2U);
    EXPECT_THROW((void)plan_with("tcp"), Error);
}

TEST_F(Cells, APathThatPlainYamlWouldNotBeReachesTheCellAsItIs) {
    for (const char* name : {"exp #2", "a: b", "plain", "- x", "it's \"so\""}) {
        std::filesystem::create_directories(folder / name);
        for (const char* sequence : {"a.fa", "b.fa"}) file(std::string(name) + "/" + sequence, ">a\nACGT\n");
        const std::string yaml = file(std::string(name) + "/e.yaml",
                                      "workload: {name: atgc, a: a.fa, b: a.fa}\nbackend: "
                                      "inprocess\ncompare: {workload.a: [a.fa, b.fa]}\n");
        const cli::Plan plan = cli::make_plan(yaml, {});
        ASSERT_EQ(plan.cells.size(), 2U);
        for (const cli::Cell& cell : plan.cells) {
            const auto word = std::ranges::find_if(
                cell.words, [](const std::string& each) { return each.starts_with("workload.a="); });
            ASSERT_NE(word, cell.words.end());
            const auto experiment = configs::read_experiment(yaml, {configs::parse_override(*word)});
            EXPECT_EQ(configs::cell_name(experiment), cell.name) << *word;
        }
    }
}

TEST_F(Cells, SimulationsRunAloneIfTheyMeasureTheirCode) {
    const cli::Plan plan = cli::make_plan(file("a.yaml",
                                               "workload: {name: fib}\nbackend: sim\ncompare: "
                                               "{platform.compute: [declared, measured]}\n"),
                                          {});
    ASSERT_EQ(plan.cells.size(), 2U);
    EXPECT_FALSE(plan.cells[0].alone);
    EXPECT_TRUE(plan.cells[1].alone);
}

TEST_F(Cells, AFailureIsKeptUntilItIsForgotten) {
    EXPECT_EQ(results::read_outcome(folder, "cell").state, Outcome::State::missing);
    results::write_failure(folder, "cell", {"no luck", 139, "heddle run"});
    const Outcome outcome = results::read_outcome(folder, "cell");
    EXPECT_EQ(outcome.state, Outcome::State::failed);
    EXPECT_EQ(outcome.failure.error, "no luck");
    EXPECT_EQ(outcome.failure.exit_code, 139);
    results::forget_cell(folder, "cell");
    EXPECT_EQ(results::read_outcome(folder, "cell").state, Outcome::State::missing);
}

TEST_F(Cells, TablesHaveTheGivenCellsOnly) {
    const std::string out = folder / "out";
    ASSERT_EQ(
        binary("run " + file("a.yaml", "workload: {name: fib, n: 5}\nbackend: inprocess\n") + " --out " + out)
            .code,
        0);
    const std::vector<std::string> cells = results::folders_in(out);
    ASSERT_EQ(cells.size(), 1U);
    results::write_failure(out, "failed", {"no, luck", 139, "heddle run"});
    const std::string none = "cell,exit_code,error,command\n";
    const std::string table = read(out + "/runs.csv");
    results::write_tables(out, cells);
    EXPECT_EQ(read(out + "/runs.csv"), table);
    EXPECT_EQ(read(out + "/failures.csv"), none);
    results::write_tables(out, {"failed", "missing"});
    EXPECT_EQ(read(out + "/failures.csv"), none + "failed,139,\"no, luck\",heddle run\n");
    EXPECT_FALSE(std::filesystem::exists(out + "/runs.csv"));
    EXPECT_FALSE(std::filesystem::exists(out + "/timings.csv"));
    EXPECT_THAT(results::folders_in(folder / "nowhere"), ElementsAre());
}

TEST_F(Cells, HalfAResultIsNoResult) {
    ASSERT_EQ(binary("run " + file("a.yaml", "workload: {name: fib, n: 5}\nbackend: inprocess\n") +
                     " --out " + (folder / "out").string())
                  .code,
              0);
    std::string cell;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "out"))
        if (entry.is_directory()) cell = entry.path().filename();
    const std::string path = folder / "out" / cell / "result.json";
    const std::string whole = read(path);
    ASSERT_EQ(results::read_outcome(folder / "out", cell).state, Outcome::State::right);
    for (std::size_t size = 0; size + 2 < whole.size(); size += 7) {
        std::ofstream(path, std::ios::binary) << whole.substr(0, size);
        EXPECT_EQ(results::read_outcome(folder / "out", cell).state, Outcome::State::missing) << size;
    }
    std::string wrong = whole;
    wrong.replace(wrong.find("\"ok\": true"), 10, "\"ok\": false");
    std::ofstream(path, std::ios::binary) << wrong;
    EXPECT_EQ(results::read_outcome(folder / "out", cell).state, Outcome::State::wrong);
    EXPECT_THAT(results::read_outcome(folder / "out", cell).failure.error, HasSubstr("wrong answer"));
    EXPECT_EQ(results::read_outcome(folder / "out", "another").state, Outcome::State::missing);
}

TEST(ShellWords, ReadBackAsTheyWere) {
    EXPECT_EQ(host::shell_words({"run", "a b", "it's", "", "--set", "x=[1, 2]", "$HOME"}),
              R"(run 'a b' 'it'\''s' '' --set 'x=[1, 2]' '$HOME')");
}

TEST(SlurmScript, IsThisOne) {
    cli::SlurmOptions options{"first", "out dir", "/there",    {"/bin/heddle", "compare", "a.yaml"}, 3, 1,
                              0,       true,      {"--time=5"}};
    EXPECT_EQ(cli::slurm_script(options), R"(#!/bin/sh
#SBATCH --job-name=first
#SBATCH --array=0-2
#SBATCH --ntasks=1
#SBATCH --output='out dir/slurm-%A_%a.out'
#SBATCH --requeue
#SBATCH --exclusive
#SBATCH --time=5

# Each task runs cells that no other task has taken. Submit it again and it goes on where it was cut off.
cd /there || exit 1
exec /bin/heddle compare a.yaml --claim --processes 1
)");
    options.processes = 16;
    options.cores = 32;
    EXPECT_THAT(cli::slurm_script(options),
                HasSubstr("#SBATCH --nodes=16\n#SBATCH --ntasks=16\n#SBATCH --ntasks-per-node=1\n"
                          "#SBATCH --cpus-per-task=32\n"));
    options.sbatch = {"--comment=a b", "-p debug", "--comment=\"c d\"", "--gres=gpu:2"};
    EXPECT_THAT(cli::slurm_script(options),
                HasSubstr("#SBATCH --comment='a b'\n#SBATCH -p debug\n#SBATCH --comment=\"c d\"\n"
                          "#SBATCH --gres=gpu:2\n"));
    options.sbatch = {"--time=5\nrm x"};
    EXPECT_THROW(cli::slurm_script(options), Error);
}

TEST(ProcessPool, SaysHowEveryJobEndedAndNeverRunsMoreThanItMay) {
    std::vector<host::Job> jobs;
    for (const char* script :
         {"exit 0", "echo oops >&2; exit 3", "kill -9 $$", "exit 0", "yes | head -c 200000 >&2"})
        jobs.push_back({{"sh", "-c", script}});
    jobs.push_back({{"sh", "-c", "exit 5"}, true});
    jobs.push_back({{"sh", "-c", "exit 0"}});
    std::size_t running = 0, most = 0, alone = 0;
    std::vector<host::JobEnd> ends(jobs.size());
    host::PoolOptions options;
    options.width = 3;
    options.started = [&](std::size_t job) {
        most = std::max(most, ++running);
        if (jobs[job].alone) alone = running;
    };
    options.ended = [&](const host::JobEnd& end) {
        --running;
        ends[end.job] = end;
    };
    EXPECT_EQ(host::run_jobs(jobs, options), 0);
    EXPECT_EQ(running, 0U);
    EXPECT_EQ(most, 3U);
    EXPECT_EQ(alone, 1U);
    EXPECT_EQ(ends[1].exit_code, 3);
    EXPECT_EQ(ends[1].errors, "oops\n");
    EXPECT_EQ(ends[2].exit_code, 128 + 9);
    EXPECT_EQ(ends[2].signal, 9);
    EXPECT_EQ(ends[4].exit_code, 0);
    EXPECT_EQ(ends[4].errors.size(), 65536U);
    EXPECT_EQ(ends[5].exit_code, 5);
    EXPECT_THROW(host::run_jobs({{{"/no/such/program"}}}, options), Error);
    EXPECT_EQ(host::run_command({"sh", "-c", "exit 6"}), 6);
}

}  // namespace
}  // namespace heddle::testing_cli
