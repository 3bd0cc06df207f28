// Tests native nodes that exchange messages by UDP through a bad network. It loses, repeats, reorders and
// changes datagrams, yet each message arrives once, intact and in order. The full number of messages:
// native_udp_slow_test.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/native_testing.hpp"
#include "tests/native_udp_testing.hpp"

namespace heddle::native {

using namespace std::chrono_literals;

class NativeUdpRun : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Modules, NativeUdpRun, testing::Bool(),
                         [](const auto& single) { return single.param ? "single" : "separate"; });

TEST_P(NativeUdpRun, SmallMessagesArriveOnceIntactAndInOrder) {
    exchange(50'000, 40, false, by_udp({}, GetParam()));
}

TEST_P(NativeUdpRun, LargeMessagesArriveOnceIntactAndInOrder) {
    exchange(50, 2 << 20, true, by_udp({}, GetParam()));
}

// A firewall that lets no datagram through.
TEST_P(NativeUdpRun, DatagramsThatDoNotComeThroughAreAnErrorThatSaysWhatToDo) {
    const NativeOptions common = by_udp({.lost = 100}, GetParam());
    const Key key = make_key();
    const Rendezvous rendezvous(2, key);
    std::vector<std::string> errors(2);
    std::vector<std::thread> threads;
    const Script script;
    for (NodeId rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank, options = common]() mutable {
            options.membership = Membership{rank, 2, key, rendezvous.address(), rank, 2};
            options.meeting_max = 500ms;
            ScriptedNode node(rank, 1, script);
            errors[rank] = error_of(
                [&] { NativeBackend(options).run([&](NodeId) -> runtime::NodeProgram& { return node; }); });
        });
    }
    for (std::thread& thread : threads) thread.join();
    // The first that gives up says why; the other may find it gone.
    const std::string both = errors[0] + '\n' + errors[1];
    EXPECT_NE(both.find(", by UDP: no datagram of"), std::string::npos) << both;
    EXPECT_NE(both.find("firewall"), std::string::npos) << both;
    EXPECT_NE(errors[0], "");
    EXPECT_NE(errors[1], "");
}

TEST(NativeUdpRun, FourNodesExchangeWithEachOther) {
    std::atomic<int> got{0};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        for (std::uint64_t i = 0; i < 100; ++i)
            for (NodeId to = 0; to < 4; ++to)
                if (to != node.id) worker.backend->send(worker, to, message(node.id, i, i * 40));
    };
    script.deliver = [&](Node&, NodeId, auto) { ++got; };
    run(4, 1, script, by_udp({}));
    EXPECT_EQ(got, 4 * 3 * 100);
}

// A node goes on repeating its own goodbye after another's has come. Otherwise each of three could wait for
// the goodbye of the next one, which has heard its own and repeats nothing.
TEST_P(NativeUdpRun, GoodbyesThatAreLostOnTheWayAreRepeated) {
    Script script;
    // Messages, so that the times to the peers are known and repetitions come soon.
    script.work = [](Node& node, Context& worker) {
        for (std::uint64_t i = 0; i < 4; ++i)
            for (NodeId to = 0; to < 6; ++to)
                if (to != node.id) worker.backend->send(worker, to, message(node.id, i, 40));
    };
    script.deliver = [](Node&, NodeId, auto) {};
    for (int round = 0; round < 2; ++round) run(6, 1, script, by_udp({.lost = 25}, GetParam()));
}

}  // namespace heddle::native
