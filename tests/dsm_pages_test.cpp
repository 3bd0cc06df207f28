// Tests the shared memory of nodes by itself: which pages move, which programs wait, and which calls are
// refused. dsm_requests_test.cpp tests what is asked of a page's home.
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "model/dsm/arrays.hpp"
#include "model/dsm/pages.hpp"
#include "model/dsm/protocol.hpp"
#include "tests/dsm_testing.hpp"

namespace heddle::testing_dsm {
namespace {

class Pages : public OnEachNode {};

INSTANTIATE_TEST_SUITE_P(Worlds, Pages, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(Pages, ComeWithWhatAnotherNodeHasWritten) {
    std::atomic<int> wrong{0};
    run(3, 2, [&](Strand& self, SharedMemory& memory) {
        const NodeId node = self.worker().id.node;
        const auto numbers = memory.allocate<std::uint32_t>("numbers", 10'000, {.row = 100});
        memory.seal(self);
        std::uint32_t* const at = memory.at(numbers);
        for (std::uint32_t round = 0; round < 4; ++round) {
            if (node == round % 3) {
                const auto checkout = memory.touch(self, {writing(numbers, 0, numbers.count)});
                for (std::uint32_t i = 0; i < numbers.count; ++i) at[i] = i * (round + 1);
            }
            memory.barrier(self);
            {
                const auto checkout = memory.touch(self, {reading(numbers, 0, numbers.count)});
                for (std::uint32_t i = 0; i < numbers.count; ++i) wrong += at[i] != i * (round + 1);
            }
            memory.barrier(self);
        }
    });
    EXPECT_EQ(wrong, 0);
}

/// More checkouts within each other than a worker publishes without locks.
TEST_P(Pages, StayUntilTheLastOfSeveralCheckoutsEnds) {
    std::atomic<bool> taken{false};
    std::atomic<bool> taken_early{false};
    std::atomic<std::uint64_t> read{0};
    runtime::SharedPages settings;
    settings.trigger = runtime::Trigger::checked;
    const auto least = [](int a, int b) { return std::min(a, b); };
    run(
        2, 1,
        [&](Strand& self, SharedMemory& memory) {
            const auto words = memory.allocate<std::uint64_t>("words", 2048);
            memory.seal(self);
            runtime::Team team(memory.node(), 7, 1);
            const auto give_time = [&] {
                for (int round = 0; round < 20; ++round) team.all_reduce(self, 0, 0, least);
            };
            if (memory.node().id() == 0) {
                { const auto fetched = memory.touch(self, {writing(words, 0, 2048)}); }
                std::vector<std::unique_ptr<dsm::Checkout>> checkouts;
                for (int i = 0; i < 4; ++i) {
                    checkouts.push_back(
                        std::make_unique<dsm::Checkout>(memory.touch(self, {writing(words, 512 * i, 100)})));
                    memory.at(words)[512 * i] = 5;
                }
                // The same pages once more; the first of these checkouts ends last.
                checkouts.insert(checkouts.begin(), std::make_unique<dsm::Checkout>(
                                                        memory.touch(self, {reading(words, 0, 2048)})));
                team.barrier(self);
                while (!checkouts.empty()) {
                    give_time();
                    taken_early = taken_early || taken;
                    checkouts.pop_back();
                }
            } else {
                team.barrier(self);
                const auto done = std::make_shared<runtime::Event>();
                Strand::start(self.worker(), [&, words, done](Strand& taker) {
                    const auto checkout = memory.touch(taker, {writing(words, 0, 2048)});
                    taken = true;
                    for (int i = 0; i < 4; ++i) read += memory.at(words)[512 * i];
                    done->complete(memory.node(), taker.worker());
                });
                for (int i = 0; i < 5; ++i) give_time();
                self.wait(*done);
            }
            memory.barrier(self);
        },
        settings);
    EXPECT_FALSE(taken_early);
    EXPECT_TRUE(taken);
    EXPECT_EQ(read, 20U);
}

#ifdef HEDDLE_SIM
/// Node 0 polls: two strands read a page until node 1 has written it. On two workers their checkouts overlap.
/// On one worker the strand that polls does not let the other one come back.
class Polling : public testing::TestWithParam<std::tuple<std::string, CoreId, bool>> {};

INSTANTIATE_TEST_SUITE_P(Protocols, Polling,
                         testing::Combine(testing::Values("write_invalidate", "migratory"),
                                          testing::Values(1, 2), testing::Bool()));

TEST_P(Polling, LetsAnotherNodeWrite) {
    const auto& [protocol, cores, as_tasks] = GetParam();
    if (as_tasks && cores == 1) return;  // the page's waiter keeps the only worker
    constexpr int rounds_most = 20'000;
    std::array<int, 2> rounds{};
    runtime::Schedule schedule;
    schedule.memory.trigger = runtime::Trigger::checked;
    schedule.memory.protocol = protocol;
    run_mains(sim_world(true), 2, cores, schedule, [&](Strand& self, SharedMemory& memory) {
        const auto word = memory.allocate<std::uint64_t>("word", 1);
        memory.seal(self);
        if (memory.node().id() == 1) {
            const auto checkout = memory.touch(self, {writing(word, 0, 1)});
            *memory.at(word) = 0;
        }
        memory.barrier(self);
        if (memory.node().id() == 1) {
            self.worker().charge(std::chrono::microseconds(300));
            const auto checkout = memory.touch(self, {writing(word, 0, 1)});
            *memory.at(word) = 1;
        } else {
            std::array<runtime::Event, 2> done;
            for (std::size_t i = 0; i < 2; ++i) {
                Strand::start(memory.node(), self.worker(),
                              [&, i](Strand& reader) {
                                  reader.worker().charge(std::chrono::microseconds(5 * i));
                                  for (bool written = false; !written && rounds[i] < rounds_most;
                                       ++rounds[i]) {
                                      const Caller caller =
                                          as_tasks ? Caller(reader.worker(), nullptr) : Caller(reader);
                                      const auto checkout = memory.touch(caller, {reading(word, 0, 1)});
                                      written = *memory.at(word) != 0;
                                      reader.worker().charge(std::chrono::microseconds(10));
                                  }
                                  done[i].complete(memory.node(), reader.worker());
                              },
                              {"a reader", static_cast<CoreId>(i) % cores, false});
            }
            for (runtime::Event& each : done) self.wait(each);
        }
        memory.barrier(self);
    });
    EXPECT_THAT(rounds, testing::Each(testing::Lt(100)));
}

/// A checkout within another one does not wait for the outer one, although another node wants the page.
TEST(Nested, CheckoutsOfAPageThatAnotherNodeWantsGoOn) {
    bool nested = false;
    std::uint64_t seen = 1;
    runtime::Schedule schedule;
    schedule.memory.trigger = runtime::Trigger::checked;
    run_mains(sim_world(true), 2, 1, schedule, [&](Strand& self, SharedMemory& memory) {
        const auto word = memory.allocate<std::uint64_t>("word", 1);
        memory.seal(self);
        if (memory.node().id() == 1) {
            self.worker().charge(std::chrono::microseconds(300));
            const auto checkout = memory.touch(self, {writing(word, 0, 1)});
            *memory.at(word) = 1;
        } else {
            const auto outer = memory.touch(self, {reading(word, 0, 1)});
            self.worker().charge(std::chrono::milliseconds(10));
            const auto inner = memory.touch(self, {reading(word, 0, 1)});
            nested = true;
            seen = *memory.at(word);
        }
        memory.barrier(self);
    });
    EXPECT_TRUE(nested);
    EXPECT_EQ(seen, 0U);
}
#endif

/// A layout that names the node where pages begin holds for each placement.
TEST_P(Pages, BeginAtTheNodeThatTheLayoutNames) {
    using Placement = runtime::SharedPages::Placement;
    for (const dsm::ProtocolKind& kind : dsm::protocols()) {
        for (const Placement placement : {Placement::block, Placement::cyclic, Placement::first}) {
            runtime::SharedPages settings;
            settings.protocol = kind.name;
            settings.placement = placement;
            const auto result = run(
                2, 1,
                [](Strand& self, SharedMemory& memory) {
                    const auto words =
                        memory.allocate<std::uint64_t>("words", 2048, {.homes = dsm::Homes::first_node});
                    memory.seal(self);
                    if (memory.node().id() == 1) {
                        const auto checkout = memory.touch(self, {reading(words, 0, words.count)});
                        EXPECT_EQ(memory.at(words)[2047], 0U);
                    }
                    memory.barrier(self);
                },
                settings);
            EXPECT_EQ(result.total.pages_moved, 4U) << kind.name;
        }
    }
}

/// Some processors do not tell whether an access writes.
TEST_P(Pages, MayBeWrittenAfterASecondFaultOfAnyKind) {
    runtime::SharedPages settings;
    settings.trigger = runtime::Trigger::checked;
    std::vector<bool> lacks;
    std::vector<std::uint64_t> faults;
    run(
        2, 1,
        [&](Strand& self, SharedMemory& memory) {
            const auto words = memory.allocate<std::uint64_t>("words", 512);
            memory.seal(self);
            if (memory.node().id() == 0) {
                const auto checkout = memory.touch(self, {writing(words, 0, 512)});
                *memory.at(words) = 7;
            }
            memory.barrier(self);
            if (memory.node().id() == 1) {
                for (int access = 0; access < 2; ++access) {
                    memory.on_fault(self.worker(), words.offset, std::nullopt);
                    lacks.push_back(memory.pages().lacks(0, runtime::Access::read));
                    lacks.push_back(memory.pages().lacks(0, runtime::Access::write));
                }
                faults = {memory.counts().read_faults, memory.counts().write_faults};
            }
            memory.barrier(self);
        },
        settings);
    EXPECT_THAT(lacks, testing::ElementsAre(false, true, false, false));
    EXPECT_THAT(faults, testing::ElementsAre(1, 1));
}

/// A program that uses pages in the same way faults as often whatever notices it, and moves as much.
TEST_P(Pages, FaultAsOftenWhateverNoticesIt) {
    for (const dsm::ProtocolKind& kind : dsm::protocols()) {
        std::vector<std::vector<std::uint64_t>> counted;
        for (const runtime::Trigger trigger : triggers()) {
            runtime::SharedPages settings;
            settings.protocol = kind.name;
            settings.trigger = trigger;
            const auto result = run(
                2, 1,
                [&](Strand& self, SharedMemory& memory) {
                    const NodeId node = self.worker().id.node;
                    const auto words = memory.allocate<std::uint64_t>("words", 4096);
                    memory.seal(self);
                    std::uint64_t* const at = memory.at(words);
                    for (std::uint64_t round = 0; round < 3; ++round) {
                        const std::uint64_t first = (node + round) % 2 * 2048;
                        for (std::uint64_t i = first; i < first + 2048; i += 256) {
                            const auto checkout = memory.by_hardware()
                                                      ? memory.touch(self, {})
                                                      : memory.touch(self, {writing(words, i, 1)});
                            at[i] = round;
                        }
                        memory.barrier(self);
                    }
                },
                settings);
            const auto& total = result.total;
            counted.push_back({total.page_faults, total.page_requests, total.pages_moved});
        }
        EXPECT_GT(counted.front().at(0), 0U) << kind.name;
        for (const auto& counts : counted) EXPECT_EQ(counts, counted.front()) << kind.name;
    }
}

#ifdef __x86_64__
/// Two nodes run instructions that need two pages. The nodes must not take these from each other forever.
TEST_P(Pages, OfOneInstructionComeTogether) {
    for (const dsm::ProtocolKind& kind : dsm::protocols()) {
        for (const runtime::Trigger trigger : triggers()) {
            if (trigger == runtime::Trigger::checked) continue;
            runtime::SharedPages settings;
            settings.protocol = kind.name;
            settings.trigger = trigger;
            std::atomic<int> wrong{0};
            run(
                2, 1,
                [&](Strand& self, SharedMemory& memory) {
                    const auto bytes = memory.allocate<std::byte>("bytes", 2 * memory.page_bytes());
                    memory.seal(self);
                    std::byte* const second = memory.at(bytes) + memory.page_bytes();
                    for (int round = 0; round < 20; ++round) {
                        std::uint64_t across = 0;
                        __asm__ volatile(
                            "movq %1, %0"
                            : "=r"(across)
                            : "m"(*reinterpret_cast<const std::array<std::byte, 8>*>(second - 4)));
                        if (across != 0) ++wrong;
                        // Each node copies to the page that the other one reads.
                        const bool up = self.worker().id.node == 0;
                        const std::byte* from = up ? second - 64 : second + 64;
                        std::byte* to = up ? second + 128 : second - 128;
                        __asm__ volatile("movsq" : "+S"(from), "+D"(to) : : "memory");
                    }
                },
                settings);
            EXPECT_EQ(wrong, 0) << kind.name;
        }
    }
}
#endif

class WrongUse : public testing::Test {
protected:
    static std::string error_of(const MainOnEachNode::Main& main, const runtime::SharedPages& settings = {}) {
        runtime::Schedule schedule;
        schedule.memory = settings;
        try {
            run_mains(inprocess_world(1, false), 2, 1, schedule, main);
        } catch (const Error& error) {
            return error.what();
        }
        return "no error";
    }
};

TEST_F(WrongUse, OfMemoryThatIsNotSealed) {
    EXPECT_THAT(
        error_of([](Strand&, SharedMemory& memory) { (void)memory.at(memory.allocate<int>("a", 1)); }),
        testing::HasSubstr("used before it is sealed"));
}

TEST_F(WrongUse, AllocatingAfterTheSeal) {
    EXPECT_THAT(error_of([](Strand& self, SharedMemory& memory) {
                    memory.seal(self);
                    memory.allocate<int>("late", 1);
                }),
                testing::HasSubstr("the array late is allocated after the shared memory was sealed"));
}

TEST(ArrayPlaces, BeyondTheMemoryAreRefused) {
    constexpr std::uint64_t most = std::uint64_t{1} << 46;
    const auto error_of_second = [](std::uint64_t count, std::uint64_t align) -> std::string {
        dsm::Arrays arrays(4096, 1, runtime::SharedPages::Placement::block);
        arrays.add("first", 1, 1, 1, {});
        try {
            arrays.add("second", count, 1, 1, {.align_bytes = align});
        } catch (const Error& error) {
            return error.what();
        }
        return "no error";
    };
    const auto no_room = testing::HasSubstr("64 TiB together at most");
    EXPECT_EQ(error_of_second(most / 2, most / 2), "no error");
    EXPECT_THAT(error_of_second(most / 2 + 1, most / 2), no_room);
    EXPECT_THAT(error_of_second(1, most), no_room);
    EXPECT_THAT(error_of_second(1, std::uint64_t{1} << 63), no_room);
    EXPECT_THAT(error_of_second(~std::uint64_t{0}, 1), no_room);
    EXPECT_EQ(error_of_second(most - 1, 1), "no error");
}

#ifdef HEDDLE_SIM
TEST_F(WrongUse, WhereNodesMayJoin) {
    Platform platform;
    platform.nodes_at_start = 1;
    try {
        run_mains(sim_world_of("sim", platform), 2, 1, {},
                  [](Strand& self, SharedMemory& memory) { memory.seal(self); });
        ADD_FAILURE() << "it was not refused";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("shared memory need the same nodes"),
                                                 testing::HasSubstr("and the events of members")));
    }
}
#endif

TEST_F(WrongUse, DifferentArraysOnNodes) {
    EXPECT_THAT(error_of([](Strand& self, SharedMemory& memory) {
                    memory.allocate<int>("a", 10 + self.worker().id.node);
                    memory.seal(self);
                }),
                testing::HasSubstr("the nodes have allocated different arrays"));
}

TEST_F(WrongUse, TouchingBeyondTheMemory) {
    EXPECT_THAT(error_of([](Strand& self, SharedMemory& memory) {
                    const auto words = memory.allocate<int>("a", 10);
                    memory.seal(self);
                    memory.touch(self, {reading(words, 0, 100'000)});
                }),
                testing::HasSubstr("touches bytes 0 to 400000 of a shared memory of 4096 bytes"));
}

TEST_F(WrongUse, ABarrierWithPagesCheckedOut) {
    runtime::SharedPages settings;
    settings.trigger = runtime::Trigger::checked;
    EXPECT_THAT(error_of(
                    [](Strand& self, SharedMemory& memory) {
                        const auto words = memory.allocate<int>("a", 10);
                        memory.seal(self);
                        const auto checkout = memory.touch(self, {reading(words, 0, 1)});
                        memory.barrier(self);
                    },
                    settings),
                testing::HasSubstr("with pages checked out"));
}

TEST_F(WrongUse, AnUnknownProtocol) {
    runtime::SharedPages settings;
    settings.protocol = "none";
    EXPECT_THAT(error_of([](Strand& self, SharedMemory& memory) { memory.seal(self); }, settings),
                testing::HasSubstr("there is no protocol of shared memory named none"));
}

TEST(ArrayHomes, AreWhereTheLayoutSays) {
    const auto arrays_with = [](dsm::Homes homes) {
        dsm::Arrays arrays(4096, 3, runtime::SharedPages::Placement::block);
        // Rows of two pages each.
        arrays.add("rows", 6 * 1024, sizeof(double), alignof(double), {.row = 1024, .homes = homes});
        return arrays;
    };
    const auto homes_of = [](const dsm::Arrays& arrays) {
        std::vector<NodeId> homes;
        for (dsm::PageId page = 0; page < arrays.pages(); ++page) homes.push_back(arrays.home(page));
        return homes;
    };
    using testing::ElementsAre;
    EXPECT_THAT(homes_of(arrays_with(dsm::Homes::as_set)), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2));
    EXPECT_THAT(homes_of(arrays_with(dsm::Homes::first_node)), testing::Each(0));
    EXPECT_THAT(homes_of(arrays_with(dsm::Homes::cyclic_rows)),
                ElementsAre(0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2));
    // With `placement: first` too, if the layout names a node.
    for (const auto placement :
         {runtime::SharedPages::Placement::block, runtime::SharedPages::Placement::first}) {
        dsm::Arrays arrays(4096, 3, placement);
        for (const auto homes : {dsm::Homes::as_set, dsm::Homes::first_node, dsm::Homes::cyclic_rows})
            arrays.add("one", 512, sizeof(double), alignof(double), {.homes = homes});
        EXPECT_EQ(arrays.begins_at_home(0), placement != runtime::SharedPages::Placement::first);
        EXPECT_TRUE(arrays.begins_at_home(1));
        EXPECT_TRUE(arrays.begins_at_home(2));
    }
    // Nodes that disagree are refused.
    EXPECT_NE(arrays_with(dsm::Homes::as_set).digest(), arrays_with(dsm::Homes::first_node).digest());
}

}  // namespace
}  // namespace heddle::testing_dsm
