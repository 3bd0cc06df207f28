// Tests shared memory by itself: what moves, what waits, and what is refused.
#include "tests/dsm_testing.hpp"

namespace heddle::testing_dsm {
namespace {

class Pages : public testing::TestWithParam<World> {
protected:
    static runtime::RunResult run(NodeId nodes, CoreId cores, const MainOnEachNode::Main& main,
                                  const runtime::SharedPages& settings = {}) {
        runtime::Schedule schedule;
        schedule.memory = settings;
        return run_mains(GetParam(), nodes, cores, schedule, main);
    }
};

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

/// Paper of HyFi, section 3.3.
TEST_P(Pages, AreAskedForOnceHoweverManyStrandsFault) {
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
                                      const auto checkout = memory.touch(filthread, {reading(word, 0, 1)});
                                      sum += *memory.at(word);
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
