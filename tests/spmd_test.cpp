// Tests data-parallel programs natively, in simulation and in-process: threads, collective calls by every
// algorithm, and the errors of ranks that disagree.
#include "model/spmd.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "runtime/sources/timers.hpp"
#include "tests/spmd_programs.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;
using testing::HasSubstr;
using testing_strands::error_of;
using testing_strands::World;
using testing_strands::worlds;

class SpmdWorlds : public testing::TestWithParam<World> {
protected:
    static NodeId nodes(NodeId wanted) { return GetParam().one_node ? 1 : wanted; }
    static void run(NodeId wanted, CoreId cores, const MainFunction::Body& body, SpmdOptions options = {}) {
        GetParam().run(nodes(wanted), cores,
                       [&](NodeId) { return std::make_unique<MainFunction>(options, body); });
    }
    static void run_random(NodeId wanted, CoreId cores, const SpmdOptions& options, int rounds,
                           std::uint64_t split_max = 0) {
        const std::uint64_t seed = wanted * 100 + cores;
        GetParam().run(nodes(wanted), cores, [&](NodeId) {
            return std::make_unique<RandomCalls>(options, seed, rounds, split_max);
        });
    }
    /// What ends a run of several ranks. Natively a failed run with several workers or nodes ends the
    /// process.
    static std::string error(const MainFunction::Body& body, SpmdOptions options = {}, CoreId cores = 1) {
        return error_of([&] { run(3, cores, body, std::move(options)); });
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, SpmdWorlds, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(SpmdWorlds, ThreadsKnowWhichTheyAre) {
    run(3, 2, [](Spmd& self) {
        EXPECT_EQ(self.num_of_thread(), 2U);
        EXPECT_EQ(self.nodes(), nodes(3));
        EXPECT_EQ(self.ranks(), self.nodes());
        EXPECT_EQ(self.worker().id, (WorkerId{self.node(), static_cast<CoreId>(self.thread_rank())}));
        const std::uint64_t bit = std::uint64_t{1} << (self.node() * 2 + self.thread_rank());
        EXPECT_EQ(self.all_reduce_value(std::plus<>(), bit), (std::uint64_t{1} << 2 * self.nodes()) - 1);
    });
}

TEST_P(SpmdWorlds, RandomCallsEqualTheReference) {
    run_random(3, 2, {}, 60);
    run_random(5, 1, {}, 40);
}

TEST_P(SpmdWorlds, ThreadsCopyWhileOneCommunicates) {
    run_random(3, 3, {.crew = {.overlap = true}}, 40);
}

// Of the least size that several threads copy.
TEST_P(SpmdWorlds, ThreadsCopyMessagesThatAreStillThere) {
    for (const Index bytes : {Rank::shared_bytes - 16, Rank::shared_bytes, Rank::shared_bytes + 16}) {
        std::vector<RandomCall> calls(3, {find_algorithm(Operation::all_to_all, "pairwise"), {}});
        run(3, 3,
            [&](Spmd& self) {
                RandomCall& call = calls[self.node()];
                for (int round = 0; round < 5; ++round) {
                    self.barrier();
                    if (self.thread_rank() == 0) {
                        call = {find_algorithm(Operation::all_to_all, "pairwise"),
                                {Operation::all_to_all, self.ranks(), 0, bytes / sizeof(Value), 9, true}};
                        call.prepare(self.rank());
                    }
                    self.barrier();
                    call.make(self);
                    if (self.thread_rank() == 0) call.check(self.rank(), "shared");
                }
            },
            {.crew = {.overlap = true}});
    }
}

TEST_P(SpmdWorlds, SeveralThreadsCommunicate) {
    run_random(4, 2, {.crew = {.communicators = 2}}, 40);
    run_random(3, 3, {.crew = {.communicators = 2}}, 40);
}

TEST_P(SpmdWorlds, MessagesArePackedWhereOneAsksForThat) {
    run_random(3, 2, {.crew = {.in_place = false}}, 40);
}

TEST_P(SpmdWorlds, RanksThatAreThreads) {
    run_random(2, 3, {.ranks = flat}, 60);
}

// n numbers from 1 on, dealt out over the nodes: the paper's reduce (section 3.1.1).
TEST_P(SpmdWorlds, AnArrayIsReducedToOneValue) {
    run(3, 2, [](Spmd& self) {
        constexpr std::uint64_t n = 1000;
        const Layout layout({{n, Distribution::block(), self.nodes(), Distribution::block(), 2}});
        std::vector<std::uint64_t> mine(layout.extents(self.node())[0]);
        for (Index i = 0; i < mine.size(); ++i)
            mine[i] = 1 + layout.global(self.node(), std::vector<Index>{i})[0];
        EXPECT_EQ(self.all_reduce_array(std::plus<>(), mine), n * (n + 1) / 2);
    });
}

// Three elements of each thread: those of all ranks are the numbers from 1 on.
TEST_P(SpmdWorlds, ArraysOfThreadsThatAreRanksAreReducedToOneValue) {
    run(3, 2,
        [](Spmd& self) {
            const std::uint64_t n = 3 * self.ranks(), first = 3 * self.rank() + 1;
            const std::vector<std::uint64_t> mine{first, first + 1, first + 2};
            EXPECT_EQ(self.all_reduce_array(std::plus<>(), mine), n * (n + 1) / 2);
        },
        {.ranks = flat});
}

TEST_P(SpmdWorlds, ARankMayGiveItsInputAgainAsTheArrayThatOnlyTheRootUses) {
    run(3, 1, [](Spmd& self) {
        std::vector<RankId> mine{self.rank()}, sum(1), all(self.ranks());
        const bool at_root = self.rank() == 0;
        self.reduce(std::plus<>(), mine, at_root ? sum : mine, 0);
        self.gather(mine, at_root ? all : mine, 0);
        EXPECT_EQ(mine, std::vector<RankId>{self.rank()});
        if (at_root) {
            EXPECT_EQ(sum[0], self.ranks() * (self.ranks() - 1) / 2);
            for (RankId rank = 0; rank < self.ranks(); ++rank) EXPECT_EQ(all[rank], rank);
        }
        std::vector<RankId> got{99};
        self.scatter(at_root ? all : got, got, 0);
        EXPECT_EQ(got[0], self.rank());
    });
}

TEST_P(SpmdWorlds, AlgorithmsAreChosenByCallOrByOption) {
    run(3, 1,
        [](Spmd& self) {
            const std::vector<Value> in = values(self.rank(), 3);
            std::vector<Value> out(3);
            // It would be refused if the option did not count.
            self.all_reduce(InOrder{compose}, in, out);
            self.all_reduce(add, in, out, "ring");
        },
        {.algorithms = {{Operation::all_reduce, "rabenseifner"}}});
}

// What was sent and not received is bounded, so the root waits.
TEST_P(SpmdWorlds, ARootDoesNotRunFarAheadOfASlowNode) {
    constexpr std::uint32_t calls = 10'000;
    constexpr std::uint64_t ahead_max = 2 * runtime::Endpoint::window / (sizeof(Signature) + 8 + 64);
    std::atomic<std::uint32_t> done{0};
    run(2, 1, [&](Spmd& self) {
        if (self.node() == 1) {
            runtime::sleep_for(self.strand(), std::chrono::milliseconds(20));
            EXPECT_LE(done, ahead_max);
        }
        std::vector<std::uint64_t> data(1);
        for (std::uint32_t call = 0; call < calls; ++call) {
            if (self.node() == 0) data[0] = call;
            self.broadcast(data, 0);
            ASSERT_EQ(data[0], call);
            if (self.node() == 0) ++done;
        }
    });
    EXPECT_EQ(done, calls);
}

// --- errors

TEST_P(SpmdWorlds, RanksOfDifferentOperationsAreNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error([](Spmd& self) {
        const std::vector<int> in(4, 1);
        std::vector<int> out(12);
        if (self.node() == 1) {
            self.all_gather(in, out, "ring");
        } else {
            self.all_reduce(std::plus<>(), in, std::span(out).first(4), "ring");
        }
    });
    EXPECT_THAT(text, HasSubstr("disagree in a collective call: call 1 of rank"));
    EXPECT_THAT(text, HasSubstr("is all_reduce (ring) of 4 elements of 4 bytes"));
    EXPECT_THAT(text, HasSubstr("is all_gather (ring) of 4 elements of 4 bytes"));
}

TEST_P(SpmdWorlds, RanksOfDifferentSizesAreNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error([](Spmd& self) {
        const std::vector<int> in(self.node() == 2 ? 5 : 4, 1);
        std::vector<int> out(in.size());
        self.barrier();
        self.scan(std::plus<>(), in, out);
    });
    EXPECT_THAT(text, HasSubstr("call 2 of rank 2 is scan (recursive_doubling) of 5 elements of 4 bytes"));
}

TEST_P(SpmdWorlds, RanksOfDifferentRootsAreNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error([](Spmd& self) {
        std::vector<int> data(3);
        self.broadcast(data, self.node() == 0 ? 0 : 1);
    });
    EXPECT_THAT(text, HasSubstr("broadcast (binomial) of 3 elements of 4 bytes with root"));
}

TEST_P(SpmdWorlds, ARankThatMakesOneCallLessIsNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error([](Spmd& self) {
        std::vector<int> data(3);
        self.barrier();
        if (self.node() != 2) self.broadcast(data, 0);
    });
    EXPECT_THAT(text, HasSubstr("disagree in a collective call"));
    EXPECT_THAT(text, HasSubstr("of rank 2 is the end of its main program"));
}

TEST_P(SpmdWorlds, ARankThatNeverComesIsWaitedForByName) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error([](Spmd& self) {
        runtime::Event never;
        if (self.node() == 2) self.strand().wait(never);
        self.barrier();
    });
    EXPECT_THAT(text, HasSubstr("deadlock"));
    EXPECT_THAT(text, HasSubstr("thread 0 of node 0 in barrier, call 1, waits for a message"));
}

TEST_P(SpmdWorlds, ThreadsOfANodeThatDisagreeAreNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error(
        [](Spmd& self) {
            std::vector<int> data(3);
            if (self.thread_rank() == 1) return self.barrier();
            self.broadcast(data, 0);
        },
        {}, 2);
    EXPECT_THAT(text, HasSubstr("threads 0 and 1 of node"));
    EXPECT_THAT(text, HasSubstr("disagree: broadcast (binomial) of 3 elements of 4 bytes with root 0 and "
                                "barrier (dissemination)"));
}

std::string error_alone(const World& world, const MainFunction::Body& body, SpmdOptions options = {}) {
    return error_of(
        [&] { world.run(1, 1, [&](NodeId) { return std::make_unique<MainFunction>(options, body); }); });
}

TEST_P(SpmdWorlds, CallsThatCannotBeAreRefused) {
    std::vector<int> two(2);
    std::vector<int> three(3);
    const auto refused = [&](const MainFunction::Body& body) { return error_alone(GetParam(), body); };
    EXPECT_THAT(refused([&](Spmd& self) { self.broadcast(two, 0, "magic"); }),
                HasSubstr("broadcast has no algorithm \"magic\"; choose one of: binomial, knomial_4, "
                          "knomial_8, flat, chain"));
    EXPECT_THAT(refused([&](Spmd& self) { self.all_reduce(std::plus<>(), two, three); }),
                HasSubstr("all_reduce on 1 ranks with an input and an output that do not fit"));
    EXPECT_THAT(refused([&](Spmd& self) { self.all_gather(three, three); }),
                HasSubstr("all_gather with an input and an output that overlap"));
    EXPECT_THAT(refused([&](Spmd& self) { self.broadcast(two, 7); }),
                HasSubstr("broadcast with root 7, and there are 1 ranks"));
    EXPECT_THAT(refused([&](Spmd& self) {
                    self.all_reduce(InOrder{std::plus<>()}, two, std::span(three).first(2), "ring");
                }),
                HasSubstr("all_reduce by ring with an operator that does not commute"));
    EXPECT_THAT(error_alone(GetParam(), [](Spmd&) {}, {.algorithms = {{Operation::scan, "magic"}}}),
                HasSubstr("scan has no algorithm \"magic\""));
}

// Nodes combine values along a tree.
template <class Op>
concept CombinesValues = requires(Spmd& self, Op op, std::vector<int> array) {
    self.all_reduce_value(op, 1);
    self.all_reduce_array(op, array);
};
static_assert(CombinesValues<std::plus<>>);
static_assert(!CombinesValues<InOrder<std::plus<>>>);

}  // namespace
}  // namespace heddle::spmd
