// Tests which requests for shared pages go to their homes.
#include <gmock/gmock.h>

#include "model/dsm/pages.hpp"
#include "model/dsm/protocol.hpp"
#include "tests/dsm_testing.hpp"

namespace heddle::testing_dsm {
namespace {

class PageRequests : public testing::TestWithParam<World> {
protected:
    static void run(NodeId nodes, CoreId cores, const MainOnEachNode::Main& main,
                    const runtime::SharedPages& settings) {
        runtime::Schedule schedule;
        schedule.memory = settings;
        run_mains(GetParam(), nodes, cores, schedule, main);
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, PageRequests, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

/// A home that no other node has asked for its page need ask nothing itself. Afterwards it asks as others do,
/// until all copies are given up.
TEST_P(PageRequests, AreNotMadeAtTheHomeWhileNoOtherNodeWantsThePage) {
    for (const char* protocol : {"write_invalidate", "implicit_invalidate", "migratory"}) {
        runtime::SharedPages settings;
        settings.protocol = protocol;
        std::uint64_t alone = 0, shared = 0;
        std::atomic<int> wrong{0};
        run(
            2, 1,
            [&](Strand& self, SharedMemory& memory) {
                const bool is_home = self.worker().id.node == 0;
                const auto words =
                    memory.allocate<std::uint64_t>("words", 4096, {.homes = dsm::Homes::first_node});
                memory.seal(self);
                std::uint64_t* const at = memory.at(words);
                const auto write_all = [&](std::uint64_t value) {
                    const auto checkout = memory.touch(self, {writing(words, 0, words.count)});
                    for (std::uint64_t i = 0; i < words.count; ++i) at[i] = value + i;
                };
                const auto check_all = [&](std::uint64_t value) {
                    const auto checkout = memory.touch(self, {reading(words, 0, words.count)});
                    for (std::uint64_t i = 0; i < words.count; ++i) wrong += at[i] != value + i;
                };
                if (is_home) write_all(3);
                if (is_home) alone = memory.counts().requests;
                memory.barrier(self);
                if (!is_home) write_all(5);
                memory.barrier(self);
                if (is_home) check_all(5);
                if (is_home) shared = memory.counts().requests;
                memory.barrier(self);
                check_all(5);
            },
            settings);
        EXPECT_EQ(alone, 0U) << protocol;
        EXPECT_EQ(shared, 8U) << protocol;
        EXPECT_EQ(wrong, 0) << protocol;
    }
}

/// Whatever notices the access.
TEST_P(PageRequests, AreMadeForThePagesAfterOneThatIsTouched) {
    for (const dsm::ProtocolKind& kind : dsm::protocols()) {
        for (const runtime::Trigger trigger : triggers()) {
            runtime::SharedPages settings;
            settings.protocol = kind.name;
            settings.trigger = trigger;
            settings.prefetch = 3;
            std::array<std::uint64_t, 3> requests{};
            run(
                2, 1,
                [&](Strand& self, SharedMemory& memory) {
                    const auto bytes = memory.allocate<std::byte>("bytes", 8 * memory.page_bytes(),
                                                                  {.homes = dsm::Homes::first_node});
                    memory.seal(self);
                    if (memory.node().id() == 1) {
                        { const auto one = memory.touch(self, {reading(bytes, 0, 1)}); }
                        requests[0] = memory.counts().requests;
                        // The next three are here, or come.
                        { const auto next = memory.touch(self, {reading(bytes, memory.page_bytes(), 1)}); }
                        requests[1] = memory.counts().requests;
                        { const auto all = memory.touch(self, {reading(bytes, 0, bytes.count)}); }
                        requests[2] = memory.counts().requests;
                    }
                    memory.barrier(self);
                },
                settings);
            EXPECT_THAT(requests, testing::ElementsAre(4, 4, 8)) << kind.name;
        }
    }
}

/// Paper of HyFi, section 3.3.
TEST_P(PageRequests, AreMadeOnceHoweverManyStrandsFault) {
    struct {
        std::uint64_t requests = 0;
        std::uint32_t outstanding[2] = {};
        bool pending[2] = {};
        std::uint32_t outstanding_after[2] = {};
        bool pending_after = false;
    } seen;
    std::atomic<std::uint64_t> sum{0};
    // A checkout keeps its pages only where accesses are checked.
    runtime::SharedPages settings;
    settings.trigger = runtime::Trigger::checked;
    const auto least = [](int a, int b) { return std::min(a, b); };
    run(
        2, 2,
        [&](Strand& self, SharedMemory& memory) {
            runtime::Node& node = self.worker().node();
            const auto word = memory.allocate<std::uint64_t>("word", 1);
            memory.seal(self);
            runtime::Team team(node, 7, 1);
            if (node.id() == 0) {
                // The page stays here until all wait for it.
                {
                    const auto checkout = memory.touch(self, {writing(word, 0, 1)});
                    *memory.at(word) = 17;
                    team.barrier(self);
                    while (team.all_reduce(self, 0, 1, least) == 0) {
                    }
                }
            } else {
                team.barrier(self);
                const auto left = std::make_shared<std::atomic<int>>(4);
                const auto all = std::make_shared<runtime::Event>();
                for (int i = 0; i < 4; ++i) {
                    Strand::start(self.worker(),
                                  [&, word, left, all](Strand& filthread) {
                                      {
                                          const auto checkout =
                                              memory.touch(filthread, {reading(word, 0, 1)});
                                          sum += *memory.at(word);
                                      }
                                      if (--*left == 0) all->complete(memory.node(), filthread.worker());
                                  },
                                  {"a filthread", static_cast<CoreId>(i % 2), false});
                }
                // Each round gives the strands time to come so far.
                bool all_wait = false;
                while (!all_wait) {
                    all_wait =
                        memory.pending(0, 0) && memory.pending(0, 1) && memory.counts().read_faults == 4;
                    if (!all_wait) team.all_reduce(self, 0, 0, least);
                }
                seen.requests = memory.counts().requests;
                for (CoreId core = 0; core < 2; ++core) {
                    seen.outstanding[core] = memory.outstanding(core);
                    seen.pending[core] = memory.pending(0, core);
                }
                team.all_reduce(self, 0, 1, least);
                self.wait(*all);
                for (CoreId core = 0; core < 2; ++core) {
                    seen.outstanding_after[core] = memory.outstanding(core);
                    seen.pending_after |= memory.pending(0, core);
                }
            }
            memory.barrier(self);
        },
        settings);
    EXPECT_EQ(seen.requests, 1U);
    for (const CoreId core : {0, 1}) {
        EXPECT_EQ(seen.outstanding[core], 1U);
        EXPECT_TRUE(seen.pending[core]);
        EXPECT_EQ(seen.outstanding_after[core], 0U);
    }
    EXPECT_FALSE(seen.pending_after);
    EXPECT_EQ(sum, 4 * 17U);
}

}  // namespace
}  // namespace heddle::testing_dsm
