// Tests stealing policies that register themselves in a file of their own, as this file does. Also tests the
// settings that they declare: keys of schedule.stealing that exist for their policy only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "configs/experiment.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/stealing/policy.hpp"

namespace heddle::configs {
namespace {

using testing::HasSubstr;

/// What the policy of this file was told when it was last made.
struct Told {
    std::int64_t patience = 0;
    Time pause{};
};
Told told;

class Patient final : public runtime::VictimPolicy {
public:
    explicit Patient(const runtime::ThiefView& view) {
        told = {view.own->integer("patience"), view.own->time("pause")};
    }
    runtime::Victim next() override { return {runtime::Victim::Kind::sleep, 0}; }
    void found() override {}
};

const auto registration = runtime::victim_policy<Patient>(
    "patient", "never asks",
    {{"patience", SettingKind::integer, "3", "how much of it there is", {}, 1, 9},
     {"pause", SettingKind::time, "2us", "how long it lasts", {}, 0, 1}});

class Clashing final : public runtime::VictimPolicy {
public:
    explicit Clashing(const runtime::ThiefView&) {}
    runtime::Victim next() override { return {}; }
    void found() override {}
};

const auto clash = runtime::victim_policy<Clashing>(
    "clashing", "", {{"amount", SettingKind::integer, "3", "a name that all policies have", {}, 1, 9}});

Experiment read(const std::string& stealing, const std::vector<std::string>& sets = {}) {
    std::vector<Override> overrides;
    for (const std::string& set : sets) overrides.push_back(parse_override(set));
    return read_experiment_text("workload: {name: fib}\nschedule:\n  stealing:\n" + stealing, "a.yaml",
                                overrides);
}

std::string refused(const std::string& stealing, const std::vector<std::string>& sets = {}) {
    try {
        read(stealing, sets);
    } catch (const Error& error) {
        return std::string(error.what()) + "; " + error.advice();
    }
    return "accepted";
}

Told make(const Experiment& experiment) {
    const runtime::Topology topology{.nodes = 1, .cores = 1, .group = {0}};
    told = {};
    runtime::make_victim_policy({{}, &topology, &experiment.schedule.stealing, Random(1)});
    return told;
}

TEST(Policies, AreSortedByNameWhereverTheyAreRegistered) {
    const auto names = runtime::victim_policies();
    EXPECT_TRUE(std::ranges::is_sorted(names));
    for (const char* name : {"none", "local_first", "satin", "patient"})
        EXPECT_EQ(std::ranges::count(names, name), 1) << name;
}

TEST(PolicySettings, HaveDefaultsThatThePolicyDeclares) {
    const Told defaults = make(read("    victim: patient\n"));
    EXPECT_EQ(defaults.patience, 3);
    EXPECT_EQ(defaults.pause, std::chrono::microseconds(2));
}

// The policy is named after its settings here, and before them in most files.
TEST(PolicySettings, AreStatedBesideTheSettingsOfAllPolicies) {
    const Told stated = make(read("    pause: 5ms\n    retries: 1\n    victim: patient\n    patience: 7\n"));
    EXPECT_EQ(stated.patience, 7);
    EXPECT_EQ(stated.pause, std::chrono::milliseconds(5));
    const Told set = make(
        read("    victim: random\n", {"schedule.stealing.patience=8", "schedule.stealing.victim=patient"}));
    EXPECT_EQ(set.patience, 8);
}

TEST(PolicySettings, WithoutAFileAreTheDefaultsOfThePolicyThatTheCallerNames) {
    Experiment experiment = read("    victim: hierarchical\n    near: 4\n");
    experiment.schedule.stealing.victim = "patient";
    EXPECT_EQ(make(experiment).patience, 3);
}

TEST(PolicySettings, OutsideTheirRangeOrOfAnotherPolicyAreRefusedWithTheirPlace) {
    EXPECT_THAT(refused("    victim: patient\n    patience: 10\n"),
                testing::AllOf(HasSubstr("a.yaml:5"), HasSubstr("10 is out of range"), HasSubstr("1 to 9")));
    EXPECT_THAT(refused("    victim: random\n    patience: 2\n"),
                testing::AllOf(HasSubstr("a.yaml:5"),
                               HasSubstr("schedule.stealing.patience is a setting of the policy patient, but "
                                         "the victim is random"),
                               HasSubstr("victim: patient")));
    EXPECT_THAT(refused("    patience: 2\n"), HasSubstr("the victim is local_first"));
    EXPECT_THAT(refused("    victim: patient\n    patence: 2\n"),
                testing::AllOf(HasSubstr("a.yaml:5"), HasSubstr("unknown key \"patence\""),
                               HasSubstr("did you mean \"patience\"?")));
    EXPECT_THAT(refused("    victim: patient\n", {"schedule.stealing.pause=2s"}), HasSubstr("out of range"));
    EXPECT_THAT(refused("    victim: clashing\n"), HasSubstr("has a meaning for all policies"));
}

TEST(PolicySettings, AreInTheResolvedConfigurationAndTheNameOfTheCell) {
    const Experiment one = read("    victim: patient\n");
    const Experiment same = read("    victim: patient\n    patience: 3\n    pause: 2000ns\n");
    const Experiment other = read("    victim: patient\n    patience: 4\n");
    const auto json = nlohmann::json::parse(resolved_json(other));
    EXPECT_EQ(json["schedule"]["stealing"]["patience"], 4);
    EXPECT_EQ(json["schedule"]["stealing"]["pause"], "2us");
    EXPECT_EQ(cell_name(one), cell_name(same));
    EXPECT_NE(cell_name(one), cell_name(other));
    const Experiment again = read_experiment_text(resolved_yaml(other), "b.yaml");
    EXPECT_EQ(resolved_yaml(again), resolved_yaml(other));
}

TEST(PolicySettings, AreCompared) {
    const Experiment base = read_experiment_text(
        "workload: {name: fib}\nschedule: {stealing: {victim: patient}}\n"
        "compare: {schedule.stealing.patience: [1, 2]}\n",
        "a.yaml");
    EXPECT_EQ(base.compare.axes.at(0).points.size(), 2U);
    const auto twice = [](const std::string& values) {
        read_experiment_text(
            "workload: {name: fib}\nschedule: {stealing: {victim: patient}}\ncompare: "
            "{schedule.stealing.patience: " +
                values + "}\n",
            "a.yaml");
    };
    EXPECT_THROW(twice("[1, +1]"), Error);
    EXPECT_THROW(twice("[1, 10]"), Error);
}

TEST(PolicySettings, AreInTheSchema) {
    const auto schema = nlohmann::json::parse(schema_json());
    const auto& stealing = schema["properties"]["schedule"]["properties"]["stealing"]["anyOf"][1];
    EXPECT_TRUE(stealing["properties"].contains("patience"));
    EXPECT_NE(stealing["allOf"].dump().find("how much of it there is (1 to 9)"), std::string::npos);
}

}  // namespace
}  // namespace heddle::configs
