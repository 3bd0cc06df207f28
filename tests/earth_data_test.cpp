// Tests the split-phase operations and mailboxes of EARTH (Tremblay et al., section 2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "tests/earth_get_sync.hpp"
#include "tests/earth_testing.hpp"

namespace heddle {
namespace {

using namespace test;
using testing::ElementsAre;

TEST(EarthData, GetsAreSplitPhase) {
    for (const NodeId nodes : {1U, 2U, 3U, 64U}) {
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            Notes shared;
            EXPECT_EQ(unterminated(run({nodes, 2, seed}, shared, [](Em em) { em.invoke<GetBoth>(0); })), 0);
            EXPECT_THAT(shared.values, ElementsAre(100 + 1 % nodes, 100 + 2 % nodes)) << "seed " << seed;
        }
    }
}

/// Data of a node, where any thread finds them. One for each node.
std::map<NodeId, std::vector<std::int64_t>>& blocks() {
    static std::map<NodeId, std::vector<std::int64_t>> all;
    return all;
}

struct MoveParameters {
    NodeId from, to;
    std::uint64_t count;
};
/// Moves a block between two nodes, of which neither need be its own, and signals itself.
struct Move : Threaded<Move, MoveParameters> {
    void init(Em em) {
        const Global<std::int64_t> source(from, blocks()[from].data());
        const Global<std::int64_t> target(to, blocks()[to].data() + count);
        em.blkmov_sync(source, target, count, moved);
    }
    void check(Em em) {
        const auto& source = blocks()[from];
        const auto& target = blocks()[to];
        const auto middle = target.begin() + static_cast<std::ptrdiff_t>(count);
        notes(em).add(std::equal(middle, target.end(), source.begin()) ? 1 : 0);
        em.terminate();
    }
    Fiber<&Move::check> moved{*this, 1};
};

TEST(EarthData, BlocksOfAnySizeMoveBetweenAnyNodes) {
    for (const std::uint64_t count : {1U, 10U, 1000U, 200000U}) {
        for (NodeId from = 0; from < 3; ++from) {
            for (NodeId to = 0; to < 3; ++to) {
                blocks().clear();
                for (NodeId node = 0; node < 3; ++node) {
                    blocks()[node].assign(2 * count, 0);
                    std::iota(blocks()[node].begin(),
                              blocks()[node].begin() + static_cast<std::ptrdiff_t>(count), 1000 * node);
                }
                Notes shared;
                EXPECT_EQ(
                    unterminated(run({3, 1}, shared, [=](Em em) { em.invoke<Move>(0, from, to, count); })),
                    0);
                EXPECT_THAT(shared.values, ElementsAre(1))
                    << count << " values from " << from << " to " << to;
            }
        }
    }
}

/// Asks three nodes; a fiber each notes when its answer comes.
struct OutOfOrder : Threaded<OutOfOrder> {
    std::int64_t into[3];

    void init(Em em) {
        ask(em, 1, one);
        ask(em, 2, two);
        ask(em, 3, three);
    }
    void ask(Em em, NodeId node, runtime::SyncSlot& answered) {
        em.get_sync(Global<std::int64_t>(node, blocks()[node].data()), into[node - 1], answered);
    }
    template <int which>
    void came(Em em) {
        notes(em).add(which);
        em.sync(all);
    }
    void first(Em em) { came<1>(em); }
    void second(Em em) { came<2>(em); }
    void third(Em em) { came<3>(em); }
    void end(Em em) { em.terminate(); }
    Fiber<&OutOfOrder::end> all{*this, 3};
    Fiber<&OutOfOrder::first> one{*this, 1};
    Fiber<&OutOfOrder::second> two{*this, 1};
    Fiber<&OutOfOrder::third> three{*this, 1};
};

TEST(EarthData, SplitPhaseOperationsCompleteInAnyOrder) {
    for (NodeId node = 0; node < 4; ++node) blocks()[node] = {1};
    std::set<std::vector<std::int64_t>> orders;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Notes shared;
        EXPECT_EQ(unterminated(run({4, 1, seed}, shared, [](Em em) { em.invoke<OutOfOrder>(0); })), 0);
        orders.insert(shared.values);
    }
    EXPECT_EQ(orders.size(), 6) << "all orders of three";
}

// --- what a node's threads find without a message

TEST(EarthData, ADirectoryKnowsTheProxiesOfItsNode) {
    Directory directory;
    Mailbox owner, first, second;
    const Global<Mailbox> object(3, &owner);
    EXPECT_EQ(directory.find(object), nullptr);
    directory.enter(object, first);
    directory.enter({4, &owner}, second);
    EXPECT_EQ(directory.find(object), &first);
    EXPECT_EQ(directory.find({4, &owner}), &second);
    directory.leave(object);
    EXPECT_EQ(directory.find(object), nullptr);
    EXPECT_EQ(directory.find({4, &owner}), &second);
}

// --- mailboxes

struct ProducerParameters {
    Global<Mailbox> mailbox;
    std::int64_t items;
};
struct Producer : Threaded<Producer, ProducerParameters> {
    void init(Em em) {
        for (std::int64_t i = 0; i < items; ++i) em.drop_in(mailbox, std::int64_t{em.node_id()} * 1000 + i);
        em.terminate();
    }
};

/// The paper's Figure 3 with several items a producer.
struct Master : Threaded<Master> {
    static constexpr std::int64_t each = 20;

    Mailbox mailbox;

    void init(Em em) {
        em.init_mailbox(mailbox, cumulate_item);
        all.set(static_cast<std::uint32_t>(each * em.num_nodes()), 0);
        for (NodeId node = 0; node < em.num_nodes(); ++node)
            em.invoke<Producer>(node, em.to_global(mailbox), each);
    }
    void cumulate(Em em) {
        std::int64_t item = 0;
        if (em.retrieve_item(mailbox, item) == sizeof item) notes(em).add(item);
        em.sync(all);
    }
    void end(Em em) {
        std::int64_t item = 0;
        notes(em).total = static_cast<std::int64_t>(em.retrieve_item(mailbox, item));
        em.terminate();
    }
    ExclusiveFiber<&Master::cumulate> cumulate_item{*this, 1};
    Fiber<&Master::end> all{*this};
};

TEST(EarthData, EveryItemArrivesOnceFrom64Producers) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        Notes shared;
        EXPECT_EQ(unterminated(run({64, 2, seed}, shared, [](Em em) { em.invoke<Master>(0); })), 0);
        std::vector<std::int64_t> expected;
        for (std::int64_t node = 0; node < 64; ++node)
            for (std::int64_t i = 0; i < Master::each; ++i) expected.push_back(node * 1000 + i);
        EXPECT_THAT(shared.values, testing::UnorderedElementsAreArray(expected)) << "seed " << seed;
        EXPECT_EQ(shared.total, 0) << "bytes retrieved from the empty mailbox";
    }
}

TEST(EarthData, ItemsOfOneFiberStayInOrder) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Notes shared;
        run({5, 3, seed}, shared, [](Em em) { em.invoke<Master>(0); });
        std::vector<std::vector<std::int64_t>> of_node(5);
        for (const auto item : shared.values)
            of_node.at(static_cast<std::size_t>(item / 1000)).push_back(item);
        for (const auto& items : of_node) {
            ASSERT_EQ(items.size(), Master::each);
            ASSERT_TRUE(std::is_sorted(items.begin(), items.end())) << "seed " << seed;
        }
    }
}

struct AnySize : Threaded<AnySize> {
    Mailbox mailbox;

    void init(Em em) {
        em.init_mailbox(mailbox, item);
        for (const std::size_t bytes : {1U, 5000U, 100000U}) {
            const runtime::Bytes sent(bytes, std::byte{42});
            em.drop_in(em.to_global(mailbox), std::span<const std::byte>(sent));
        }
    }
    void take(Em em) {
        const auto got = em.retrieve_item_addr(mailbox);
        const bool right =
            std::all_of(got.begin(), got.end(), [](std::byte b) { return b == std::byte{42}; });
        notes(em).add(right ? static_cast<std::int64_t>(got.size()) : -1);
        em.sync(all);
    }
    void end(Em em) {
        if (!em.retrieve_item_addr(mailbox).empty()) notes(em).add(-2);
        em.terminate();
    }
    ExclusiveFiber<&AnySize::take> item{*this, 1};
    Fiber<&AnySize::end> all{*this, 3};
};

TEST(EarthData, ItemsOfUnknownSizeAreRetrievedWhole) {
    Notes shared;
    EXPECT_EQ(unterminated(run({}, shared, [](Em em) { em.invoke<AnySize>(0); })), 0);
    EXPECT_THAT(shared.values, testing::UnorderedElementsAre(1, 5000, 100000));
}

struct TooLarge : Threaded<TooLarge> {
    Mailbox mailbox;

    void init(Em em) {
        em.init_mailbox(mailbox, item);
        em.drop_in(em.to_global(mailbox), std::int64_t{1});
    }
    void take(Em em) {
        std::int32_t small = 0;
        em.retrieve_item(mailbox, small);
    }
    Fiber<&TooLarge::take> item{*this, 1};
};

struct RemoteParameters {
    Global<Mailbox> mailbox;
};
/// Takes items out of another node's mailbox.
struct Thief : Threaded<Thief, RemoteParameters> {
    void init(Em em) {
        std::int64_t item = 0;
        em.retrieve_item(mailbox.on(mailbox.node), item);
    }
};
struct Robbed : Threaded<Robbed> {
    Mailbox mailbox;

    void init(Em em) {
        em.init_mailbox(mailbox, item);
        em.invoke<Thief>(1, em.to_global(mailbox));
    }
    void take(Em) {}
    Fiber<&Robbed::take> item{*this, 1};
};
struct Uninitialized : Threaded<Uninitialized> {
    Mailbox mailbox;
    void init(Em em) { em.drop_in(em.to_global(mailbox), 1); }
};

TEST(EarthData, WrongUseOfMailboxesIsAnError) {
    EXPECT_THAT(error_of({}, [](Em em) { em.invoke<TooLarge>(0); }),
                testing::HasSubstr("an item of 8 bytes does not fit into 4"));
    EXPECT_THAT(error_of({2, 1}, [](Em em) { em.invoke<Robbed>(0); }),
                testing::HasSubstr("node 1 takes an item out of a mailbox of node 0"));
    EXPECT_THAT(error_of({}, [](Em em) { em.invoke<Uninitialized>(0); }),
                testing::HasSubstr("not initialized"));
}

TEST(EarthData, InvokingOnANodeThatIsNotThereIsAnError) {
    EXPECT_THAT(error_of({2, 1}, [](Em em) { em.invoke<Master>(2); }),
                testing::HasSubstr("invokes a thread on node 2, and there are 2"));
}

}  // namespace
}  // namespace heddle
