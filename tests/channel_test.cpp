// Tests channels within a node, natively, in simulation and in-process: order, room, and that each value is
// received once.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "runtime/comm/channel.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::Channel;

class Channels : public Strands {};

INSTANTIATE_TEST_SUITE_P(Worlds, Channels, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(Channels, KeepTheOrderOfASenderWhateverTheirRoom) {
    for (const std::size_t room : {0, 1, 5, 1000}) {
        std::vector<int> got;
        Channel<std::unique_ptr<int>> channel(room);
        run(1, 2, [&](Worker& worker) {
            Strand::start(worker, [&](Strand& self) {
                for (int i = 0; i < 300; ++i) channel.send(self, std::make_unique<int>(i));
            });
            Strand::start(worker, [&](Strand& self) {
                for (int i = 0; i < 300; ++i) got.push_back(*channel.receive(self));
            });
        });
        ASSERT_EQ(got.size(), 300U) << room;
        for (int i = 0; i < 300; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], i) << room;
    }
}

TEST_P(Channels, HoldNoMoreThanTheirRoom) {
    Channel<int> channel(3);
    std::size_t most = 0;
    run(1, 2, [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            for (int i = 0; i < 100; ++i) channel.send(self, i);
        });
        Strand::start(worker, [&](Strand& self) {
            for (int i = 0; i < 100; ++i) {
                most = std::max(most, channel.size());
                channel.receive(self);
            }
        });
    });
    EXPECT_LE(most, 3U);
}

TEST_P(Channels, GiveEachValueToOneOfManyReceivers) {
    for (const std::size_t room : {0, 4}) {
        Channel<std::uint64_t> channel(room);
        std::atomic<std::uint64_t> sum{0};
        run(1, 3, [&](Worker& worker) {
            for (int i = 0; i < 8; ++i) {
                Strand::start(worker, [&](Strand& self) {
                    for (std::uint64_t n = 1; n <= 100; ++n) {
                        channel.send(self, n);
                        if (n % 7 == 0) self.yield();
                    }
                });
                Strand::start(worker, [&](Strand& self) {
                    for (int n = 0; n < 100; ++n) sum += channel.receive(self);
                });
            }
        });
        EXPECT_EQ(sum, 8U * 5050) << room;
    }
}

}  // namespace
}  // namespace heddle::testing_strands
