// Tests split-phase operations whose data lie in shared memory: the pages may not be here, and they come
// while the operation's message is being written.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/comm/sync_slot.hpp"
#include "tests/dsm_testing.hpp"

namespace heddle::testing_dsm {
namespace {

using runtime::Event;

/// A slot that a strand waits for.
struct AwaitedSlot : runtime::SyncSlot {
    explicit AwaitedSlot(std::uint32_t signals) : runtime::SyncSlot(signals, 0, &AwaitedSlot::enable) {}
    static void enable(runtime::SyncSlot& slot, runtime::Node& node, runtime::Context& caller) {
        static_cast<AwaitedSlot&>(slot).done.complete(node, caller);
    }

    Event done;
};

struct PutCase {
    World world;
    runtime::Trigger trigger;
    bool forks;  ///< a strand that forks keeps its worker while it waits
};

std::vector<PutCase> put_cases() {
    std::vector<PutCase> all;
    for (const World& world : worlds()) {
        for (const runtime::Trigger trigger : triggers()) {
            if (trigger == runtime::Trigger::checked) continue;
            for (const bool forks : {false, true}) all.push_back({world, trigger, forks});
        }
    }
    return all;
}

class DsmPuts : public testing::TestWithParam<PutCase> {};

INSTANTIATE_TEST_SUITE_P(Worlds, DsmPuts, testing::ValuesIn(put_cases()), [](const auto& each) {
    return each.param.world.name +
           (each.param.trigger == runtime::Trigger::mprotect ? "_mprotect" : "_userfaultfd") +
           (each.param.forks ? "_task" : "_strand");
});

/// Strands of one worker of node 1 put the words of pages into node 0. The homes of the pages are node 0,
/// which the request for a page goes to as the word does, node 2, and node 1.
TEST_P(DsmPuts, CarryWordsOfPagesThatAreNotHere) {
    constexpr NodeId nodes = 3;
    constexpr std::uint32_t pages = 12;
    constexpr std::uint32_t page_words = 4096 / sizeof(std::uint64_t);
    constexpr std::uint32_t strands = 4;
    constexpr std::uint32_t puts = pages * strands;
    runtime::Schedule schedule;
    schedule.memory.placement = runtime::SharedPages::Placement::cyclic;
    schedule.memory.trigger = GetParam().trigger;
    std::vector<std::uint64_t> got(puts, 0);
    AwaitedSlot all_came(puts);
    std::atomic<std::uint32_t> ended{0};
    Event all_ended;
    run_mains(GetParam().world, nodes, 1, schedule, [&](Strand& self, SharedMemory& memory) {
        const NodeId here = memory.node().id();
        const auto words = memory.allocate<std::uint64_t>("words", pages * page_words);
        memory.seal(self);
        std::uint64_t* const at = memory.at(words);
        for (std::uint32_t page = here; page < pages; page += nodes) at[page * page_words] = 100 + page;
        memory.barrier(self);
        if (here == 0) self.wait(all_came.done);
        if (here == 1) {
            for (std::uint32_t strand = 0; strand < strands; ++strand) {
                const auto body = [&, at, strand](Strand& putter) {
                    for (std::uint32_t i = 0; i < pages; ++i) {
                        const std::uint32_t page = (i + 5 * strand) % pages;
                        std::uint64_t& target = got[strand * pages + page];
                        runtime::put(putter.worker(), at[page * page_words],
                                     runtime::GlobalReference<std::uint64_t>(0, &target),
                                     runtime::GlobalReference<runtime::SyncSlot>(0, &all_came));
                    }
                    if (++ended == strands) all_ended.complete(putter.worker().node(), putter.worker());
                };
                Strand::start(self.worker(), body, {"a putter", 0, GetParam().forks});
            }
            self.wait(all_ended);
        }
        memory.barrier(self);
    });
    for (std::uint32_t i = 0; i < puts; ++i) EXPECT_EQ(got[i], 100 + i % pages) << "put " << i;
}

}  // namespace
}  // namespace heddle::testing_dsm
