// Tests every algorithm of every collective operation, without a runtime. It interprets the steps of all
// ranks one after the other, with queues for messages, and compares the arrays with a sequential reference.
// It compares messages, payload and time in Hockney's model with closed forms.
#include "model/spmd/algorithm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "tests/spmd_closed_forms.hpp"
#include "tests/spmd_interpreter.hpp"
#include "tests/spmd_testing.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;
using testing::HasSubstr;

class SpmdAlgorithms : public testing::TestWithParam<Algorithm> {};

INSTANTIATE_TEST_SUITE_P(All, SpmdAlgorithms, testing::ValuesIn(all_algorithms()), [](const auto& tested) {
    return name_of(tested.param.operation) + ("_" + tested.param.name);
});

TEST_P(SpmdAlgorithms, EqualTheSequentialReference) {
    const Algorithm& algorithm = GetParam();
    for (RankId ranks = 1; ranks <= 17; ++ranks) {
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            Random random(ranks * 100 + seed);
            Task task = draw_task(random, algorithm.operation, ranks);
            if (seed == 0) task.count = 0;
            task.levels = draw_levels(random, ranks);
            task.commutes = algorithm.commutes || random.below(4) == 0;
            const Interpreted result = Interpreter(algorithm, task).run();
            for (RankId rank = 0; rank < ranks; ++rank)
                ASSERT_EQ(result.outputs[rank], expected_output(task, rank))
                    << ranks << " ranks, rank " << rank << ", root " << task.root << ", count " << task.count;
        }
    }
}

TEST_P(SpmdAlgorithms, SendWhatTheClosedFormSays) {
    const Algorithm& algorithm = GetParam();
    ASSERT_TRUE(closed_forms().contains({algorithm.operation, algorithm.name}));
    for (RankId ranks = 1; ranks <= 17; ++ranks) {
        for (const RankId root : {RankId{0}, ranks / 2}) {
            Task task{algorithm.operation, ranks, root, ranks * std::bit_floor(ranks), 4, true};
            const Interpreted result = Interpreter(algorithm, task).run();
            const Sent expected = closed_form(algorithm).sent(ranks, task.count, task);
            EXPECT_EQ(result.messages, expected.messages) << ranks << " ranks";
            EXPECT_EQ(result.elements, expected.elements) << ranks << " ranks";
        }
    }
}

TEST_P(SpmdAlgorithms, TakeTheTimeOfTheClosedForm) {
    const Algorithm& algorithm = GetParam();
    for (const RankId ranks : {2U, 4U, 8U, 16U, 32U, 64U}) {
        for (const RankId root : {RankId{0}, ranks / 2}) {
            const Task task{algorithm.operation, ranks, root, ranks * 2, ranks / 2, true};
            EXPECT_EQ(Interpreter(algorithm, task).run().time.sum,
                      closed_form(algorithm).time(ranks, task.count, task).sum)
                << ranks << " ranks, root " << root;
        }
    }
}

/// Groups of `inner` ranks, and groups of `outer` of these, as algorithms of two and of three levels have
/// them.
std::shared_ptr<const Levels> alike(RankId ranks, RankId inner, RankId outer) {
    const auto firsts = [](RankId count, RankId size) {
        std::vector<RankId> all;
        for (RankId first = 0; first < count; first += size) all.push_back(first);
        return all;
    };
    Levels levels;
    levels.two = std::make_shared<Groups>(ranks, firsts(ranks, inner));
    levels.three = std::make_shared<Groups>(
        ranks, firsts(ranks, inner), std::make_shared<Groups>(ranks / inner, firsts(ranks / inner, outer)));
    return std::make_shared<Levels>(levels);
}

std::vector<Algorithm> of_levels() {
    std::vector<Algorithm> some;
    std::ranges::copy_if(all_algorithms(), std::back_inserter(some),
                         [](const Algorithm& algorithm) { return algorithm.levels > 1; });
    return some;
}

class SpmdLevels : public testing::TestWithParam<Algorithm> {};

INSTANTIATE_TEST_SUITE_P(All, SpmdLevels, testing::ValuesIn(of_levels()), [](const auto& tested) {
    return name_of(tested.param.operation) + ("_" + tested.param.name);
});

TEST_P(SpmdLevels, SendWhatTheClosedFormSaysForTheirGroups) {
    const Algorithm& algorithm = GetParam();
    for (const RankId inner : {1U, 2U, 3U, 4U}) {
        for (const RankId outer : {1U, 2U, 3U}) {
            for (const RankId groups : {1U, 2U, 4U, 5U}) {
                const RankId ranks = inner * outer * groups;
                // Parts of parts have whole numbers of elements.
                const RankId top = outer * groups;
                const Index count =
                    has_blocks(algorithm.operation) ? 3 : Index{top} * std::bit_floor(top) * 12;
                for (const RankId root : {RankId{0}, ranks / 2, ranks - 1}) {
                    Task task{algorithm.operation, ranks, root, count, 4, true};
                    task.levels = alike(ranks, inner, outer);
                    const Interpreted result = Interpreter(algorithm, task).run();
                    EXPECT_EQ((Sent{result.messages, result.elements}),
                              closed_form(algorithm).sent(ranks, count, task))
                        << groups << " x " << outer << " x " << inner << " ranks, root " << root;
                }
            }
        }
    }
}

// With several leaders time depends on which of a rank's messages wait for which.
TEST_P(SpmdLevels, TakeTheTimeOfTheClosedFormForTheirGroups) {
    const Algorithm& algorithm = GetParam();
    if (algorithm.name.find("leaders") != std::string::npos) GTEST_SKIP();
    for (const RankId inner : {1U, 2U, 8U}) {
        for (const RankId outer : {1U, 4U}) {
            for (const RankId groups : {1U, 2U, 4U}) {
                const RankId ranks = inner * outer * groups;
                for (const RankId root : {RankId{0}, ranks - 1}) {
                    const Index count = has_blocks(algorithm.operation) ? 2 : ranks * 2;
                    Task task{algorithm.operation, ranks, root, count, ranks, true};
                    task.levels = alike(ranks, inner, outer);
                    EXPECT_EQ(Interpreter(algorithm, task).run().time.sum,
                              closed_form(algorithm).time(ranks, task.count, task).sum)
                        << groups << " x " << outer << " x " << inner << " ranks, root " << root;
                }
            }
        }
    }
}

/// Of which ranks each one has heard when it has done all its steps.
std::vector<std::set<RankId>> heard_of(const Algorithm& algorithm, const Task& task) {
    std::vector<std::vector<Step>> steps(task.ranks);
    std::vector<std::size_t> next(task.ranks);
    std::vector<std::set<RankId>> heard(task.ranks);
    std::map<std::pair<RankId, RankId>, std::deque<std::set<RankId>>> queues;
    for (RankId rank = 0; rank < task.ranks; ++rank) {
        Collected all;
        algorithm.steps({rank, task.ranks, 0, 0, 1, task.levels.get()}, all);
        steps[rank] = all.all;
        heard[rank] = {rank};
    }
    for (bool moves = true; moves;) {
        moves = false;
        for (RankId rank = 0; rank < task.ranks; ++rank) {
            for (; next[rank] < steps[rank].size(); ++next[rank], moves = true) {
                const Step& step = steps[rank][next[rank]];
                if (step.kind == Step::Kind::send) {
                    queues[{rank, step.peer}].push_back(heard[rank]);
                    continue;
                }
                auto& queue = queues[{step.peer, rank}];
                if (queue.empty()) break;
                heard[rank].insert(queue.front().begin(), queue.front().end());
                queue.pop_front();
            }
        }
    }
    return heard;
}

// No rank returns before all have called.
TEST(SpmdBarriers, EndWhenEachRankHasHeardOfAll) {
    for (const Algorithm& algorithm : all_algorithms()) {
        if (algorithm.operation != Operation::barrier) continue;
        for (RankId ranks = 1; ranks <= 33; ++ranks) {
            for (int draw = 0; draw < 10; ++draw) {
                Random random(ranks * 100 + static_cast<unsigned>(draw));
                Task task{Operation::barrier, ranks, 0, 0, 1, true};
                task.levels = draw_levels(random, ranks);
                for (const std::set<RankId>& of_one : heard_of(algorithm, task))
                    ASSERT_EQ(of_one.size(), ranks) << algorithm.name << ", " << ranks << " ranks";
            }
        }
    }
}

// A send of a large message ends when it is received. The executor's next send waits for that
// (CrewSettings::Sends::in_turn).
TEST_P(SpmdAlgorithms, EndIfSendsWaitForReceives) {
    for (RankId ranks = 1; ranks <= 66; ++ranks) {
        Random random(ranks);
        Task task{GetParam().operation, ranks, ranks / 3, 5, 2, true};
        for (int draw = 0; draw < (GetParam().levels > 1 ? 20 : 1); ++draw) {
            Interpreter(GetParam(), task, Interpreter::Sends::synchronous).run();
            ASSERT_FALSE(HasFailure()) << ranks << " ranks, draw " << draw;
            task.levels = draw_levels(random, ranks);
            task.root = static_cast<RankId>(random.below(ranks));
        }
    }
}

TEST(SpmdAlgorithmNames, AnUnknownOneIsRefusedWithTheList) {
    EXPECT_EQ(find_algorithm(Operation::all_reduce, "").name, "recursive_doubling");
    EXPECT_EQ(find_algorithm(Operation::all_reduce, "ring").name, "ring");
    try {
        find_algorithm(Operation::all_reduce, "magic");
        ADD_FAILURE() << "it was found";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("all_reduce has no algorithm \"magic\"; choose one of: "
                                            "recursive_doubling, rabenseifner, ring, reduce_broadcast, "));
    }
    for (const Operation operation : operations)
        EXPECT_EQ(find_algorithm(operation, "").operation, operation);
}

}  // namespace
}  // namespace heddle::spmd
