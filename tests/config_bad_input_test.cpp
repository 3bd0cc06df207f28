// Tests that every kind of bad configuration is refused with its file, its line and advice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "configs/experiment.hpp"
#include "model/fork_join.hpp"

namespace heddle::configs {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A task whose argument is an address: it cannot leave its node.
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

std::string refusal(const std::string& text, const std::vector<std::string>& sets = {}) {
    try {
        std::vector<Override> overrides;
        for (const std::string& set : sets) overrides.push_back(parse_override(set));
        read_experiment_text(text, "a.yaml", overrides);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

struct Case {
    const char* what;
    const char* text;
    const char* message;  ///< how it begins: place, what is wrong
    const char* advice;   ///< what it contains
};

const Case cases[] = {
    {"unknown_key", "workload: {name: fib}\nplatfrom: {nodes: 2}", "a.yaml:2: unknown key \"platfrom\"",
     "did you mean \"platform\"?"},
    {"unknown_key_below", "workload: {name: fib}\nplatform:\n  nodes: 2\n  coers: 2",
     "a.yaml:4: unknown key \"coers\" in platform", "did you mean \"cores\"?"},
    {"unknown_key_or_another_section", "workload: {name: fib}\nplatform: {node: 2}",
     "a.yaml:2: unknown key \"node\" in platform", "did you mean \"nodes\" or \"platform.noise.node\"?"},
    {"unknown_setting", "workload:\n  name: fib\n  m: 2", "a.yaml:3: unknown key \"m\" in workload",
     "known: n, cutoff"},
    {"unknown_workload", "workload:\n  name: fibb", "a.yaml:2: unknown workload \"fibb\"",
     "did you mean \"fib\"?"},
    {"unknown_policy", "workload: {name: fib}\nschedule: {stealing: {victim: randm}}",
     "a.yaml:2: schedule.stealing.victim: unknown value \"randm\"", "did you mean \"random\"?"},
    {"unknown_placement", "workload: {name: fib}\nschedule: {placement: blok}",
     "a.yaml:2: schedule.placement: unknown value \"blok\"", "did you mean \"block\"?"},
    {"unknown_backend", "workload: {name: fib}\nbackend: simulator",
     "a.yaml:2: backend: unknown value \"simulator\"", "known: native, sim, inprocess"},
    {"policy_without_key", "workload: {name: fib}\nschedule: {stealing: random}",
     "a.yaml:2: schedule.stealing: expected keys with values, found `random`",
     "write `stealing: {victim: random}`"},
    {"wrong_type_text", "workload: {name: fib}\nplatform:\n  nodes: many",
     "a.yaml:3: platform.nodes: expected a whole number, found `many`", "1 to 10000000"},
    {"wrong_type_quoted", "workload: {name: fib}\nplatform:\n  nodes: '4'",
     "a.yaml:3: platform.nodes: expected a number, found the text \"4\"", "leave the quotes out"},
    {"wrong_type_fraction", "workload: {name: fib}\nseed: 1.5",
     "a.yaml:2: seed: expected a whole number, found `1.5`", "0 to"},
    {"wrong_type_list", "workload: {name: fib}\nplatform:\n  nodes: [1, 2]",
     "a.yaml:3: platform.nodes: expected a single value, found a list", ""},
    {"wrong_type_mapping", "workload: {name: fib}\nplatform: 4",
     "a.yaml:2: platform: expected keys with values, found `4`", "write `platform: {key: value}`"},
    {"wrong_type_shape", "workload: {name: fib}\nplatform: {network: {shape: 4}}",
     "a.yaml:2: platform.network.shape: expected a list, found `4`", "write it like `shape: [16, 4]`"},
    {"workload_without_key", "workload: fib", "a.yaml:1: workload: expected keys with values, found `fib`",
     "write `workload: {name: fib}`"},
    {"no_workload", "seed: 1", "a.yaml: no workload is stated", "heddle list workloads"},
    {"no_workload_name", "workload: {n: 1}", "a.yaml:1: workload.name is missing", "heddle list workloads"},
    {"missing_value", "workload: {name: fib}\nseed:",
     "a.yaml:2: seed: expected a single value, found nothing", "state a value or leave the key out"},
    {"zero_cores", "workload: {name: fib}\nplatform:\n  nodes: 2\n  cores: 0",
     "a.yaml:4: platform.cores: 0 is out of range", "expected 1 to"},
    {"zero_nodes", "workload: {name: fib}\nplatform: {nodes: 0}",
     "a.yaml:2: platform.nodes: 0 is out of range", "expected 1 to"},
    {"negative_nodes", "workload: {name: fib}\nplatform: {nodes: -2}",
     "a.yaml:2: platform.nodes: -2 is negative", "expected 1 to"},
    {"negative_size", "workload: {name: fib}\nschedule:\n  stack: -8MiB",
     "a.yaml:3: schedule.stack: negative size `-8MiB`", "expected a size such as"},
    {"negative_latency", "workload: {name: fib}\nplatform: {network: {latency: -1us}}",
     "a.yaml:2: platform.network.latency: negative time `-1us`", "expected a time such as"},
    {"negative_setting", "workload:\n  name: fib\n  n: -5", "a.yaml:3: workload.n: -5 is negative",
     "expected 0 to 78"},
    {"no_unit", "workload: {name: fib}\nplatform: {network: {bandwidth: 100}}",
     "a.yaml:2: platform.network.bandwidth: no unit in `100`", "12.5GBps (bytes) or 100Gbps (bits)"},
    {"unknown_unit", "workload: {name: fib}\nplatform: {network: {bandwidth: 100Gbp}}",
     "a.yaml:2: platform.network.bandwidth: unknown unit `Gbp` in `100Gbp`", "did you mean `Gbps`?"},
    {"zero_speed", "workload: {name: fib}\nplatform: {core_speed: 0}",
     "a.yaml:2: platform.core_speed: `0` is out of range", "1f to"},
    {"too_small_stack", "workload: {name: fib}\nschedule: {stack: 1KiB}",
     "a.yaml:2: schedule.stack: `1KiB` is out of range", "64KiB to"},
    {"duplicate_key", "workload: {name: fib}\nseed: 1\nseed: 2", "a.yaml:3: duplicate key \"seed\"",
     "already stated in line 2"},
    {"tab", "workload:\n\tname: fib", "a.yaml:2: not valid YAML", "indent with spaces"},
    {"syntax", "workload: {name: fib\nseed: 1", "a.yaml:", "check colons, brackets and indentation"},
    {"unknown_anchor", "workload: {name: fib}\nseed: *what", "a.yaml:2: not valid YAML", ""},
    {"anchor_in_itself", "workload: &w\n  name: fib\n  n: *w",
     "a.yaml:3: this alias refers to a value that it is part of", "an alias comes after its anchor"},
    {"empty", "", "a.yaml: nothing in it", "workload: {name: fib}"},
    {"only_comments", "# nothing\n", "a.yaml: nothing in it", "workload: {name: fib}"},
    {"not_a_mapping", "- workload\n- fib", "a.yaml:1: expected keys with values, found a list",
     "begins like"},
    {"a_word", "fib", "a.yaml:1: expected keys with values, found `fib`", "begins like"},
    {"two_documents", "workload: {name: fib}\n---\nseed: 1", "a.yaml:", "a configuration is one document"},
    {"tag", "workload: {name: !!str fib}", "a.yaml:1: the tag", "leave tags out"},
    {"control_character", "workload: {name: fib}\nname: \x01", "a.yaml:2: the byte 0x01 is not text",
     "UTF-8"},
    {"not_utf8", "workload: {name: fib}\nname: \xff", "a.yaml:2: the byte 0xff is not text", "UTF-8"},
    // yaml-cpp makes bytes of them that are no UTF-8, and the experiment could not be written.
    {"escape_of_a_byte", "workload: {name: fib}\nname: \"a\\N\"", "a.yaml:2: the escape \\N", "u0085"},
    {"list_as_key", "workload: {name: fib}\n? [a, b]\n: 1", "a.yaml:2: a key that is not a name",
     "single word"},
    {"unknown_compare_key", "workload: {name: fib}\ncompare:\n  platform.node: [1, 2]",
     "a.yaml:3: compare: unknown key \"platform.node\"", "did you mean \"platform.nodes\"?"},
    {"compared_section", "workload: {name: fib}\ncompare:\n  schedule.stealing: [none, random]",
     "a.yaml:3: compare: schedule.stealing has keys of its own",
     "compare one of them, such as schedule.stealing.victim"},
    {"compared_section_and_key",
     "workload: {name: fib}\ncompare:\n  platform.overheads: [none]\n  platform.overheads.fork: [1ns]",
     "a.yaml:4: compare: platform.overheads.fork varies in two places", "leave one of them out"},
    {"bad_compare_value", "workload: {name: fib}\ncompare:\n  platform.nodes:\n    - 1\n    - lots",
     "a.yaml:5: platform.nodes: expected a whole number, found `lots`", ""},
    {"bad_compare_setting", "workload: {name: fib}\ncompare: {workload.q: [1]}",
     "a.yaml:2: compare: unknown key \"workload.q\"", "did you mean \"workload.n\"?"},
    {"compare_without_list", "workload: {name: fib}\ncompare: {seed: 1}",
     "a.yaml:2: compare: seed: expected a list of values", "write it like `seed: [first, second]`"},
    {"back_off", "workload: {name: fib}\nschedule: {stealing: {back_off_min: 2ms}}",
     "a.yaml:2: schedule.stealing.back_off_min is more than back_off_max", "state both"},
    {"settings_that_do_not_go_together", "workload:\n  name: nqueens\n  n: 8\n  cutoff: 9",
     "a.yaml:4: cutoff 9 is more than the 8 rows", "cutoff is a number of rows"},
    {"arguments_that_cannot_travel", "workload: {name: pinned}\nplatform:\n  nodes: 2",
     "a.yaml:3: pinned cannot run on 2 nodes", "set platform.nodes to 1"},
};

class BadConfig : public testing::TestWithParam<Case> {};

TEST_P(BadConfig, IsRefusedWithFileLineAndAdvice) {
    const std::string said = refusal(GetParam().text);
    EXPECT_THAT(said, StartsWith(GetParam().message));
    EXPECT_THAT(said, HasSubstr(GetParam().advice));
}

INSTANTIATE_TEST_SUITE_P(Every, BadConfig, testing::ValuesIn(cases),
                         [](const auto& each) { return std::string(each.param.what); });

TEST(BadOverride, IsRefusedUnderTheNameThatItWasGivenBy) {
    const std::string good = "workload: {name: fib}";
    EXPECT_THAT(
        refusal(good, {"platform.nodess=3"}),
        StartsWith("--set platform.nodess: unknown key \"nodess\" in platform; did you mean \"nodes\"?"));
    EXPECT_THAT(refusal(good, {"platform.nodse=3"}), HasSubstr("did you mean \"nodes\"?"));
    EXPECT_THAT(refusal(good, {"workload.n=-5"}), StartsWith("--set workload.n: -5 is negative"));
    EXPECT_THAT(refusal(good, {"nodes=3"}),
                StartsWith("--set nodes: unknown key \"nodes\"; did you mean \"platform.nodes\"?"));
    EXPECT_THAT(refusal(good + "\nplatform: {latency: 1us}"),
                HasSubstr("\"platform.disk.latency\" or \"platform.network.latency\"?"));
    EXPECT_THAT(refusal(good + "\ncutoff: 3"), HasSubstr("did you mean \"workload.cutoff\"?"));
    EXPECT_THAT(refusal(good, {"platform.nodes=abc"}),
                StartsWith("--set platform.nodes: expected a whole number, found `abc`"));
    EXPECT_THAT(refusal(good, {"platform.nodes="}),
                StartsWith("--set platform.nodes: expected a single value, found nothing"));
    EXPECT_THAT(
        refusal(good, {"platform={nodes: 2"}),
        StartsWith("--set platform: a key that is not a name; a key is a single word; is a bracket open?"));
    EXPECT_THAT(refusal(good, {"workload.m=1"}),
                StartsWith("--set workload.m: unknown key \"m\" in workload"));
    EXPECT_THAT(refusal(good, {"platform..nodes=1"}), StartsWith("--set platform..nodes: an empty key"));
    EXPECT_THAT(refusal(good, {"platform.nodes"}),
                StartsWith("--set platform.nodes: expected KEY=VALUE; write it like"));
    EXPECT_THAT(refusal(good, {"=1"}), StartsWith("--set =1: expected KEY=VALUE"));
    EXPECT_EQ(refusal(good, {"platform.nodes=2"}), "accepted");
}

TEST(BadFile, IsRefusedWithItsName) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("heddle_config_bad_input_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const auto said = [](const std::string& path) -> std::string {
        try {
            read_experiment(path);
        } catch (const Error& error) {
            return error.what();
        }
        return "accepted";
    };
    const std::string huge = folder / "huge.yaml";
    {
        std::ofstream file(huge);
        for (int i = 0; i < 200000; ++i) file << "# nothing\n";
    }
    EXPECT_EQ(said(huge), huge +
                              ": has more than 1048576 bytes, the most that is read of a file here; name a "
                              "smaller file; is it the right one?");
    EXPECT_EQ(said(folder), folder.string() + ": is a directory; name a file");
    EXPECT_THAT(said(folder / "none.yaml"),
                HasSubstr("none.yaml: cannot be read (No such file or directory); check the path"));
    EXPECT_EQ(said("nqueens"),
              "there is no file `nqueens`, and a workload runs from a file; name a YAML file that has "
              "`workload: {name: nqueens}`");
    EXPECT_THAT(refusal("workload: {name: fib}\nplatform: {from: none.yaml}"),
                StartsWith("a.yaml:2: platform.from: none.yaml: cannot be read (No such file"));
    std::filesystem::remove_all(folder);
}

TEST(BadFile, AliasesThatGrowWithoutBoundAreRefused) {
    std::string text = "workload: {name: fib}\na0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
    for (int i = 1; i < 12; ++i) {
        text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 10; ++k) text += (k == 0 ? "*a" : ", *a") + std::to_string(i - 1);
        text += "]\n";
    }
    EXPECT_THAT(refusal(text), HasSubstr("too many values"));
    EXPECT_THAT(refusal(std::string(100000, '[')), StartsWith("a.yaml:"));
    EXPECT_THAT(refusal(std::string(100000, '{')), StartsWith("a.yaml:"));
}

}  // namespace
}  // namespace heddle::configs
