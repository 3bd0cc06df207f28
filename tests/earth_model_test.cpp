// Tests EARTH's operations and the properties that its paper states (Tremblay et al., section 2), each by a
// small program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "model/earth/earth_node.hpp"
#include "tests/earth_testing.hpp"

namespace heddle {
namespace {

using namespace test;
using testing::ElementsAre;

// --- threads

struct AskedFrom {
    Global<std::int64_t> table;
    Sptr done;
};

/// Writes its node's number to its place in a table.
struct WhereAmI : Threaded<WhereAmI, AskedFrom> {
    void init(Em em) {
        auto place = table;
        place.address += em.node_id() * sizeof(std::int64_t);
        em.put_sync(em.node_id(), place, done);
        em.terminate();
    }
};

constexpr NodeId most_nodes = 64;

struct AskAll : Threaded<AskAll> {
    std::int64_t table[most_nodes];

    void init(Em em) {
        ready.set(em.num_nodes(), 0);  // <* NUM_NODES *>
        for (NodeId node = 0; node < em.num_nodes(); ++node)
            em.invoke<WhereAmI>(node, em.to_global(table[0]), em.to_sptr(ready));
    }
    void check(Em em) {
        for (NodeId node = 0; node < em.num_nodes(); ++node) notes(em).add(table[node]);
        em.terminate();
    }
    Fiber<&AskAll::check> ready{*this};
};

TEST(EarthModel, InvokedThreadsRunOnTheirNode) {
    for (const NodeId nodes : {1U, 2U, 7U, most_nodes}) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            Notes shared;
            const auto result = run({nodes, 2, seed}, shared, [](Em em) { em.invoke<AskAll>(0); });
            ASSERT_EQ(unterminated(result), 0);
            ASSERT_EQ(shared.values.size(), nodes);
            for (NodeId node = 0; node < nodes; ++node)
                ASSERT_EQ(shared.values[node], node) << "seed " << seed;
        }
    }
}

struct CountMain : Threaded<CountMain> {
    void init(Em em) { em.token<CountTree>(6, em.to_sptr(done)); }
    void end(Em em) {
        notes(em).add(notes(em).total);
        em.terminate();
    }
    Fiber<&CountMain::end> done{*this, 1};
};

TEST(EarthModel, EveryTokenIsExpandedOnceWhoeverTakesIt) {
    for (const char* victim : {"none", "random", "hierarchical", "lifeline", "local_first"}) {
        for (std::uint64_t seed = 0; seed < 25; ++seed) {
            Notes shared;
            const auto result = run({5, 3, seed, victim}, shared, [](Em em) { em.invoke<CountMain>(0); });
            ASSERT_THAT(shared.values, ElementsAre(729)) << victim << ", seed " << seed;
            ASSERT_EQ(unterminated(result), 0);
        }
    }
}

struct Forgetful : Threaded<Forgetful> {
    void init(Em) {}
    void never(Em em) { em.terminate(); }
    Fiber<&Forgetful::never> slot{*this, 1};
};

TEST(EarthModel, ThreadsThatNobodyTerminatesAreCounted) {
    Notes shared;
    EXPECT_EQ(unterminated(run({2, 2}, shared,
                               [](Em em) {
                                   em.invoke<Forgetful>(0);
                                   em.invoke<Forgetful>(1);
                                   em.invoke<CountMain>(0);
                               })),
              2);
}

struct Hasty : Threaded<Hasty> {
    static constexpr auto name = "hasty";

    void init(Em em) {
        em.sync(other);
        em.terminate();
    }
    void run(Em) {}
    Fiber<&Hasty::run> other{*this, 1};
};

TEST(EarthModel, TerminatingWithAFiberScheduledIsAnErrorThatNamesIt) {
    EXPECT_THAT(error_of({3, 1}, [](Em em) { em.invoke<Hasty>(2); }),
                testing::HasSubstr("hasty on node 2 has terminated while "
                                   "&heddle::{anonymous}::Hasty::run was scheduled"));
}

/// The last signal is sent by a fiber that still runs when the one that it enables terminates.
struct Gatherer : Threaded<Gatherer> {
    std::int64_t sum = 0;

    void init(Em em) {
        for (int i = 0; i < 8; ++i) em.sync(one);
    }
    void add(Em em) {
        ++sum;
        em.sync(all);
        em.work();  // others act meanwhile
    }
    void end(Em em) {
        notes(em).total += sum;
        em.terminate();
    }
    ExclusiveFiber<&Gatherer::add> one{*this, 1};
    Fiber<&Gatherer::end> all{*this, 8};
};

void gather_often(Em em) {
    for (int i = 0; i < 200; ++i) em.invoke<Gatherer>(0);
}

TEST(EarthModel, TheFiberThatSendsTheLastSignalMayStillRunWhenItsThreadTerminates) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Notes shared;
        EXPECT_EQ(unterminated(run({1, 4, seed, "random", true}, shared, gather_often)), 0);
        EXPECT_EQ(shared.total, 1600);
        Notes natively;
        EXPECT_EQ(unterminated(run_natively(4, natively, gather_often)), 0);
        EXPECT_EQ(natively.total, 1600);
    }
}

// --- slots

struct OneShot : Threaded<OneShot> {
    void init(Em em) {
        em.sync(slot);
        em.sync(slot);
    }
    void once(Em em) { em.terminate(); }
    Fiber<&OneShot::once> slot{*this, 1, 0};
};

TEST(EarthModel, ASignalBelowZeroIsAnError) {
    EXPECT_THAT(error_of({}, [](Em em) { em.invoke<OneShot>(0); }),
                testing::HasSubstr("a sync slot got 1 signal, and waits for 0"));
}

struct Rearmed : Threaded<Rearmed> {
    void init(Em em) {
        for (int i = 0; i < 3 + 2 * 4; ++i) em.sync(slot);  // three the first time, two each time after it
    }
    void round(Em em) {
        ++notes(em).total;
        em.sync(rounds);
    }
    void end(Em em) { em.terminate(); }
    Fiber<&Rearmed::round> slot{*this, 3, 2};
    Fiber<&Rearmed::end> rounds{*this, 5};
};

TEST(EarthModel, ASlotIsArmedAgainWithItsResetCount) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Notes shared;
        EXPECT_EQ(unterminated(run({1, 3, seed}, shared, [](Em em) { em.invoke<Rearmed>(0); })), 0);
        EXPECT_EQ(shared.total, 5) << "seed " << seed;
    }
}

struct SignalParameters {
    Sptr slot;
    std::int64_t times;
};
struct SignalOften : Threaded<SignalOften, SignalParameters> {
    void init(Em em) {
        for (std::int64_t i = 0; i < times; ++i) em.sync(slot);
        em.terminate();
    }
};

/// Counts activations, and how many were alive at once.
struct Instances : Threaded<Instances> {
    static constexpr std::int64_t each = 50;

    void init(Em em) {
        all.set(static_cast<std::uint32_t>(each * em.num_nodes()), 0);
        for (NodeId node = 0; node < em.num_nodes(); ++node)
            em.invoke<SignalOften>(node, em.to_sptr(instance), each);
    }
    void one(Em em) {
        ++notes(em).total;
        em.sync(all);
    }
    void end(Em em) { em.terminate(); }
    Fiber<&Instances::one> instance{*this, 1};
    Fiber<&Instances::end> all{*this};
};

TEST(EarthModel, EachSignalOfACountOfOneIsAnActivationOfItsOwn) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Notes shared;
        EXPECT_EQ(unterminated(run({4, 2, seed}, shared, [](Em em) { em.invoke<Instances>(0); })), 0);
        EXPECT_EQ(shared.total, 4 * Instances::each) << "seed " << seed;
    }
}

/// Ten thousand exclusive activations of two fibers change a plain number, with a pause between reading and
/// writing.
struct Exclusive : Threaded<Exclusive> {
    static constexpr std::uint32_t instances = 10000;

    std::int64_t total;
    std::atomic<int> inside;

    void init(Em em) {
        total = 0;
        for (std::uint32_t i = 0; i < instances / 2; ++i) {
            em.token<SignalOften>(em.to_sptr(one), 1);
            em.token<SignalOften>(em.to_sptr(other), 1);
        }
    }
    void add(Em em) {
        if (++inside != 1) ++notes(em).total;
        const std::int64_t before = total;
        em.compute({100, 0}, [] {});
        total = before + 1;
        --inside;
        em.sync(all);
    }
    void add_too(Em em) { add(em); }
    void end(Em em) {
        notes(em).add(total);
        em.terminate();
    }
    ExclusiveFiber<&Exclusive::add> one{*this, 1};
    ExclusiveFiber<&Exclusive::add_too> other{*this, 1};
    Fiber<&Exclusive::end> all{*this, instances};
};

TEST(EarthModel, ExclusiveFibersOfAThreadNeverOverlap) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        Notes shared;
        run({1, 4, seed}, shared, [](Em em) { em.invoke<Exclusive>(0); });
        EXPECT_THAT(shared.values, ElementsAre(Exclusive::instances));
        EXPECT_EQ(shared.total, 0) << "times two were inside";
    }
}

TEST(EarthModel, ExclusiveFibersNeverOverlapOnFourRealWorkers) {
    for (int round = 0; round < 5; ++round) {
        Notes shared;
        run_natively(4, shared, [](Em em) { em.invoke<Exclusive>(0); });
        EXPECT_THAT(shared.values, ElementsAre(Exclusive::instances));
        EXPECT_EQ(shared.total, 0) << "times two were inside";
    }
}

struct Priorities : Threaded<Priorities> {
    void init(Em em) {
        em.sync(low);
        em.sync(middle);
        em.sync(high);
        em.sync(middle);
    }
    void ordinary(Em em) {
        notes(em).add(0);
        em.sync(all);
    }
    void first(Em em) {
        notes(em).add(7);
        em.sync(all);
    }
    void second(Em em) {
        notes(em).add(3);
        em.sync(all);
    }
    void end(Em em) { em.terminate(); }
    Fiber<&Priorities::ordinary> low{*this, 1};
    Fiber<&Priorities::second, false, 3> middle{*this, 1};
    Fiber<&Priorities::first, false, 7> high{*this, 1};
    Fiber<&Priorities::end> all{*this, 4};
};

TEST(EarthModel, FibersOfHigherPriorityRunEarlier) {
    Notes shared;
    EXPECT_EQ(unterminated(run({}, shared, [](Em em) { em.invoke<Priorities>(0); })), 0);
    EXPECT_THAT(shared.values, ElementsAre(7, 3, 3, 0));
}

struct GiveParameters {
    Input<std::int64_t> first;
    std::int64_t value;
};
struct Give : Threaded<Give, GiveParameters> {
    void init(Em em) {
        em.put_sync(value, first);
        em.terminate();
    }
};

/// A fiber with arguments that come from two nodes, twice.
struct Difference : Threaded<Difference> {
    int rounds;

    void init(Em em) {
        rounds = 0;
        ask(em);
    }
    void ask(Em em) {
        em.invoke<Give>(1 % em.num_nodes(), difference.input<0>(em.node_id()), 50 + rounds);
        em.invoke<Give>(2 % em.num_nodes(), difference.input<1>(em.node_id()), 8);
    }
    void subtract(Em em, std::int64_t from, std::int64_t what) {
        notes(em).add(from - what);
        if (++rounds == 2) return em.terminate();
        ask(em);
    }
    FiberOf<&Difference::subtract> difference{*this};
};

TEST(EarthModel, AFiberWithArgumentsIsCalledWithWhatCame) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Notes shared;
        EXPECT_EQ(unterminated(run({3, 2, seed}, shared, [](Em em) { em.invoke<Difference>(0); })), 0);
        EXPECT_THAT(shared.values, ElementsAre(42, 43));
    }
}

/// Fibers of one template, whose names compilers write alike.
struct Alike : Threaded<Alike> {
    void init(Em em) {
        em.sync(one);
        em.sync(two);
    }
    template <int number>
    void note(Em em) {
        notes(em).add(number);
        em.sync(all);
    }
    void end(Em em) { em.terminate(); }
    Fiber<&Alike::note<1>> one{*this, 1};
    Fiber<&Alike::note<2>> two{*this, 1};
    Fiber<&Alike::end> all{*this, 2};
};

TEST(EarthModel, FibersOfOneTemplateAreKeptApart) {
    Notes shared;
    EXPECT_EQ(unterminated(run({}, shared, [](Em em) { em.invoke<Alike>(0); })), 0);
    EXPECT_THAT(shared.values, testing::UnorderedElementsAre(1, 2));
}

// --- checked runs

struct AlignedParameters {
    Sptr done;
};

/// Notes how far its frame's variable is from where it must be.
template <std::size_t alignment, std::size_t bytes>
struct Aligned : Threaded<Aligned<alignment, bytes>, AlignedParameters> {
    alignas(alignment) std::array<char, bytes> variable = {};

    void init(Em em) {
        // The compiler knows where the variable must be, so it must not see the address.
        const void* volatile address = variable.data();
        notes(em).add(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) % alignment));
        em.sync(this->done);
        em.terminate();
    }
};

struct AlignedMain : Threaded<AlignedMain> {
    void init(Em em) {
        for (int i = 0; i < 10; ++i) {
            em.invoke<Aligned<16, 1>>(0, em.to_sptr(all));
            em.invoke<Aligned<32, 1>>(0, em.to_sptr(all));
            em.invoke<Aligned<64, 1>>(0, em.to_sptr(all));
            em.invoke<Aligned<64, 3000>>(0, em.to_sptr(all));
            em.invoke<Aligned<4096, 1>>(0, em.to_sptr(all));
        }
    }
    void end(Em em) { em.terminate(); }
    Fiber<&AlignedMain::end> all{*this, 50};
};

TEST(EarthModel, FramesAreAlignedAsTheirFunctionsNeed) {
    for (const bool checked : {false, true}) {
        Notes shared;
        const auto result = run({.checked = checked}, shared, [](Em em) { em.invoke<AlignedMain>(0); });
        EXPECT_EQ(unterminated(result), 0);
        EXPECT_THAT(shared.values, testing::AllOf(testing::SizeIs(50), testing::Each(0)));
    }
}

struct Late : Threaded<Late, AskedFrom> {
    void init(Em em) {
        em.put_sync(1, table, done);
        em.terminate();
    }
};
struct GoneParameters {
    NodeId user;
};
struct Gone : Threaded<Gone, GoneParameters> {
    static constexpr auto name = "gone";
    std::int64_t variable;

    void init(Em em) {
        em.invoke<Late>(user, em.to_global(variable), em.to_sptr(slot));
        em.terminate();
    }
    void never(Em) {}
    Fiber<&Gone::never> slot{*this, 1};
};

TEST(EarthModel, CheckedRunsFindReferencesToThreadsThatHaveTerminated) {
    for (const NodeId user : {0U, 1U}) {
        EXPECT_THAT(
            error_of({2, 1, 1, "random", true}, [=](Em em) { em.invoke<Gone>(0, user); }),
            testing::HasSubstr("a reference into a frame of gone is used after its thread has terminated"));
    }
}

/// A program may start a thread for each of several things, of which there are none.
TEST(EarthModel, ASlotThatAwaitsNoSignalsIsDoneAtOnce) {
    EXPECT_TRUE(model::earth::AwaitedSlot(0).done());
    EXPECT_FALSE(model::earth::AwaitedSlot(1).done());
}

}  // namespace
}  // namespace heddle
