// Tests what a run counts and reports of shared memory: copies that were given up, and falsely shared pages.
#include <gmock/gmock.h>

#include <array>

#include "model/dsm/protocol.hpp"
#include "tests/dsm_testing.hpp"

namespace heddle::testing_dsm {
namespace {

class PageReports : public OnEachNode {};

INSTANTIATE_TEST_SUITE_P(Worlds, PageReports, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

/// A page of which two nodes write a half each is reported with its rows.
TEST_P(PageReports, NamePagesThatTwoNodesWriteBetweenBarriers) {
    const auto result = run(2, 1, [](Strand& self, SharedMemory& memory) {
        const NodeId node = self.worker().id.node;
        const auto grid = memory.allocate<std::uint64_t>("grid", 1024, {.row = 128});
        memory.seal(self);
        for (int round = 0; round < 3; ++round) {
            {
                const auto checkout = memory.touch(self, {writing(grid, node * 128, 128)});
                memory.at(grid)[node * 128] = 1;
            }
            memory.barrier(self);
        }
    });
    ASSERT_EQ(result.sharing.pages.size(), 1U);
    const runtime::PageSharing& page = result.sharing.pages.front();
    EXPECT_EQ(page.array, "grid");
    EXPECT_EQ(page.page, 0U);
    EXPECT_EQ(page.first_row, 0U);
    EXPECT_EQ(page.last_row, 3U);
    EXPECT_EQ(page.nodes, (std::vector<NodeId>{0, 1}));
    EXPECT_GE(page.intervals, 1U);
    ASSERT_EQ(result.sharing.arrays.size(), 2U);
    EXPECT_GT(result.sharing.arrays[1].counts.fetches, 0U);
}

/// Also where a protocol lets each reader have the only copy.
TEST_P(PageReports, NameNoPageThatNodesOnlyRead) {
    for (const dsm::ProtocolKind& kind : dsm::protocols()) {
        runtime::SharedPages settings;
        settings.protocol = kind.name;
        const auto result = run(
            3, 1,
            [](Strand& self, SharedMemory& memory) {
                const auto words = memory.allocate<std::uint64_t>("words", 2048);
                memory.seal(self);
                if (self.worker().id.node == 0) {
                    const auto checkout = memory.touch(self, {writing(words, 0, words.count)});
                    for (std::uint64_t i = 0; i < words.count; ++i) memory.at(words)[i] = i;
                }
                memory.barrier(self);
                {
                    const auto checkout = memory.touch(self, {reading(words, 0, words.count)});
                    EXPECT_EQ(memory.at(words)[words.count - 1], words.count - 1);
                }
                memory.barrier(self);
            },
            settings);
        EXPECT_GT(result.total.pages_moved, 0U) << kind.name;
        EXPECT_TRUE(result.sharing.pages.empty()) << kind.name;
    }
}

/// The writer passes a barrier before the home does, and sends what it has changed to the home at once.
TEST_P(PageReports, NameNoPageThatIsReadAndWrittenInTurn) {
    for (const dsm::ProtocolKind& kind : dsm::protocols()) {
        runtime::SharedPages settings;
        settings.protocol = kind.name;
        settings.placement = runtime::SharedPages::Placement::cyclic;
        const auto result = run(
            3, 1,
            [](Strand& self, SharedMemory& memory) {
                // The home of its last page is the node that uses none.
                const auto bytes = memory.allocate<std::byte>("bytes", 3 * memory.page_bytes());
                memory.seal(self);
                const NodeId node = memory.node().id();
                for (int interval = 0; interval < 60; ++interval) {
                    if (node == 0 && interval % 2 == 0) {
                        const auto checkout = memory.touch(self, {writing(bytes, bytes.count - 1, 1)});
                        memory.at(bytes)[bytes.count - 1] = std::byte(interval);
                    }
                    if (node == 1 && interval % 2 == 1) {
                        const auto checkout = memory.touch(self, {reading(bytes, bytes.count - 1, 1)});
                        EXPECT_EQ(memory.at(bytes)[bytes.count - 1], std::byte(interval - 1));
                    }
                    memory.barrier(self);
                }
            },
            settings);
        EXPECT_TRUE(result.sharing.pages.empty()) << kind.name;
    }
}

/// Alone on its worker it hides nothing, whatever messages take from the worker meanwhile.
TEST_P(PageReports, CountNoWaitAsHiddenWhereOneStrandRuns) {
    for (const runtime::Trigger trigger : triggers()) {
        runtime::SharedPages settings;
        settings.trigger = trigger;
        const auto result = run(
            2, 1,
            [](Strand& self, SharedMemory& memory) {
                const auto word = memory.allocate<std::uint64_t>("word", 1);
                memory.seal(self);
                for (int round = 0; round < 20; ++round) {
                    {
                        const auto checkout = memory.touch(self, {writing(word, 0, 1)});
                        ++*memory.at(word);
                    }
                    memory.barrier(self);
                }
            },
            settings);
        std::uint64_t fetches = 0;
        for (const runtime::ArraySharing& array : result.sharing.arrays) {
            fetches += array.counts.fetches;
            EXPECT_EQ(array.counts.hidden, Time::zero()) << "on node " << array.node;
        }
        EXPECT_GE(fetches, 20U);
    }
}

/// Each page has one node that writes it. `shift`: from its home to that node.
TEST_P(PageReports, NameNoPageThatOtherNodesOnlyPrefetch) {
    for (const dsm::ProtocolKind& kind : dsm::protocols()) {
        for (const NodeId shift : {1U, 2U}) {
            runtime::SharedPages settings;
            settings.protocol = kind.name;
            settings.placement = runtime::SharedPages::Placement::cyclic;
            settings.prefetch = 1;
            const auto result = run(
                3, 1,
                [shift](Strand& self, SharedMemory& memory) {
                    const std::uint64_t page_bytes = memory.page_bytes();
                    const auto bytes = memory.allocate<std::byte>("bytes", 6 * page_bytes);
                    memory.seal(self);
                    for (int interval = 1; interval <= 3; ++interval) {
                        for (std::uint64_t page = 0; page < 6; ++page) {
                            if ((page + shift) % 3 != memory.node().id()) continue;
                            const auto checkout = memory.touch(self, {writing(bytes, page * page_bytes, 1)});
                            memory.at(bytes)[page * page_bytes] = std::byte(interval);
                        }
                        memory.barrier(self);
                    }
                },
                settings);
            EXPECT_TRUE(result.sharing.pages.empty()) << kind.name << ", shift " << shift;
        }
    }
}

TEST(PageUse, IsNotedBetweenTheBarriersWhereItWas) {
    for (const std::uint32_t last : {7U, 0x7fffffffU}) {
        dsm::Home home;
        const std::uint32_t next = last + 1;
        home.note_use(2, runtime::Access::write, last);
        for (int time = 0; time < 2; ++time) {
            home.note_use(0, runtime::Access::write, next);
            home.note_use(1, runtime::Access::read, next);
            home.note_use(2, runtime::Access::write, last);  // too late
        }
        EXPECT_EQ(home.shared_intervals, 1U);
        EXPECT_THAT(home.sharers, testing::ElementsAre(0, 1));
    }
}

/// A page that its home has never accessed has no copy there.
TEST_P(PageReports, CountAnInvalidationOnlyOfAPageThatWasAccessed) {
    for (const dsm::ProtocolKind& kind : dsm::protocols()) {
        runtime::SharedPages settings;
        settings.protocol = kind.name;
        std::array<std::uint64_t, 2> invalidations{};
        run(
            2, 1,
            [&](Strand& self, SharedMemory& memory) {
                const auto words =
                    memory.allocate<std::uint64_t>("words", 2048, {.homes = dsm::Homes::first_node});
                memory.seal(self);
                const NodeId node = memory.node().id();
                const auto write_all = [&] {
                    const auto checkout = memory.touch(self, {writing(words, 0, words.count)});
                    for (std::uint64_t i = 0; i < words.count; ++i) memory.at(words)[i] = node;
                };
                if (node == 1) write_all();
                memory.barrier(self);
                if (node == 0) invalidations[0] = memory.counts().invalidations;
                memory.barrier(self);
                if (node == 0) write_all();
                memory.barrier(self);
                if (node == 1) invalidations[1] = memory.counts().invalidations;
            },
            settings);
        EXPECT_EQ(invalidations[0], 0U) << kind.name;
        EXPECT_EQ(invalidations[1], 4U) << kind.name;
    }
}

}  // namespace
}  // namespace heddle::testing_dsm
