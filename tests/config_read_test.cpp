// Tests that a configuration becomes the stated experiment, and that its resolved form reads the same.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "configs/cell.hpp"
#include "configs/combinations.hpp"
#include "configs/experiment.hpp"

namespace heddle::configs {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Experiment read(const std::string& text, const std::vector<std::string>& sets = {}) {
    std::vector<Override> overrides;
    for (const std::string& set : sets) overrides.push_back(parse_override(set));
    return read_experiment_text(text, "dir/a.yaml", overrides);
}

constexpr const char* full = R"(
name: everything
workload: {name: fib, n: 20, unit_cost: 0.03kf}
platform:
  nodes: 64
  cores: 8
  core_speed: 5Gf
  memory_bandwidth: 20GBps
  network: {topology: fat_tree, bandwidth: 10Gbps, latency: 2us, gap: 10ns, shape: [8, 8], cables: [1, 2],
            small_message_bytes: 1KiB, cost_model: LV08}
  overheads: {fork: 1ns, wake_up: 5us}
schedule:
  placement: block
  stealing: {victim: lifeline, amount: half, back_off_min: 2us, back_off_max: 1ms, retries: 3, requests: 2, busy: wait}
  deque_slots: 1024
  stack: 1MiB
  aggregate: 512
backend: sim
seed: 7
repeat: 5
compare:
  platform.nodes: [1, 64]
  schedule.stealing.victim: [none, random]
  workload.n: [10, 20]
)";

TEST(Config, SaysWhatTheExperimentIs) {
    const Experiment e = read(full);
    EXPECT_EQ(e.name, "everything");
    EXPECT_EQ(e.kind->name, "fib");
    EXPECT_EQ(e.settings.integer("n"), 20);
    EXPECT_EQ(e.settings.number("unit_cost"), 30);
    EXPECT_EQ(e.platform.nodes, 64U);
    EXPECT_EQ(e.platform.cores, 8U);
    EXPECT_EQ(e.platform.core_speed, 5e9);
    EXPECT_EQ(e.platform.memory_bandwidth, 20e9);
    EXPECT_EQ(e.platform.network.topology, Network::Topology::fat_tree);
    EXPECT_EQ(e.platform.network.bandwidth, 1.25e9);
    EXPECT_EQ(e.platform.network.latency, std::chrono::microseconds(2));
    EXPECT_EQ(e.platform.network.gap, std::chrono::nanoseconds(10));
    EXPECT_THAT(e.platform.network.shape, ElementsAre(8, 8));
    EXPECT_THAT(e.platform.network.cables, ElementsAre(1, 2));
    EXPECT_EQ(e.platform.network.small_message_bytes, 1024U);
    EXPECT_EQ(e.platform.network.cost_model, Network::CostModel::LV08);
    EXPECT_EQ(e.platform.overheads.fork, std::chrono::nanoseconds(1));
    EXPECT_EQ(e.platform.overheads.wake_up, std::chrono::microseconds(5));
    EXPECT_EQ(e.platform.overheads.join, Overheads::defaults().join);
    EXPECT_EQ(e.schedule.placement, "block");
    EXPECT_EQ(e.schedule.stealing.victim, "lifeline");
    EXPECT_EQ(e.schedule.stealing.amount, runtime::Stealing::Amount::half);
    EXPECT_EQ(e.schedule.stealing.requests, 2U);
    EXPECT_EQ(e.schedule.stealing.busy, runtime::Stealing::Busy::wait);
    EXPECT_EQ(e.schedule.stealing.back_off_min, std::chrono::microseconds(2));
    EXPECT_EQ(e.schedule.stealing.back_off_max, std::chrono::milliseconds(1));
    EXPECT_EQ(e.schedule.stealing.retries, 3U);
    EXPECT_EQ(e.schedule.deque_slots, 1024U);
    EXPECT_EQ(e.schedule.stack_bytes, 1048576U);
    EXPECT_EQ(e.schedule.aggregate_bytes, 512U);
    EXPECT_EQ(e.schedule.seed, 7U);
    EXPECT_EQ(e.backend, Backend::sim);
    EXPECT_EQ(e.seed, 7U);
    EXPECT_EQ(e.repeat, 5U);
    ASSERT_EQ(e.compare.axes.size(), 3U);
    EXPECT_EQ(e.compare.axes[1].keys.front(), "schedule.stealing.victim");
    EXPECT_EQ(e.compare.axes[1].points[1].shown.front(), "random");
    EXPECT_TRUE(e.platform.stated_nodes && e.platform.stated_cores && e.platform.stated_core_speed);
    EXPECT_EQ(e.platform.where.line, 5);
    EXPECT_EQ(e.where("platform.nodes").line, 5);
}

TEST(Config, FillsUpWithDefaults) {
    const Experiment e = read("workload: {name: fib}");
    EXPECT_EQ(e.name, "a");
    EXPECT_EQ(e.platform.nodes, 1U);
    EXPECT_EQ(e.platform.cores, 0U);  // the machine's own
    EXPECT_EQ(e.backend, Backend::native);
    EXPECT_EQ(e.seed, 1U);
    EXPECT_EQ(e.settings.integer("n"), 30);
    EXPECT_FALSE(e.platform.stated_nodes);
    EXPECT_EQ(read("workload: {name: fib}\nbackend: sim").platform.cores, 1U);
}

TEST(Config, KnowsShorthandsForNothing) {
    const Experiment e =
        read("workload: {name: fib}\nplatform: {overheads: none}\nschedule: {stealing: none}");
    EXPECT_EQ(e.schedule.stealing.victim, "none");
    EXPECT_EQ(e.platform.overheads.fork, Time::zero());
    EXPECT_EQ(e.platform.overheads.message_send, Time::zero());
    EXPECT_EQ(e.platform.overheads.wake_up, Time::zero());
}

TEST(Config, ACommandLineChangesPartsOfAComparison) {
    std::vector<Override> overrides;
    for (const char* const text :
         {"compare.pivot.shows=ratio", "compare.zip.platform.nodes=[2, 8]", "compare.seed=[3]",
          "compare.variants.tuned.schedule.stealing.victim=random", "compare.baseline.platform.nodes=2"})
        overrides.push_back(parse_override(text));
    const Combinations all = read_combinations_text(
        "workload: {name: fib}\nbackend: sim\ncompare:\n  zip: {platform.nodes: [1, 4], workload.n: [5, 6]}\n"
        "  variants: {tuned: {schedule.stealing.victim: none}}\n  baseline: {platform.nodes: 1}\n"
        "  pivot: {rows: variant, columns: platform.nodes}\n",
        "a.yaml", overrides);
    EXPECT_EQ(all.base.compare.pivot->shows, "ratio");
    ASSERT_EQ(all.all.size(), 2U);
    EXPECT_EQ(all.all[1].words, "platform.nodes=8 workload.n=6 variant=tuned seed=3");
    EXPECT_EQ(all.all[1].experiment.schedule.stealing.victim, "random");
    EXPECT_EQ(all.baselines, (std::vector<std::size_t>{0, 0}));
}

TEST(Config, AComparisonKnowsThemToo) {
    const Combinations all = read_combinations_text(
        "workload: {name: fib}\nbackend: sim\ncompare:\n  schedule.stealing: [none]\n"
        "  variants: {plain: {schedule.start: tree}, ideal: {platform.overheads: none}}\n"
        "  baseline: {schedule.stealing: none}\n",
        "a.yaml");
    ASSERT_EQ(all.all.size(), 2U);
    EXPECT_EQ(all.all[0].words, "schedule.stealing=none variant=plain");
    for (const Combination& each : all.all) EXPECT_EQ(each.experiment.schedule.stealing.victim, "none");
    EXPECT_GT(all.all[0].experiment.platform.overheads.fork, Time::zero());
    EXPECT_EQ(all.all[1].experiment.platform.overheads.fork, Time::zero());
}

TEST(Config, MemoryBandwidthIsANumberOrAList) {
    const auto bandwidth = [](const std::string& value) {
        return read("{workload: {name: fib}, backend: sim, platform: {memory_bandwidth: " + value + "}}");
    };
    const Experiment list = bandwidth("[1GBps, 1.6GBps, 12Gbps]");
    EXPECT_THAT(list.platform.memory_bandwidth.by_streams(), ElementsAre(1e9, 1.6e9, 1.5e9));
    EXPECT_EQ(list.platform.memory_bandwidth.of(2), 1.6e9);
    EXPECT_EQ(list.platform.memory_bandwidth.of(7), 1.5e9);
    const std::string resolved = resolved_yaml(list);
    EXPECT_THAT(resolved, HasSubstr("memory_bandwidth: [\"1GBps\",\"1.6GBps\",\"12Gbps\"]\n"));
    EXPECT_EQ(resolved_yaml(read(resolved)), resolved);
    EXPECT_EQ(resolved_yaml(bandwidth("[2GBps]")), resolved_yaml(bandwidth("2GBps")));
    for (const auto& [value, message] :
         {std::pair{"[]", "platform.memory_bandwidth: an empty list"},
          std::pair{"[1GBps, fast]", "platform.memory_bandwidth: "},
          std::pair{"[1GBps, 0Bps]", "platform.memory_bandwidth: `0Bps` is out of range"},
          std::pair{"{one: 1GBps}", "platform.memory_bandwidth: expected a single value"}}) {
        try {
            bandwidth(value);
            ADD_FAILURE() << value;
        } catch (const Error& error) {
            EXPECT_THAT(error.message(), HasSubstr(message)) << value;
            EXPECT_EQ(error.where().line, 1);
        }
    }
}

TEST(Config, EveryOverheadHasAKey) {
    const auto defaults = overheads_by_name(Overheads::defaults());
    // The list is a key of its own.
    EXPECT_EQ(defaults.size() * sizeof(Time) + sizeof(Overheads{}.message_bytes), sizeof(Overheads))
        << "a member without a key";
    std::string text;
    std::int64_t next = 1000;
    for (const auto& [name, cost] : defaults) text += fmt::format("{}: {}ns, ", name, next++);
    const Experiment e = read("workload: {name: fib}\nplatform: {overheads: {" + text + "}}");
    next = 1000;
    for (const auto& [name, cost] : overheads_by_name(e.platform.overheads))
        EXPECT_EQ(cost, std::chrono::nanoseconds(next++)) << name;
}

// 3 KiB at 100 ns, and half of one.
TEST(Config, TwinsArePaidByTheirBytes) {
    EXPECT_EQ(Overheads::defaults().diffing(3 * 1024 + 512), std::chrono::nanoseconds(350));
    EXPECT_EQ(Overheads{}.diffing(1 << 20), Time::zero());
}

TEST(Config, TakesValuesFromTheCommandLineInPlaceOfTheFiles) {
    const Experiment e = read("workload: {name: fib, n: 20}\nschedule: {stealing: none}",
                              {"platform.nodes=4", "workload.n=7", "schedule.stealing.victim=random",
                               "platform.network.topology=torus", "platform.network.shape=[2, 2]",
                               "compare.platform.nodes=[1, 2]", "platform.overheads=none", "backend=sim"});
    EXPECT_EQ(e.platform.nodes, 4U);
    EXPECT_EQ(e.settings.integer("n"), 7);
    EXPECT_EQ(e.schedule.stealing.victim, "random");
    EXPECT_THAT(e.platform.network.shape, ElementsAre(2, 2));
    ASSERT_EQ(e.compare.axes.size(), 1U);
    EXPECT_EQ(e.compare.axes[0].keys.front(), "platform.nodes");
    EXPECT_EQ(e.platform.overheads.steal, Time::zero());
    EXPECT_EQ(e.where("platform.nodes").file, "--set platform.nodes");
    EXPECT_EQ(read("workload: {name: fib}", {"seed=3", "seed=4"}).seed, 4U);
    EXPECT_EQ(read("workload: {name: fib}", {"schedule.stealing=none"}).schedule.stealing.victim, "none");
}

TEST(Config, AnchorsStandForWhatTheyName) {
    const Experiment e = read("workload: {name: fib}\nplatform:\n  nodes: &count 3\n  cores: *count\n");
    EXPECT_EQ(e.platform.cores, 3U);
}

TEST(Config, AFileIsRelativeToTheConfiguration) {
    EXPECT_EQ(read("workload: {name: fib}\nplatform: {file: ../p/g.xml}").platform.file, "p/g.xml");
    EXPECT_EQ(read("workload: {name: fib}", {"platform.file=here.xml"}).platform.file, "here.xml");
}

/// A folder `dir` with two sequences and a graph; the working directory is the one above it.
class ConfigPaths : public ::testing::Test {
protected:
    ConfigPaths() : before_(fs::current_path()) {
        fs::create_directories(root_ / "dir" / "in");
        std::ofstream(root_ / "dir" / "in" / "a.fa") << ">a\nACGT\n";
        std::ofstream(root_ / "dir" / "in" / "g.stg") << "0\n0 1 0\n1 1 1 0\n";
        std::ofstream(root_ / "dir" / "cholesky") << "0\n0 1 0\n1 1 1 0\n";
        fs::current_path(root_);
    }
    ~ConfigPaths() override {
        fs::current_path(before_);
        fs::remove_all(root_);
    }

    fs::path before_, root_ = fs::temp_directory_path() / fmt::format("heddle_paths_{}", ::getpid());
};

TEST_F(ConfigPaths, EveryPathOfAWorkloadIsRelativeToTheFileThatStatesIt) {
    const Experiment both = read("workload: {name: atgc, a: in/a.fa, b: ./in/../in/a.fa, output: out.txt}");
    EXPECT_EQ(both.settings.path("a"), "dir/in/a.fa");
    EXPECT_EQ(both.settings.path("output"), "dir/out.txt");
    EXPECT_THAT(input_files(both), ElementsAre("dir/in/a.fa", "dir/in/a.fa"));
    const Experiment dag = read("workload: {name: dag, graph: in/g.stg}");
    EXPECT_THAT(input_files(dag), ElementsAre("dir/in/g.stg"));
    EXPECT_THAT(resolved_json(dag), HasSubstr(R"("graph":"in/g.stg")"));
    EXPECT_EQ(read("workload: {name: dag, graph: dir/in/g.stg}").settings.path("graph"), "dir/dir/in/g.stg");
}

TEST_F(ConfigPaths, TheResolvedConfigurationMeansTheSameFilesInEachFolder) {
    const std::string text =
        "workload: {name: dag, graph: in/g.stg}\nbackend: sim\nplatform: {from: ../p.yaml}\n"
        "schedule: {placement: file, placement_file: place.csv}\n"
        "compare: {workload.graph: [in/g.stg, 'cholesky:tiles=2'], zip: {platform.from: [../p.yaml]},\n"
        "  baseline: {workload.graph: in/g.stg}}\n";
    std::ofstream(root_ / "p.yaml") << "nodes: 2\n";
    const Experiment once = read(text);
    const std::string yaml = resolved_yaml(once);
    const std::string graph = (root_ / "dir" / "in" / "g.stg").string();
    EXPECT_THAT(yaml, HasSubstr("graph: " + graph + "\n"));
    EXPECT_THAT(yaml, HasSubstr("placement_file: " + (root_ / "dir" / "place.csv").string() + "\n"));
    EXPECT_THAT(yaml, HasSubstr("from: " + (root_ / "p.yaml").string() + "\n"));
    EXPECT_THAT(yaml, HasSubstr("[" + graph + ",\"cholesky:tiles=2\"]"));
    const Experiment twice = read_experiment_text(yaml, "elsewhere/b.yaml");
    EXPECT_EQ(resolved_yaml(twice), yaml);
    // What a result has of it is the same in each working directory, and however the file is named.
    const std::string json = resolved_json(once);
    EXPECT_THAT(json, HasSubstr(R"("graph":"in/g.stg")"));
    EXPECT_THAT(json, HasSubstr(R"("from":"../p.yaml")"));
    EXPECT_EQ(resolved_json(read_experiment_text(text, (root_ / "dir" / "a.yaml").string())), json);
    fs::current_path(root_ / "dir");
    EXPECT_EQ(resolved_json(read_experiment_text(text, "a.yaml")), json);
}

TEST_F(ConfigPaths, APathThatNoResultCanNameIsRefused) {
    const auto refused = [](const std::string& text, const std::string& file) {
        try {
            read_experiment_text(text, file);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_EQ(refused("workload: {name: fib}", "f\xe9.yaml"),
              "the path f\\xe9.yaml is not UTF-8, as results are; rename the file or folder");
    EXPECT_THAT(refused("workload: {name: dag, graph: in/g.stg}", "f\xe9/a.yaml"), HasSubstr("is not UTF-8"));
    EXPECT_EQ(refused("workload: {name: fib}", "f\u00e9.yaml"), "accepted");
}

TEST_F(ConfigPaths, APathOfTheCommandLineIsRelativeToTheWorkingDirectory) {
    const Experiment dag = read("workload: {name: dag, graph: missing}", {"workload.graph=dir/in/g.stg"});
    EXPECT_THAT(input_files(dag), ElementsAre("dir/in/g.stg"));
    EXPECT_THROW(read("workload: {name: dag}", {"workload.graph=in/g.stg"}), Error);
}

TEST_F(ConfigPaths, AGeneratorIsNoFile) {
    const Experiment dag = read("workload: {name: dag, graph: 'cholesky:tiles=3'}");
    EXPECT_EQ(dag.settings.path("graph"), "cholesky:tiles=3");
    EXPECT_TRUE(input_files(dag).empty());
    const Experiment file = read("workload: {name: dag, graph: ./cholesky, format: stg}");
    EXPECT_THAT(input_files(file), ElementsAre("dir/cholesky"));
    fs::copy(root_ / "dir" / "cholesky", root_ / "cholesky");
    const Experiment above = read("workload: {name: dag, graph: ../cholesky, format: stg}");
    EXPECT_THAT(input_files(above), ElementsAre("./cholesky"));
    EXPECT_THAT(resolved_json(file), HasSubstr(R"("graph":"./cholesky")"));
    EXPECT_THAT(resolved_json(dag), HasSubstr(R"("graph":"cholesky:tiles=3")"));
}

TEST_F(ConfigPaths, APlatformFileIsAnInputInSimulationOnly) {
    EXPECT_THAT(input_files(read("workload: {name: fib}\nbackend: sim\nplatform: {file: p.xml}")),
                ElementsAre("dir/p.xml"));
    EXPECT_TRUE(input_files(read("workload: {name: fib}\nplatform: {file: p.xml}")).empty());
}

TEST(Config, TheResolvedConfigurationReadsBackAsTheSame) {
    for (const std::string& text : {std::string(full), std::string("workload: {name: fib}"),
                                    std::string("workload: {name: uts, tree: T3}\nbackend: sim"),
                                    std::string("workload: {name: nqueens, n: 8}\nbackend: sim\nplatform: "
                                                "{nodes: 5, file: x.xml}\nname: 'a: b'"),
                                    std::string("workload: {name: fib}\nname: 'yes'"),
                                    std::string("workload: {name: fib}\nname: '1e3'")}) {
        const Experiment once = read(text);
        const std::string yaml = resolved_yaml(once);
        const Experiment twice = read_experiment_text(yaml, "b.yaml");
        EXPECT_EQ(resolved_yaml(twice), yaml);
        EXPECT_EQ(resolved_json(twice, Paths::absolute), resolved_json(once, Paths::absolute));
        EXPECT_EQ(cell_name(twice), cell_name(once));
    }
}

TEST(Config, ComparedValuesAreResolvedAsTheyAreWritten) {
    const std::string start = "workload: {name: fib}\nbackend: sim\ncompare:\n";
    for (const char* compare : {
             "  schedule.stealing.back_off_share: [.5, .25, 1., +2e-1]\n  seed: [+1, 02]\n",
             "  variants: {'a: b': {seed: +3}, '- c': {}, '8': {}, plain: , \"it's\": {platform.cores: 2}}\n",
             "  zip: [{seed: [1, 2], name: ['1', 'a, b']}, {workload.n: [3, 4]}]\n",
             "  platform.network.shape: [[1], [ 1 ,1]]\n  platform.network.topology: [torus]\n",
         }) {
        const Experiment once = read(start + compare);
        const std::string yaml = resolved_yaml(once);
        const Experiment twice = read_experiment_text(yaml, "b.yaml");
        EXPECT_EQ(resolved_yaml(twice), yaml);
        ASSERT_EQ(twice.compare.axes.size(), once.compare.axes.size()) << yaml;
        for (std::size_t i = 0; i < once.compare.axes.size(); ++i) {
            ASSERT_EQ(twice.compare.axes[i].keys, once.compare.axes[i].keys) << yaml;
            ASSERT_EQ(twice.compare.axes[i].points.size(), once.compare.axes[i].points.size()) << yaml;
            for (std::size_t k = 0; k < once.compare.axes[i].points.size(); ++k)
                EXPECT_EQ(twice.compare.axes[i].points[k].shown, once.compare.axes[i].points[k].shown);
        }
    }
}

TEST(Config, TheResolvedConfigurationNamesEveryKey) {
    const std::string yaml = resolved_yaml(read(full));
    for (const std::string& key : known_keys(workloads::find("fib"), "lifeline")) {
        const std::string name = key.substr(key.rfind('.') + 1);
        // Not of this world.
        if (key == "platform.file" || key == "platform.from" || key == "platform.clusters" ||
            key == "platform.transport" || key.starts_with("transport."))
            continue;
        if (key == "platform.nodes_at_start") continue;                        // only if not all begin
        if (key == "schedule.placement_file") continue;                        // only if it is read
        if (key == "platform.kernels" || key == "platform.compute") continue;  // only if they change a run
        if (key == "platform.overheads.message_bytes") continue;               // only if it is stated
        // Stated for several networks only.
        if (key == "platform.networks" || key == "platform.rails" || key.starts_with("platform.gateways."))
            continue;
        EXPECT_THAT(yaml, HasSubstr(name + ": ")) << key;
    }
    EXPECT_THAT(yaml, HasSubstr("unit_cost: 30f\n"));
    EXPECT_THAT(yaml, HasSubstr("platform.nodes: [1,64]\n"));
    EXPECT_THAT(resolved_json(read("workload: {name: uts}")), Not(HasSubstr("probability")));
    EXPECT_THAT(resolved_json(read("workload: {name: fib}")), Not(HasSubstr("network")));
}

TEST(Config, SeveralNetworksAreResolvedInTheirShortestForm) {
    const Experiment stated = read(
        "workload: {name: fib}\nbackend: sim\nplatform:\n  nodes: 9\n  rails: all\n  networks:\n"
        "    - {name: left, members: '4,0-3', latency: 1000ns}\n"
        "    - {name: right, members: 4-8, bandwidth: 80Gbps}\n");
    EXPECT_EQ(stated.platform.networks[1].members, (std::vector<NodeId>{4, 5, 6, 7, 8}));
    EXPECT_EQ(stated.platform.networks[1].bandwidth, 10e9);
    EXPECT_TRUE(stated.platform.gateways.all_rails);
    const std::string yaml = resolved_yaml(stated);
    EXPECT_THAT(yaml, HasSubstr(R"({"name":"left","members":"0-4","latency":"1us"})"));
    EXPECT_THAT(yaml, HasSubstr(R"("members":"4-8","bandwidth":"10GBps"})"));
    EXPECT_THAT(yaml, HasSubstr("rails: all\n"));
    EXPECT_THAT(yaml, HasSubstr("fragment: 64KiB\n"));
    EXPECT_THAT(resolved_yaml(read("workload: {name: fib}\nbackend: sim")), Not(HasSubstr("gateways")));
    for (const char* wrong : {"1-", "x", "3-1", "-2", "1,,2", "0-1,", ",1", ",", "", "99999999999"})
        EXPECT_THROW(read(std::string("workload: {name: fib}\nplatform: {nodes: 4, networks: [{name: a, "
                                      "members: '") +
                          wrong + "'}]}"),
                     Error)
            << wrong;
}

TEST(Config, HowNativeMessagesTravelIsResolvedWhereItIsStated) {
    const Experiment stated =
        read("workload: {name: fib}\ntransport: {receive: block, window: 1MiB, protection: encryption}");
    EXPECT_EQ(stated.messages.receive, Messages::Receive::block);
    EXPECT_EQ(stated.messages.protection, Messages::Protection::encryption);
    EXPECT_THAT(resolved_yaml(stated), HasSubstr("protection: encryption\n"));
    EXPECT_EQ(read("workload: {name: fib}").messages.protection, Messages::Protection::integrity);
    EXPECT_EQ(stated.messages.window_bytes, 1U << 20);
    EXPECT_THAT(resolved_yaml(stated), HasSubstr("receive: block\n"));
    EXPECT_THAT(resolved_yaml(stated), HasSubstr("window: 1MiB\n"));
    EXPECT_THAT(resolved_yaml(read("workload: {name: fib}")), Not(HasSubstr("\n  window:")));
}

TEST(Config, ATransportIsResolvedWhereMessagesTravelNatively) {
    EXPECT_EQ(read("workload: {name: fib}").transport, Transport::tcp);
    const Experiment mpi = read("workload: {name: fib}\nplatform: {transport: mpi}");
    EXPECT_EQ(mpi.transport, Transport::mpi);
    EXPECT_THAT(resolved_json(mpi), HasSubstr(R"("transport":"mpi")"));
    EXPECT_THAT(resolved_json(read("workload: {name: fib}\nplatform: {nodes: 2}")),
                HasSubstr(R"("transport":"tcp")"));
    EXPECT_THAT(resolved_json(read("workload: {name: fib}")), Not(HasSubstr("transport")));
    EXPECT_THAT(resolved_json(read("workload: {name: fib}\nplatform: {transport: mpi}\nbackend: sim")),
                Not(HasSubstr("transport")));
}

TEST(Config, ACellIsNamedByWhatChangesItsRun) {
    const std::string base = "workload: {name: fib}\nbackend: sim\n";
    const std::string cell = cell_name(read(base));
    EXPECT_EQ(cell.size(), 16U);
    EXPECT_EQ(cell_name(read(base + "name: other\nrepeat: 9\ncompare: {seed: [1, 2]}")), cell);
    EXPECT_EQ(
        cell_name(read(
            "backend: sim\nplatform: {nodes: 1, network: {latency: 1000ns}}\nworkload: {n: 30, name: fib}")),
        cell);
    EXPECT_NE(cell_name(read(base + "seed: 2")), cell);
    EXPECT_NE(cell_name(read(base, {"workload.n=29"})), cell);
    EXPECT_NE(cell_name(read(base, {"platform.network.latency=2us"})), cell);
    EXPECT_EQ(cell_name(read(base).with_seed(2)), cell_name(read(base + "seed: 2")));
}

// How a receiver waits changes the times of a simulation where waking takes time.
TEST(Config, WhatASimulationTakesOfTheTransportIsAPartOfItsCell) {
    const std::string base = "workload: {name: fib}\nbackend: sim\nplatform: {nodes: 2}\n";
    std::set<std::string> cells = {cell_name(read(base))};
    for (const char* stated : {"look=0s", "look=5ms", "receive=block", "receive=poll", "send=sequence"}) {
        const Experiment once = read(base, {std::string("transport.") + stated});
        EXPECT_TRUE(cells.insert(cell_name(once)).second) << stated;
        const Experiment twice = read_experiment_text(resolved_yaml(once), "b.yaml");
        EXPECT_EQ(cell_name(twice), cell_name(once)) << stated;
        EXPECT_EQ(twice.messages.look, once.messages.look);
        EXPECT_EQ(twice.messages.receive, once.messages.receive);
        EXPECT_EQ(twice.messages.send, once.messages.send);
    }
    for (const char* same : {"look=50us", "receive=auto", "send=each", "gather=1ms", "window=1MiB"})
        EXPECT_TRUE(cells.contains(cell_name(read(base, {std::string("transport.") + same})))) << same;
    EXPECT_EQ(cell_name(read(base, {"transport.receive=block", "transport.look=1ms"})),
              cell_name(read(base, {"transport.receive=block"})));
}

TEST(Config, APlatformIsReadFromAnExperimentOrAlone) {
    const auto folder =
        std::filesystem::temp_directory_path() / fmt::format("heddle_config_read_{}", ::getpid());
    std::filesystem::create_directories(folder);
    const std::string alone = folder / "alone.yaml", within = folder / "within.yaml";
    std::ofstream(alone) << "nodes: 4\nnetwork: {topology: torus}\n";
    std::ofstream(within)
        << "workload: {name: anything}\nplatform:\n  nodes: 4\n  network: {topology: torus}\n";
    for (const std::string& path : {alone, within}) {
        const Platform platform = read_platform(path, {parse_override("platform.cores=2")});
        EXPECT_EQ(platform.nodes, 4U);
        EXPECT_EQ(platform.cores, 2U);
        EXPECT_EQ(platform.network.topology, Network::Topology::torus);
        const Platform ideal = read_platform(path, {parse_override("platform.overheads=none")});
        EXPECT_NE(platform.overheads.fork, Time::zero());
        for (const auto& [name, time] : overheads_by_name(ideal.overheads))
            EXPECT_EQ(time, Time::zero()) << name;
    }
    std::filesystem::remove_all(folder);
}

TEST(Config, EveryShippedConfigurationIsRead) {
    int found = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(HEDDLE_SOURCE_DIR "/configs")) {
        if (entry.path().extension() != ".yaml") continue;
        ++found;
        EXPECT_NO_THROW(read_experiment(entry.path())) << entry.path();
    }
    EXPECT_GE(found, 4);
}

}  // namespace
}  // namespace heddle::configs
