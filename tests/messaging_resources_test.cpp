// Tests resources that span processes (barriers, synchronizers, data, ports, domains and topologies),
// natively, in simulation and in-process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/messaging_testing.hpp"

namespace heddle::messaging {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MessagingResources : public MessagingTest {};

INSTANTIATE_TEST_SUITE_P(Worlds, MessagingResources, testing::ValuesIn(messaging_worlds()),
                         [](const auto& world) { return world.param.name; });

constexpr int workers = 6;

/// Starts that function `workers` times, on all processes in turn, and waits for a message of each.
template <auto function>
void start_all(Thread& self) {
    for (int i = 0; i < workers; ++i)
        self.create<function>(static_cast<ProcessId>(i) % self.processes(), i, self.id());
    for (int i = 0; i < workers; ++i) self.receive<bool>({.tag = 1});
}

// --- barriers: no thread is in a round before all have ended the one before

std::atomic<int> rounds_ended[20];

void meets(Thread& self, int /*number*/, ThreadId main) {
    const Barrier barrier(self, "phase", workers);
    for (int round = 0; round < 20; ++round) {
        if (round > 0) {
            EXPECT_EQ(rounds_ended[round - 1], workers);
        }
        ++rounds_ended[round];
        barrier.wait(self);
    }
    self.send(main, 1, true);
}

TEST_P(MessagingResources, BarriersAreMetByAll) {
    for (auto& ended : rounds_ended) ended = 0;
    run(3, 2, [](Thread& self) { start_all<meets>(self); });
}

// --- synchronizers and data: a counter that is read, and written after others had a turn

void counts(Thread& self, int /*number*/, ThreadId main) {
    const Synchronizer lock("lock");
    const Data<long> counter("counter");
    for (int i = 0; i < 10; ++i) {
        lock.acquire(self);
        const long before = counter.read(self);
        self.strand().yield();
        counter.write(self, before + 1);
        lock.release(self);
    }
    self.send(main, 1, true);
}

TEST_P(MessagingResources, ASynchronizerOfOneExcludes) {
    long found = 0;
    run(3, 2, [&](Thread& self) {
        const Synchronizer lock(self, "lock");
        const Data<long> counter(self, "counter", 0);
        start_all<counts>(self);
        found = counter.read(self);
    });
    EXPECT_EQ(found, workers * 10);
}

std::atomic<int> inside{0}, most_inside{0};

void enters(Thread& self, int /*number*/, ThreadId main) {
    const Synchronizer places("places");
    for (int i = 0; i < 5; ++i) {
        places.acquire(self);
        const int now = ++inside;
        int most = most_inside;
        while (most < now && !most_inside.compare_exchange_weak(most, now)) {
        }
        self.strand().yield();
        --inside;
        places.release(self);
    }
    self.send(main, 1, true);
}

TEST_P(MessagingResources, ASynchronizerLetsItsCountIn) {
    inside = most_inside = 0;
    run(3, 2, [](Thread& self) {
        const Synchronizer places(self, "places", 3);
        start_all<enters>(self);
    });
    EXPECT_LE(most_inside, 3);
    EXPECT_GE(most_inside, 1);
}

// --- ports: each message is taken once; a full port lets its producers wait

std::atomic<std::uint64_t> taken{0};

void produces_or_takes(Thread& self, int number, ThreadId main) {
    const Port<std::uint64_t> port("work");
    for (std::uint64_t i = 0; i < 20; ++i) {
        if (number % 2 == 0) {
            port.put(self, i);
        } else {
            taken += port.take(self);
        }
    }
    self.send(main, 1, true);
}

TEST_P(MessagingResources, MessagesOfAPortAreTakenOnce) {
    for (const std::uint32_t room : {0U, 1U, 5U}) {
        taken = 0;
        run(3, 2, [&](Thread& self) {
            const Port<std::uint64_t> port(self, "work", room);
            start_all<produces_or_takes>(self);
        });
        EXPECT_EQ(taken, workers / 2 * (19U * 20 / 2)) << room;
    }
}

// --- domains

void joins(Thread& self, int /*number*/, ThreadId main) {
    const Domain domain("team");
    const std::uint64_t rank = domain.join(self);
    const auto before = domain.members(self);
    EXPECT_LT(rank, before.size());
    EXPECT_EQ(before[rank], self.id());
    Barrier(self, "all are here", workers).wait(self);
    EXPECT_EQ(domain.members(self).size(), static_cast<std::size_t>(workers));
    Barrier(self, "all have looked", workers).wait(self);
    domain.leave(self);
    self.send(main, 1, true);
}

TEST_P(MessagingResources, ThreadsJoinADomainAndLeaveIt) {
    std::size_t left = 99;
    run(3, 2, [&](Thread& self) {
        const Domain domain(self, "team");
        start_all<joins>(self);
        left = domain.members(self).size();
    });
    EXPECT_EQ(left, 0U);
}

// --- topologies: each thread sends its number to its neighbours

void knows_neighbours(Thread& self, int number, ThreadId main) {
    const Topology torus("torus");
    const auto place = static_cast<Topology::Place>(number);
    torus.take(self, place);
    const auto neighbours = torus.neighbours(self, place);
    for (const Topology::Place neighbour : neighbours) self.send(torus.at(self, neighbour), 2, place);
    std::vector<Topology::Place> heard;
    for (std::size_t i = 0; i < neighbours.size(); ++i)
        heard.push_back(self.receive<Topology::Place>({.tag = 2}));
    std::ranges::sort(heard);
    auto expected = neighbours;
    std::ranges::sort(expected);
    EXPECT_EQ(heard, expected);
    self.send(main, 1, true);
}

TEST_P(MessagingResources, NeighboursFindEachOther) {
    run(3, 2, [](Thread& self) {
        const Topology torus(self, "torus", Topology::Shape::torus({2, 3}));
        start_all<knows_neighbours>(self);
    });
}

TEST(MessagingTopology, Shapes) {
    using Shape = Topology::Shape;
    EXPECT_THAT(Shape::ring(4).neighbours[0], ElementsAre(3, 1));
    EXPECT_THAT(Shape::ring(2).neighbours[0], ElementsAre(1));
    EXPECT_THAT(Shape::grid({2, 3}).neighbours[1], ElementsAre(4, 0, 2));
    EXPECT_THAT(Shape::torus({3, 3}).neighbours[0], ElementsAre(6, 3, 2, 1));
    EXPECT_THAT(Shape::tree(6).neighbours[1], ElementsAre(0, 3, 4));
    EXPECT_THAT(Shape::tree(6).neighbours[2], ElementsAre(0, 5));
    EXPECT_THAT(Shape::graph(3, {{0, 2}, {1, 2}}).neighbours[2], ElementsAre(0, 1));
    EXPECT_THROW(Shape::graph(3, {{0, 3}}), Error);
}

// --- errors

TEST_P(MessagingResources, AResourceIsOneThing) {
    EXPECT_THAT(error([](Thread& self) {
                    const Barrier barrier(self, "x", 2);
                    const Barrier again(self, "x", 2);
                    const Barrier other(self, "x", 3);
                }),
                HasSubstr("the resource x is created twice, with different parameters"));
    EXPECT_THAT(error([](Thread& self) {
                    const Barrier barrier(self, "x", 2);
                    Synchronizer("x").acquire(self);
                }),
                HasSubstr("the resource x is used as two kinds"));
    EXPECT_THAT(error([](Thread& self) { Barrier(self, "x", 0).wait(self); }),
                HasSubstr("a barrier has no members"));
}

TEST_P(MessagingResources, AWaitThatNoCallEndsIsADeadlock) {
    EXPECT_THAT(error([](Thread& self) { Barrier(self, "lonely", 2).wait(self); }),
                HasSubstr("waits for the resource lonely"));
    EXPECT_THAT(error([](Thread& self) { Synchronizer("never made").acquire(self); }),
                HasSubstr("waits for the resource never made"));
}

}  // namespace
}  // namespace heddle::messaging
