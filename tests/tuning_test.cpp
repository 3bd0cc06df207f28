// Tests how `heddle tune` chooses algorithms: winners, ties, refusals and ranges, from times that the tests
// state.
#include "cli/tuning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/settings.hpp"
#include "cli/tuning_file.hpp"
#include "cli/tuning_grid.hpp"

namespace heddle::cli {
namespace {

using spmd::Operation;
using spmd::Rules;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_of(Operation operation) {
    std::vector<std::string> names;
    for (const spmd::Algorithm& algorithm : spmd::all_algorithms())
        if (algorithm.operation == operation) names.push_back(algorithm.name);
    return names;
}

/// Three algorithms, whatever their names are.
const std::vector<std::string>& abc() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all = names_of(Operation::all_reduce);
        all.resize(3);
        return all;
    }();
    return names;
}

class Tuning : public testing::Test {
protected:
    const std::string a = abc()[0];
    const std::string b = abc()[1];
    const std::string c = abc()[2];
};

/// Of all_reduce; `seconds`: the runs by each algorithm, none where it cannot do the call.
TunedCall call(std::uint64_t bytes, const std::vector<std::vector<double>>& seconds, std::uint64_t nodes = 4,
               std::uint64_t threads = 1) {
    TunedCall made{Operation::all_reduce, nodes, threads, bytes};
    for (std::size_t i = 0; i < seconds.size(); ++i)
        made.algorithms.push_back({abc()[i], seconds[i], abc()[i]});
    return made;
}

std::vector<std::string> winners(std::vector<TunedCall> calls) {
    choose(calls);
    std::vector<std::string> names;
    for (const TunedCall& each : calls) names.push_back(each.chosen().algorithm);
    return names;
}

Rules written(std::vector<TunedCall> calls) {
    choose(calls);
    return Rules::parse(rules_yaml(calls, {"a head", "of two lines"}), "rules.yaml");
}

TEST_F(Tuning, TheLeastMedianWinsAndNeighboursShareARuleUpToTheGeometricMean) {
    const std::vector<TunedCall> calls = {call(128, {{9}, {2}, {3}}),
                                          call(8, {{1, 1, 9}, {2, 2, 2}, {3, 3, 3}}),
                                          call(32, {{1}, {2}, {3}}), call(512, {{9}, {2}, {3}})};
    EXPECT_THAT(winners(calls), ElementsAre(a, a, b, b));
    const Rules rules = written(calls);
    ASSERT_EQ(rules.all().size(), 2U);
    EXPECT_EQ(rules.all()[0].bytes.first, 0U);
    EXPECT_EQ(rules.all()[0].bytes.last, 64U);
    EXPECT_EQ(rules.all()[1].bytes.first, 65U);
    EXPECT_EQ(rules.all()[1].bytes.last, static_cast<std::uint64_t>(integer_max));
}

TEST_F(Tuning, OfAlgorithmsThatTieTheNeighboursIsTaken) {
    const std::vector<TunedCall> ties = {call(8, {{1.0, 1.1, 1.2}, {1.1, 1.15, 1.2}, {9, 9, 9}}),
                                         call(16, {{5, 5, 5}, {2, 2, 2}, {9, 9, 9}})};
    EXPECT_THAT(winners(ties), ElementsAre(b, b));
    // The same medians without a spread.
    EXPECT_THAT(winners({call(8, {{1.1}, {1.15}, {9}}), call(16, {{5}, {2}, {9}})}), ElementsAre(a, b));
    // The last digits of simulated times are rounded. Without a neighbour the least time decides.
    EXPECT_THAT(winners({call(8, {{1}, {1 + 1e-12}, {9}}), call(16, {{5}, {2}, {9}})}), ElementsAre(b, b));
    EXPECT_THAT(winners({call(8, {{1 + 1e-12}, {1}, {9}})}), ElementsAre(b));
}

TEST_F(Tuning, AlgorithmsThatRefuseACallDoNotWinIt) {
    const std::vector<TunedCall> calls = {call(8, {{}, {2}, {3}}), call(16, {{}, {}, {}}),
                                          call(32, {{}, {}, {3}})};
    EXPECT_THAT(winners(calls), ElementsAre(b, c));
    const Rules rules = written(calls);
    EXPECT_EQ(rules.all()[0].bytes.last, 16U);
    EXPECT_EQ(rules.find({Operation::all_reduce, 32, 4, 1})->name, c);
    EXPECT_TRUE(winners({call(8, {{}, {}, {}})}).empty());
}

TEST_F(Tuning, OneSizeAndOneNodeMakeOneRuleForAllSizes) {
    const Rules rules = written({call(8, {{1}, {1}, {1}}, 1)});
    ASSERT_EQ(rules.all().size(), 1U);
    EXPECT_EQ(rules.find({Operation::all_reduce, 1U << 20, 1, 1})->name, a);
    EXPECT_EQ(rules.find({Operation::all_reduce, 8, 2, 1}), nullptr) << "two nodes were not measured";
    EXPECT_EQ(rules.find({Operation::all_reduce, 8, 1, 2}), nullptr) << "two threads were not measured";
}

TEST_F(Tuning, BetweenMeasuredNodesARangeEndsAtTheGeometricMean) {
    const Rules rules =
        written({call(8, {{1}, {2}, {3}}, 2), call(8, {{2}, {1}, {3}}, 4), call(8, {{3}, {2}, {1}}, 16)});
    const auto at = [&](std::uint64_t nodes) {
        const spmd::Algorithm* const found = rules.find({Operation::all_reduce, 8, nodes, 1});
        return found ? found->name : "none";
    };
    EXPECT_EQ(at(1), "none");
    EXPECT_EQ(at(2), a);
    EXPECT_EQ(at(3), b);
    EXPECT_EQ(at(8), b);
    EXPECT_EQ(at(9), c);
    EXPECT_EQ(at(16), c);
    EXPECT_EQ(at(17), "none");
}

/// The fewest rules of a series, by trying every assignment of algorithms that tie with the best.
std::size_t fewest_rules(const std::vector<TunedCall>& series) {
    std::size_t assignments = 1;
    for (std::size_t i = 0; i < series.size(); ++i) assignments *= abc().size();
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    for (std::size_t number = 0; number < assignments; ++number) {
        std::size_t rest = number;
        std::size_t rules = 0;
        std::size_t before = abc().size();
        bool possible = true;
        for (const TunedCall& each : series) {
            const std::size_t chosen = rest % abc().size();
            rest /= abc().size();
            const TunedRuns& runs = each.algorithms[chosen];
            possible = possible && runs.measured() && runs.median() <= each.best_seconds() * (1 + 1e-9);
            rules += chosen == before ? 0 : 1;
            before = chosen;
        }
        if (possible) fewest = std::min(fewest, rules);
    }
    return fewest;
}

TEST_F(Tuning, TheWrittenRulesNameEachCallsWinnerAndAreAsFewAsCanBe) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Random random(seed);
        std::vector<TunedCall> calls;
        for (const std::uint64_t nodes : {2, 5, 6})
            for (const std::uint64_t threads : {1, 4})
                for (std::uint64_t bytes = 8; bytes <= 8 << 10; bytes *= 4) {
                    // Few different times, so that many tie; some algorithms refuse.
                    std::vector<std::vector<double>> seconds(abc().size());
                    for (std::vector<double>& runs : seconds)
                        if (random.below(6) > 0) runs = {1e-6 * static_cast<double>(1 + random.below(3))};
                    calls.push_back(call(bytes, seconds, nodes, threads));
                }
        choose(calls);
        const Rules rules = Rules::parse(rules_yaml(calls, {}), "rules.yaml");
        std::size_t fewest = 0;
        for (std::size_t begin = 0; begin < calls.size();) {
            std::vector<TunedCall> series;
            const TunedCall& first = calls[begin];
            for (; begin < calls.size() && calls[begin].nodes == first.nodes &&
                   calls[begin].threads == first.threads;
                 ++begin)
                series.push_back(calls[begin]);
            fewest += fewest_rules(series);
        }
        EXPECT_EQ(rules.all().size(), fewest) << "seed " << seed;
        for (const TunedCall& each : calls) {
            const spmd::Algorithm* const found =
                rules.find({each.operation, each.bytes, each.nodes, each.threads});
            ASSERT_NE(found, nullptr) << "seed " << seed << ", " << described(each);
            EXPECT_EQ(found->name, each.chosen().algorithm) << "seed " << seed << ", " << described(each);
            EXPECT_DOUBLE_EQ(each.chosen().median(), each.best_seconds()) << "seed " << seed;
        }
    }
}

TEST_F(Tuning, WhatAutoCostsIsRelativeToTheBest) {
    std::vector<TunedCall> calls = {call(8, {{1}, {2}, {3}}), call(16, {{1}, {2}, {3}}),
                                    call(32, {{1}, {2}, {3}})};
    calls[0].automatic.seconds = {1};
    calls[1].automatic.seconds = {1.05};
    calls[2].automatic.seconds = {1.5};
    choose(calls);
    EXPECT_EQ(automatic_in_words(calls),
              "auto: within 10% of the best, or tied with it, in 2 of 3 calls; median +5.0%, worst +50.0% "
              "(all_reduce of 32B on 4 x 1)");
}

TEST_F(Tuning, WhatAutoCostsIsThatOfTheAlgorithmItTook) {
    // Its own runs were slower by chance.
    std::vector<TunedCall> calls = {call(8, {{1, 1}, {2, 2}, {}}), call(16, {{1, 1}, {1.3, 1.3}, {}}),
                                    call(32, {{1, 1}, {2, 2}, {}}), call(64, {{1, 1}, {2, 2}, {}})};
    for (TunedCall& each : calls) each.automatic.seconds = {1.4, 1.4};
    calls[0].automatic.ran = a;
    calls[1].automatic.ran = b;
    calls[2].automatic.ran = a + " + " + b;
    calls[3].automatic.ran = c;
    choose(calls);
    EXPECT_EQ(loss_of_automatic(calls[0]), 0);
    EXPECT_NEAR(*loss_of_automatic(calls[1]), 0.3, 1e-9);
    EXPECT_NEAR(*loss_of_automatic(calls[2]), 0.4, 1e-9) << "several were not measured together by name";
    EXPECT_NEAR(*loss_of_automatic(calls[3]), 0.4, 1e-9) << "the call by name was refused";
}

TEST_F(Tuning, WhatTiesWithTheBestIsNearIt) {
    std::vector<TunedCall> calls = {call(8, {{1, 1.2, 1.4}, {1.3, 1.4, 1.9}, {9, 9, 9}}),
                                    call(16, {{1.2, 1.2, 1.2}, {1.4, 1.4, 1.4}, {9, 9, 9}})};
    for (TunedCall& each : calls) {
        each.automatic.seconds = {1.4};
        each.automatic.ran = b;
    }
    choose(calls);
    EXPECT_THAT(automatic_in_words(calls), HasSubstr("in 1 of 2 calls; median +16.7%"));
}

TEST_F(Tuning, ListsAndRangesOfNumbersAreRead) {
    EXPECT_THAT(grid_values("--nodes", "4,2,2", GridUnit::count), ElementsAre(2U, 4U));
    EXPECT_THAT(grid_values("--nodes", "3..20", GridUnit::count), ElementsAre(3U, 6U, 12U));
    EXPECT_THAT(grid_values("--nodes", "4..16", GridUnit::count), ElementsAre(4U, 8U, 16U));
    EXPECT_THAT(grid_values("--bytes", "0,8..1KiB*8,1MiB", GridUnit::bytes),
                ElementsAre(0U, 8U, 64U, 512U, 1U << 20));
    EXPECT_THAT(grid_values("--bytes", "1..8", GridUnit::bytes, 8), ElementsAre(1U, 2U, 4U, 8U));
    EXPECT_THROW(grid_values("--bytes", "1..9", GridUnit::bytes, 8), Error);
    EXPECT_THROW(grid_values("--nodes", "9", GridUnit::count, 8), Error);
    for (const char* const text : {"", ",", "2,", "-1", "0", "1.5", "two", "4..2", "2..4*1", "2..4*", "..4",
                                   "2..", "1e30", "2...4", "2..4..8", "8KiB"})
        EXPECT_THROW(grid_values("--nodes", text, GridUnit::count), Error) << text;
    for (const char* const text : {"-8", "0..8", "1e300", "8..1MiB*1e9", "1.5", "8 bytes", "nan", "8..1e18"})
        EXPECT_THROW(grid_values("--bytes", text, GridUnit::bytes), Error) << text;
}

TEST_F(Tuning, OperationsWithOneAlgorithmAreMeasuredIfTheyAreNamed) {
    EXPECT_THAT(grid_operations("barrier,all_reduce,barrier"),
                ElementsAre(Operation::barrier, Operation::all_reduce));
    for (const Operation operation : grid_operations("")) EXPECT_GT(names_of(operation).size(), 1U);
    try {
        grid_operations("all_reduce,brodcast");
        FAIL() << "no such operation";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("did you mean \"broadcast\"?"));
    }
}

TEST_F(Tuning, WhatAutoRanCannotHaveBeenRefused) {
    TunedCall one = call(8, {{1}, {}, {3}});
    one.algorithms[1].refusal = "1 GB are there";
    EXPECT_NO_THROW(refuse_contradictions({one}));
    one.automatic = {"auto", {1}, a};
    EXPECT_NO_THROW(refuse_contradictions({one}));
    one.automatic.ran = b;
    try {
        refuse_contradictions({one});
        ADD_FAILURE() << "auto ran what was refused";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("1 GB are there; no rules were written"));
    }
}

}  // namespace
}  // namespace heddle::cli
