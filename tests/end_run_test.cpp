// Tests that a program can end its run on all nodes, whatever runs, waits or is under way there.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "model/fork_join.hpp"
#include "runtime/comm/channel.hpp"
#include "runtime/comm/endpoint.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

class EndRun : public Strands {};

INSTANTIATE_TEST_SUITE_P(Worlds, EndRun, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

std::atomic<int> alive{0};

/// A tree that would take for ever; one leaf, far down, ends the run.
struct Search {
    static std::uint64_t run(model::Strand strand, std::uint64_t path, std::uint32_t depth) {
        const Counted counted(alive);
        if (depth == 40 || path == 0b1011) {
            Worker& worker = strand.worker();
            worker.node().end_run(worker, worker.outbox());
        }
        if (depth == 40) return 1;
        strand.fork<Search>(2 * path, depth + 1);
        const auto second = strand.call<Search>(2 * path + 1, depth + 1);
        return second + strand.join<Search>();
    }
};

TEST_P(EndRun, TasksThatWaitAreUnwound) {
    alive = 0;
    std::atomic<bool> came_back{false};
    run(nodes(3), 3, [&](Worker& worker) {
        model::Strand strand(worker);
        strand.fork<Search>(std::uint64_t{1}, 0U);
        strand.join<Search>();
        came_back = true;
    });
    EXPECT_EQ(alive, 0);
}

TEST_P(EndRun, StrandsThatWaitAreUnwoundAndAnyNodeMayEndIt) {
    alive = 0;
    const NodeId count = nodes(4);
    run_all(count, 2, [&](Worker& worker) {
        for (int i = 0; i < 3; ++i) {
            Strand::start(worker, [&](Strand& self) {
                const Counted counted(alive);
                runtime::Channel<int> channel(0);
                channel.receive(self);
            });
        }
        if (worker.id.node != count - 1) return;
        Strand::start(worker, [](Strand& self) {
            self.yield();
            self.worker().node().end_run(self.worker(), self.worker().outbox());
        });
    });
    EXPECT_EQ(alive, 0);
}

/// Overwrites what was on the stack below it, and leaves messages some time to come.
struct Overwrites {
    ~Overwrites() {
        volatile unsigned char below[64U << 10];
        for (volatile unsigned char& byte : below) byte = 0x55;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
};

// Node 0 ends the run while the parts are under way.
TEST_P(EndRun, ATaskThatReceivesALargeMessageIsUnwound) {
    using runtime::Endpoint;
    if (nodes(2) < 2 || !GetParam().ends_process)
        GTEST_SKIP() << "only a connection reads into a receiver's room";
    const auto body = std::make_shared<runtime::Bytes>(std::size_t{64} << 20);
    std::atomic<bool> received{false};
    run_all(2, 2, [&](Worker& worker) {
        if (worker.id.node == 0) {
            const auto send = [&](Strand& self) {
                Endpoint endpoint(self.worker().node(), 1);
                const auto nothing = [](Worker&) {};
                endpoint.start_send(self.worker(), {1, 2}, 3, runtime::Parcel(body), nothing,
                                    Endpoint::Sharing::in_turn);
                endpoint.receive(self);
            };
            const auto end = [&](Strand& self) {
                wait_until(self, [&] { return body.use_count() > 3; });  // this test, the send, and parts
                self.worker().node().end_run(self.worker(), self.worker().outbox());
            };
            Strand::start(worker, end, {"the end", 1});
            Strand::start(worker, send, {"a sender", 0});
        } else {
            Endpoint endpoint(worker.node(), 2);
            const Overwrites overwrites;
            endpoint.receive({worker, worker.base()});
            received = true;
        }
    });
    if (received) GTEST_SKIP() << "the run did not end while the parts were under way";
}

}  // namespace
}  // namespace heddle::testing_strands
