// Tests files of rules, which choose algorithms for collective calls: what they mean, for which calls they
// are asked, and what is refused.
#include "model/spmd/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "tests/spmd_programs.hpp"

namespace heddle::spmd {
namespace {

using testing::HasSubstr;

const char* const text =
    "all_reduce:\n"
    "  - {bytes: [0, 32768], algorithm: recursive_doubling}\n"
    "  - {nodes: [2, 64], threads: [1, 8], algorithm: ring}\n"
    "  - {algorithm: auto}\n"
    "  - {algorithm: rabenseifner}\n"
    "all_to_all:\n"
    "  - {bytes: [0, 100], algorithm: bruck}\n";

std::string chosen(const RuleCase& asked) {
    const Algorithm* const found = Rules::parse(text, "r.yaml").find(asked);
    return found ? found->name : "auto";
}

TEST(SpmdRules, TheFirstThatFitsIsTaken) {
    EXPECT_EQ(chosen({Operation::all_reduce, 0, 100, 4}), "recursive_doubling");
    EXPECT_EQ(chosen({Operation::all_reduce, 32768, 100, 4}), "recursive_doubling");
    EXPECT_EQ(chosen({Operation::all_reduce, 32769, 64, 8}), "ring");
    EXPECT_EQ(chosen({Operation::all_reduce, 32769, 65, 8}), "auto");
    EXPECT_EQ(chosen({Operation::all_reduce, 32769, 64, 9}), "auto");
    EXPECT_EQ(chosen({Operation::all_to_all, 100, 7, 1}), "bruck");
    EXPECT_EQ(chosen({Operation::all_to_all, 101, 7, 1}), "auto");
    EXPECT_EQ(chosen({Operation::broadcast, 1, 7, 1}), "auto");
}

TEST(SpmdRules, OneWhoseAlgorithmCannotDoTheOperatorIsPassed) {
    EXPECT_EQ(chosen({Operation::all_reduce, 32769, 64, 8, false}), "auto");
}

/// How many calls of 4 ranks took the ring, which no price chooses for one element.
double calls_by_ring(const std::function<void(Spmd&, const std::vector<long>&, std::vector<long>&)>& call) {
    inprocess::Options nodes;
    nodes.nodes = 4;
    inprocess::InprocessBackend backend(nodes);
    SpmdOptions options;
    options.rules = std::make_shared<Rules>(Rules::parse("all_reduce: [{algorithm: ring}]\n", "r.yaml"));
    const auto make = [&](NodeId) {
        return std::make_unique<testing_spmd::MainFunction>(options, [&](Spmd& self) {
            const std::vector<long> one{1};
            std::vector<long> sum(1);
            call(self, one, sum);
            EXPECT_EQ(sum[0], 4);
        });
    };
    const runtime::RunResult result = runtime::Execution(backend, {}, make).run();
    for (const runtime::AnswerValue& each : result.answer)
        if (each.name == "all_reduce_by_ring") return each.value;
    return 0;
}

TEST(SpmdRules, ACallThatSaysAutoDoesNotAskThem) {
    using Numbers = std::vector<long>;
    EXPECT_EQ(calls_by_ring([](Spmd& self, const Numbers& in, Numbers& out) {
                  self.all_reduce(std::plus<>(), in, out);
              }),
              1);
    EXPECT_EQ(calls_by_ring([](Spmd& self, const Numbers& in, Numbers& out) {
                  self.all_reduce(std::plus<>(), in, out, "auto");
              }),
              0);
    EXPECT_EQ(calls_by_ring([](Spmd& self, const Numbers& in, Numbers& out) {
                  self.start().all_reduce(std::plus<>(), in, out, "auto").wait();
              }),
              0);
}

void expect_refusal(const std::string& rules, int line, const std::string& words) {
    try {
        Rules::parse(rules, "r.yaml");
        ADD_FAILURE() << rules;
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("r.yaml:" + std::to_string(line)));
        EXPECT_THAT(error.what(), HasSubstr(words));
    }
}

TEST(SpmdRules, WhatIsNoRuleIsRefusedWithItsLine) {
    expect_refusal("all_reduce:\n  - {algorithm: ring, byte: [0, 1]}\n", 2, "did you mean \"bytes\"");
    expect_refusal("all_reduce:\n  - {algorithm: magic}\n", 2, "choose one of: recursive_doubling");
    expect_refusal("\nallreduce: []\n", 2, "did you mean \"all_reduce\"");
    expect_refusal("scan: []\nscan: []\n", 2, "stated twice");
    expect_refusal("scan:\n  - {algorithm: chain, algorithm: chain}\n", 2, "stated twice");
    expect_refusal("scan:\n  - {bytes: [0, 1]}\n", 2, "without an algorithm");
    expect_refusal("scan:\n  - {bytes: [2, 1], algorithm: chain}\n", 2, "ends before it begins");
    expect_refusal("scan:\n  - {bytes: [2], algorithm: chain}\n", 2, "no range");
    expect_refusal("scan:\n  - {bytes: [a, 4], algorithm: chain}\n", 2, "a");
    expect_refusal("scan: {algorithm: chain}\n", 1, "no list of rules");
    expect_refusal("scan: [\n", 2, "");
    expect_refusal("scan: []\n---\nbroadcast: []\n", 3, "a second document");
    expect_refusal("- 1\n", 1, "no operation");
}

}  // namespace
}  // namespace heddle::spmd
