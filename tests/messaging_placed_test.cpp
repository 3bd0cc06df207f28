// Tests threads that are created on request where links are good: natively, in simulation and in-process they
// are where the topology's links say, and answer right; on two simulated clusters they send less over the
// slow link and take less time than threads that are dealt out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <numeric>

#include "tests/messaging_testing.hpp"

namespace heddle::messaging {
namespace {

using Place = Talk::Place;

class MessagingPlaced : public MessagingTest {};

INSTANTIATE_TEST_SUITE_P(Worlds, MessagingPlaced, testing::ValuesIn(messaging_worlds()),
                         [](const auto& world) { return world.param.name; });

/// Passes a number on to the next place of a ring, `rounds` times, each time one more than what has come.
/// Tells `main` the last one, and the own process.
void passes_on(Thread& self, std::string ring, Place place, std::uint32_t rounds, std::uint64_t bytes,
               ThreadId main) {
    const Topology topology(std::move(ring));
    topology.take(self, place);
    const std::vector<Place> neighbours = topology.neighbours(self, place);
    const ThreadId next = topology.at(self, neighbours.back());
    std::vector<std::uint64_t> values(1 + bytes / sizeof(std::uint64_t), place);
    for (std::uint32_t i = 0; i < rounds; ++i) {
        self.send(next, i, values);
        values = self.receive<std::vector<std::uint64_t>>({.tag = i});
        for (std::uint64_t& value : values) ++value;
    }
    self.send(main, 1'000'000, std::pair(values.front(), self.process()));
}

TEST_P(MessagingPlaced, ARingOfThreadsIsWhereTheLinksSay) {
    run(4, 2, [](Thread& self) {
        constexpr Place places = 10;
        constexpr std::uint32_t rounds = 15;
        const auto shape = Topology::Shape::ring(places);
        const Topology ring(self, "ring", shape);
        const Talk talk = Talk::of(shape.neighbours, rounds, 0);
        const auto threads = self.create_together<passes_on>(talk, [&](Place place) {
            return std::tuple("ring", place, rounds, std::uint64_t{0}, self.id());
        });
        ASSERT_EQ(threads.size(), places);
        std::map<std::pair<ProcessId, std::uint32_t>, std::pair<std::uint64_t, ProcessId>> results;
        for (Place i = 0; i < places; ++i) {
            Actual actual;
            const auto result =
                self.receive<std::pair<std::uint64_t, ProcessId>>({.tag = 1'000'000}, &actual);
            results.emplace(std::pair(actual.from.process, actual.from.thread), result);
        }
        for (Place place = 0; place < places; ++place) {
            const auto [value, process] = results.at({threads[place].process, threads[place].thread});
            EXPECT_EQ(process, threads[place].process);
            // After `rounds` steps the value of the place that is so many before has come.
            EXPECT_EQ(value, (place + 2 * places - rounds) % places + rounds);
        }
        // Where all links are equal, the best placement leaves each process once.
        std::uint64_t crossings = 0;
        for (Place place = 0; place < places; ++place)
            crossings += threads[place].process != threads[(place + 1) % places].process ? 1 : 0;
        if (!self.worker().node().topology().routes) {
            EXPECT_EQ(crossings, self.processes() == 1 ? 0 : self.processes());
        }
    });
}

void tells_process(Thread& self, ThreadId main) {
    self.send(main, 0, self.process());
}

TEST_P(MessagingPlaced, ThreadsNearAnotherOneShareItsProcessUntilItHasMoreThanOthers) {
    run(3, 2, [](Thread& self) {
        const ThreadId other = self.create<tells_process>(self.processes() - 1, self.id());
        EXPECT_EQ(self.receive<ProcessId>(), other.process);
        std::map<ProcessId, int> loads;
        for (ProcessId i = 0; i < 2 * self.processes(); ++i) {
            const ThreadId near = self.create<tells_process>(Near{.thread = other}, self.id());
            EXPECT_EQ(self.receive<ProcessId>({.thread = near}), near.process);
            EXPECT_TRUE(i > 0 || near.process == other.process);
            ++loads[near.process];
        }
        EXPECT_THAT(loads, testing::Each(testing::Pair(testing::_, 2)));
        EXPECT_EQ(loads.size(), self.processes());
    });
}

TEST_P(MessagingPlaced, AThreadNearOneOfNoProcessIsAnError) {
    EXPECT_THAT(error([](Thread& self) {
                    self.create<tells_process>(Near{.thread = {9, 0}}, self.id());
                }),
                testing::HasSubstr("a thread should start on process 9"));
}

TEST_P(MessagingPlaced, AThreadNearAnotherOneNeedsAmountsThatMakeSense) {
    run(3, 2, [](Thread& self) {
        constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
        for (const double amount : {-1.0, -1e9, 1e19, no_number}) {
            const Near by_messages{.thread = self.id(), .messages = amount};
            const Near by_bytes{.thread = self.id(), .bytes = amount};
            EXPECT_THROW(self.create<tells_process>(by_messages, self.id()), Error);
            EXPECT_THROW(self.create<tells_process>(by_bytes, self.id()), Error);
        }
        const ThreadId near =
            self.create<tells_process>(Near{.thread = self.id(), .messages = 0, .bytes = 1e18}, self.id());
        EXPECT_EQ(near.process, self.process());
        EXPECT_EQ(self.receive<ProcessId>({.thread = near}), near.process);
    });
}

#ifdef HEDDLE_SIM

// --- two clusters

/// Two machines of two processes in each of two clusters, which a slow network joins.
Platform two_clusters() {
    Platform platform;
    platform.nodes = 8;
    platform.processes = 2;
    platform.cores = 2;
    platform.networks = {{"left", {0, 1, 2, 3}}, {"right", {4, 5, 6, 7}}, {"between", {}}};
    platform.networks[2].members = {0, 1, 2, 3, 4, 5, 6, 7};
    platform.networks[2].latency = std::chrono::microseconds(100);
    platform.networks[2].bandwidth = 12.5e6;
    return platform;
}

struct Outcome {
    std::uint64_t slow = 0;  ///< messages between the clusters
    Time time{};
};

/// Runs passes_on in the rings that `talk` describes: `rings` of as many places.
Outcome run_rings(Place rings, Place places, bool on_request) {
    constexpr std::uint32_t rounds = 50;
    constexpr std::uint64_t bytes = 2000;
    Outcome outcome;
    sim::SimBackend backend(two_clusters(), {});
    runtime::Execution(backend, {}, [&](NodeId) {
        return std::make_unique<MainThread>([&](Thread& self) {
            // Place i of ring r is number i * rings + r, so neighbours have no neighbouring numbers.
            Talk talk{.places = rings * places, .pairs = {}};
            for (Place place = 0; place < places; ++place)
                for (Place ring = 0; ring < rings; ++ring)
                    talk.pairs.push_back(
                        {place * rings + ring, (place + 1) % places * rings + ring, rounds, rounds * bytes});
            for (Place ring = 0; ring < rings; ++ring)
                Topology(self, "ring " + std::to_string(ring), Topology::Shape::ring(places));
            const auto arguments = [&](Place number) {
                return std::tuple("ring " + std::to_string(number % rings), number / rings, rounds, bytes,
                                  self.id());
            };
            std::vector<ThreadId> threads;
            if (on_request) {
                threads = self.create_together<passes_on>(talk, arguments);
            } else {
                for (Place number = 0; number < talk.places; ++number)
                    threads.push_back(std::apply(
                        [&](const auto&... given) {
                            return self.create<passes_on>(static_cast<ProcessId>(number % self.processes()),
                                                          given...);
                        },
                        arguments(number)));
            }
            std::map<ProcessId, int> loads;
            for (std::size_t i = 0; i < threads.size(); ++i)
                ++loads[self.receive<std::pair<std::uint64_t, ProcessId>>({.tag = 1'000'000}).second];
            const auto least = static_cast<int>(talk.places / self.processes());
            EXPECT_THAT(loads, testing::Each(testing::Pair(testing::_, testing::AnyOf(least, least + 1))));
            for (const Talk::Pair& pair : talk.pairs)
                if (threads[pair.a].process / 4 != threads[pair.b].process / 4)
                    outcome.slow += static_cast<std::uint64_t>(pair.messages);
            outcome.time = self.worker().backend->now(self.worker());
        });
    }).run();
    return outcome;
}

// A tree of switches, of which each leaf has two machines of two processes.
TEST(MessagingPlacedSim, AMachineIsNearerThanASwitchAndASwitchNearerThanTheRest) {
    Platform platform;
    platform.nodes = 8;
    platform.processes = 2;
    platform.cores = 1;
    platform.network.topology = Network::Topology::fat_tree;
    platform.network.shape = {2, 2};
    const sim::SimBackend backend(platform, {});
    const LinkBetween link = links_of(backend.topology());
    for (const auto& [messages, bytes] : {std::pair(1.0, 0.0), std::pair(1.0, 1e6)}) {
        EXPECT_LT(seconds_over(link(0, 1), messages, bytes), seconds_over(link(0, 2), messages, bytes));
        EXPECT_LT(seconds_over(link(0, 2), messages, bytes), seconds_over(link(0, 4), messages, bytes));
        EXPECT_EQ(seconds_over(link(0, 4), messages, bytes), seconds_over(link(3, 7), messages, bytes));
    }
}

/// Two leaf switches of two nodes each. A message passes two links within a leaf, and four to the other one.
constexpr Time a_link = std::chrono::microseconds(3);
RouteTable::Route over_leaves(ProcessId a, ProcessId b) {
    return {.latency = (a / 2 == b / 2 ? 2 : 4) * a_link};
}

// Whatever the order of the processes in a ring, it leaves each of the two leaves, and each node of a leaf
// for the other one. So four pairs are in two processes, two of them in two leaves, and no placement has
// less.
TEST(MessagingPlacedSim, ARingTakesTheTimeOfTwoWaysWithinALeafAndTwoBetween) {
    Platform platform;
    platform.nodes = 4;
    platform.cores = 2;
    platform.network.topology = Network::Topology::fat_tree;
    platform.network.shape = {2, 2};
    platform.network.latency = a_link;
    constexpr std::uint32_t rounds = 15;
    for (const Place places : {8U, 12U, 16U}) {
        sim::SimBackend backend(platform, {});
        const auto main = [&](Thread& self) {
            // Each fifth, in turn, is the next of the ring.
            Talk talk{.places = places, .pairs = {}};
            const auto number = [&](Place i) { return i * 5 % places; };
            for (Place i = 0; i < places; ++i)
                talk.pairs.push_back({number(i), number((i + 1) % places), rounds, 0});
            Topology(self, "ring", Topology::Shape::ring(places));
            const auto threads = self.create_together<passes_on>(talk, [&](Place place) {
                return std::tuple("ring", place, rounds, std::uint64_t{0}, self.id());
            });
            std::vector<ProcessId> processes;
            for (const ThreadId& thread : threads) processes.push_back(thread.process);
            for (Place i = 0; i < places; ++i)
                self.receive<std::pair<std::uint64_t, ProcessId>>({.tag = 1'000'000});
            EXPECT_DOUBLE_EQ(seconds_between(talk, processes, over_leaves),
                             rounds * to_seconds((2 * 2 + 2 * 4) * a_link))
                << places;
        };
        runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<MainThread>(main); }).run();
    }
}

// One ring cannot avoid the slow link: it crosses it twice, 50 messages each.
TEST(MessagingPlacedSim, ARingCrossesTheSlowLinkTwiceAndTakesLessTime) {
    const Outcome turn = run_rings(1, 32, false);
    const Outcome request = run_rings(1, 32, true);
    EXPECT_EQ(turn.slow, 8 * 50);
    EXPECT_EQ(request.slow, 2 * 50);
    EXPECT_LT(request.time, turn.time);
}

TEST(MessagingPlacedSim, PairsThatTalkSendNothingOverTheSlowLinkAndTakeLessTime) {
    const Outcome turn = run_rings(12, 2, false);
    const Outcome request = run_rings(12, 2, true);
    EXPECT_EQ(turn.slow, 12 * 2 * 50);
    EXPECT_EQ(request.slow, 0);
    EXPECT_LT(request.time * 3, turn.time);
}

TEST(MessagingPlacedSim, ThePlacementIsTheSameInEachRun) {
    EXPECT_EQ(run_rings(3, 10, true).time, run_rings(3, 10, true).time);
}

#endif

}  // namespace
}  // namespace heddle::messaging
