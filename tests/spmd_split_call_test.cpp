// Tests split-phase collective calls natively, in simulation and in-process: their results, in what order
// they may end, what goes on meanwhile, and the errors of threads and ranks that start different calls.
#include "model/spmd/split_call.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

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

class SplitCallWorlds : public testing::TestWithParam<World> {
protected:
    static void run(NodeId wanted, CoreId cores, const MainFunction::Body& body, SpmdOptions options = {}) {
        GetParam().run(GetParam().one_node ? 1 : wanted, cores,
                       [&](NodeId) { return std::make_unique<MainFunction>(options, body); });
    }
    static void run_random(NodeId wanted, CoreId cores, const SpmdOptions& options, int rounds) {
        GetParam().run(GetParam().one_node ? 1 : wanted, cores, [&](NodeId) {
            return std::make_unique<RandomCalls>(options, wanted * 100 + cores, rounds, 4);
        });
    }
    static std::string error(const MainFunction::Body& body, CoreId cores = 1) {
        return error_of([&] { run(3, cores, body); });
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, SplitCallWorlds, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(SplitCallWorlds, RandomCallsBesideBlockingOnesEqualTheReference) {
    run_random(3, 2, {}, 15);
    run_random(5, 1, {}, 10);
}

TEST_P(SplitCallWorlds, RanksThatAreThreads) {
    run_random(2, 3, {.ranks = flat}, 15);
}

TEST_P(SplitCallWorlds, AlgorithmsAreChosen) {
    run(4, 1,
        [](Spmd& self) {
            std::vector<std::uint64_t> data{self.rank() == 0 ? 5U : 0U};
            self.start().broadcast(data, 0).wait();
            EXPECT_EQ(data[0], 5U);
        },
        {.algorithms = {{Operation::broadcast, std::string(automatic)}}});
}

TEST_P(SplitCallWorlds, MayEndInAnyOrder) {
    run(4, 1, [](Spmd& self) {
        const std::uint64_t nodes = self.nodes();
        const std::vector<std::uint64_t> one{1}, rank{self.node()}, many(10'000, self.node());  // announced
        std::vector<std::uint64_t> ones(1), ranks(1), all(many.size() * nodes);
        SplitCall first = self.start().all_gather(many, all);
        SplitCall second = self.start().all_reduce([](auto a, auto b) { return a + b; }, one, ones);
        SplitCall third = self.start().all_reduce(std::plus<>(), rank, ranks);
        third.wait();
        EXPECT_EQ(ranks[0], nodes * (nodes - 1) / 2);
        second.wait();
        EXPECT_EQ(ones[0], nodes);
        first.wait();
        EXPECT_EQ(all.back(), nodes - 1);
    });
}

// The layouts are gone before the call has ended.
TEST_P(SplitCallWorlds, ArraysAreRedistributed) {
    run(2, 1, [](Spmd& self) {
        const auto dealt = [&](Distribution way) {
            return Layout({{100, way, self.nodes(), Distribution::block(), 1}});
        };
        const Layout from = dealt(Distribution::block()), to = dealt(Distribution::cyclic());
        const auto global = [&](const Layout& layout, Index i) {
            return layout.global(self.node(), std::vector<Index>{i})[0];
        };
        std::vector<Index> in(from.extents(self.node())[0]), out(to.extents(self.node())[0]);
        for (Index i = 0; i < in.size(); ++i) in[i] = global(from, i);
        std::optional<Redistribution> what(std::in_place, from, to);
        SplitCall call = redistribute(self.start(), *what, in, out);
        what.reset();
        call.wait();
        for (Index i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], global(to, i));
    });
}

// No thread waits for it, and one core has nothing else to do.
TEST_P(SplitCallWorlds, GoOnWhileThreadsDoSomethingElse) {
    run(3, 1, [](Spmd& self) {
        std::vector<std::uint64_t> data(5000, self.node() == 1 ? 7 : 0);
        const SplitCall call = self.start().broadcast(data, self.nodes() - 1);
        while (!call.done()) runtime::sleep_for(self.strand(), std::chrono::microseconds(50));
    });
}

TEST_P(SplitCallWorlds, AThreadThatLetsGoWaits) {
    run(3, 1, [](Spmd& self) {
        std::vector<std::uint64_t> data(1, self.node() == 0 ? 7 : 0);
        for (int i = 0; i < 100; ++i) {
            { const SplitCall call = self.start().broadcast(data, 0); }
            ASSERT_EQ(data[0], 7U);
            if (self.node() != 0) data[0] = 0;
        }
    });
}

// --- errors

TEST_P(SplitCallWorlds, ThreadsThatStartDifferentCallsAreNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error(
        [](Spmd& self) {
            std::vector<int> data(3);
            if (self.thread_rank() == 1) return self.start().barrier().wait();
            self.start().broadcast(data, 0).wait();
        },
        2);
    EXPECT_THAT(text, HasSubstr("of node"));
    EXPECT_THAT(text, HasSubstr("disagree: split-phase b"));
}

// Each has an endpoint of its own, of which nothing is left.
TEST(SplitCallMemory, CallsThatHaveEndedTakeNone) {
    std::size_t few = 0, many = 0;
    testing_strands::inprocess_world("", 1, false).run(2, 1, [&](NodeId) {
        return std::make_unique<MainFunction>(SpmdOptions{}, [&](Spmd& self) {
            for (int call = 1; call <= 20'000; ++call) {
                self.start().barrier().wait();
                if (self.node() == 0 && call == 1'000) few = ::mallinfo2().uordblks;
            }
            if (self.node() == 0) many = ::mallinfo2().uordblks;
        });
    });
    EXPECT_LT(many, few + (1U << 20));
}

TEST_P(SplitCallWorlds, RanksOfDifferentSizesAreNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error([](Spmd& self) {
        const std::vector<int> in(self.node() == 2 ? 5 : 4, 1);
        std::vector<int> out(in.size());
        self.start().barrier().wait();
        self.start().scan(std::plus<>(), in, out).wait();
    });
    EXPECT_THAT(
        text,
        HasSubstr("call 2 of rank 2 is split-phase scan (recursive_doubling) of 5 elements of 4 bytes"));
}

// The receiver has no step for it, whether it comes before the call has ended there or later.
TEST_P(SplitCallWorlds, AMessageThatTheCallDoesNotReceiveIsNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    for (const RankId late : {0U, 1U}) {
        const std::string text = error([late](Spmd& self) {
            std::vector<Index> in(self.node() == 0 ? 5 : 0), none;
            std::vector<Index> give(3, 0);
            if (self.node() == 0) give[1] = 5;
            self.start().barrier().wait();
            if (self.node() == late) runtime::sleep_for(self.strand(), std::chrono::milliseconds(1));
            all_to_some(self.start(), in, give, none, {0, 0, 0}).wait();
        });
        EXPECT_THAT(text,
                    HasSubstr("split-phase call 2 has ended at rank 1, and a message of rank 0 is left"));
    }
}

// The others' part is complete without it.
TEST_P(SplitCallWorlds, ARankThatStartsOneCallLessIsNamed) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error([](Spmd& self) {
        std::vector<int> data(3);
        if (self.node() != 2) self.start().broadcast(data, 0).wait();
    });
    EXPECT_THAT(text, HasSubstr("is the end of its main program, after 1 split-phase call"));
}

TEST_P(SplitCallWorlds, ARankThatNeverComesIsWaitedForByName) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    const std::string text = error([](Spmd& self) {
        runtime::Event never;
        if (self.node() == 2) self.strand().wait(never);
        self.start().barrier().wait();
    });
    EXPECT_THAT(text, HasSubstr("deadlock"));
    EXPECT_THAT(text, HasSubstr("split-phase barrier, call 1 of rank 0, waits for a message"));
    EXPECT_THAT(text, HasSubstr("thread 0 of node 0 waits for split-phase barrier, call 1"));
}

}  // namespace
}  // namespace heddle::spmd
