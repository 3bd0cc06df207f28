// Tests what the closing of an endpoint does to the senders of what waits there, and of what comes later:
// they go on as if it had been received.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "runtime/comm/endpoint.hpp"
#include "runtime/comm/endpoints.hpp"
#include "runtime/comm/loan.hpp"
#include "runtime/sources/timers.hpp"
#include "tests/endpoint_sizes.hpp"
#include "tests/seeds.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::Address;
using runtime::Endpoint;
using runtime::Event;

constexpr std::uint32_t hub = 3;  ///< an endpoint of the receiver's that stays open

void send_bytes(Strand& self, Endpoint& from, Address to, std::uint64_t size, std::uint32_t tag = 1) {
    from.send(self, to, tag, std::make_shared<runtime::Bytes>(size));
}

/// The endpoint to be closed: with a number that the node gives, or one that the program chooses.
std::unique_ptr<Endpoint> open(Strand& self, bool given, Endpoint::Late late = Endpoint::Late::dropped) {
    runtime::Node& node = self.worker().node();
    return given ? std::make_unique<Endpoint>(node, late) : std::make_unique<Endpoint>(node, 2);
}

/// Node 0 runs `send` with the address that the last node has told it. That node runs `receive`, which closes
/// the endpoint, and then waits until the sender has ended.
struct Exchange {
    std::function<void(Strand&, Endpoint&, Address)> send;
    std::function<void(Strand&, std::unique_ptr<Endpoint>)> receive;
    bool given = true;
    Endpoint::Late late = Endpoint::Late::dropped;

    /// True once the sender has ended.
    bool run(const World& world, NodeId wanted = 2) const {
        const NodeId nodes = world.one_node ? 1 : wanted;
        const NodeId last = nodes - 1;
        bool ended = false;
        const auto send_all = [&](Strand& self) {
            Endpoint from(self.worker().node(), 1);
            send(self, from, runtime::value_of<Address>(from.receive(self).data));
            from.send(self, {last, hub}, 1, runtime::body_of(true));
        };
        const auto receive_all = [&](Strand& self) {
            Endpoint stays(self.worker().node(), hub);
            std::unique_ptr<Endpoint> closes = open(self, given, late);
            stays.send(self, {0, 1}, 1, runtime::body_of(closes->address()));
            receive(self, std::move(closes));
            ended = runtime::value_of<bool>(stays.receive(self).data);
        };
        world.run(nodes, 1, [&](NodeId) {
            return std::make_unique<OnEachNode>([&](Worker& worker) {
                if (worker.id.node == 0) Strand::start(worker, send_all);
                if (worker.id.node == last) Strand::start(worker, receive_all);
            });
        });
        return ended;
    }
};

void close_when_one_waits(Strand& self, std::unique_ptr<Endpoint> closes) {
    wait_until(self, [&] { return closes->probe().has_value(); });
}

class EndpointClose : public Strands {};

}  // namespace

TEST_P(EndpointClose, LetsTheSenderOfALargeMessageGoOn) {
    for (const bool given : {false, true}) {
        const Exchange exchange{
            .send = [](Strand& self, Endpoint& from, Address to) { send_bytes(self, from, to, large); },
            .receive = close_when_one_waits,
            .given = given};
        EXPECT_TRUE(exchange.run(GetParam()));
    }
}

// Also one that was opened so that a late message is an error: these have come in time.
TEST_P(EndpointClose, GivesTheRoomOfSmallMessagesBack) {
    constexpr std::uint32_t last = 7;  // the tag of the last one that there is room for
    for (const auto late : {Endpoint::Late::dropped, Endpoint::Late::error}) {
        const Exchange exchange{.send =
                                    [](Strand& self, Endpoint& from, Address to) {
                                        for (int i = 0; i < 6; ++i) send_bytes(self, from, to, small);
                                        send_bytes(self, from, to, small, last);
                                        from.send(self, {to.node, hub}, 2, runtime::body_of(true));
                                        // There is room for none of these before.
                                        if (to.number < Endpoint::first_strict)
                                            for (int i = 0; i < 20; ++i) send_bytes(self, from, to, small);
                                    },
                                .receive =
                                    [](Strand& self, std::unique_ptr<Endpoint> closes) {
                                        wait_until(self,
                                                   [&] { return closes->probe({.tag = last}).has_value(); });
                                    },
                                .late = late};
        EXPECT_TRUE(exchange.run(GetParam()));
    }
}

TEST_P(EndpointClose, LetsTheSendersOfLaterMessagesGoOn) {
    for (const std::uint64_t size : {std::uint64_t{1}, small, large}) {
        const Exchange exchange{.send =
                                    [size](Strand& self, Endpoint& from, Address to) {
                                        // More than the window holds.
                                        for (int i = 0; i < (size == 1 ? 10'000 : 20); ++i)
                                            send_bytes(self, from, to, size);
                                    },
                                .receive = [](Strand&, std::unique_ptr<Endpoint>) {}};
        EXPECT_TRUE(exchange.run(GetParam()));
    }
}

/// Within a node their receiver would have read the bytes in their place.
TEST_P(EndpointClose, ReturnsBytesThatAreLent) {
    for (const bool waits : {false, true}) {
        bool returned = false;
        const auto send = [&](Strand& self, Endpoint& from, Address to) {
            std::vector<std::byte> bytes(large);
            const auto loan = std::make_shared<runtime::Loan>(self.worker().node(), bytes);
            Event has_left;
            from.start_send(self.worker(), to, 1, runtime::LargeMessage{.head = {}, .lent = loan},
                            [&](Worker& after) { has_left.complete(after.node(), after); });
            self.wait(has_left);
            returned = !loan->is_only_offered();
        };
        const auto receive = [&](Strand& self, std::unique_ptr<Endpoint> closes) {
            if (waits) close_when_one_waits(self, std::move(closes));
        };
        EXPECT_TRUE((Exchange{.send = send, .receive = receive}.run(GetParam())));
        EXPECT_TRUE(returned);
    }
}

/// The first message is still under way when the endpoint is closed, so no receive could take the second.
TEST_P(EndpointClose, GivesUpMessagesThatWaitForEarlierOnes) {
    bool left = false;
    run(1, 1, [&](Worker& worker) {
        Strand::start(worker, [&](Strand& self) {
            runtime::Node& node = self.worker().node();
            const Endpoint from(node, 1);
            auto to = std::make_unique<Endpoint>(node, 2);
            const std::vector<std::byte> bytes(large);
            Event has_left;
            runtime::Message second;
            second.source = runtime::key_of(from.address());
            second.tag = 1;
            second.sequence = 1;
            second.bytes = large;
            second.lent = std::make_unique<runtime::LentHere>(
                runtime::LentHere{{}, std::make_shared<runtime::Loan>(node, bytes), [&](Worker& after) {
                                      has_left.complete(after.node(), after);
                                  }});
            node.state<runtime::Endpoints>().arrive_somewhere(self.worker(), 2, std::move(second));
            EXPECT_FALSE(to->probe().has_value());
            to.reset();
            self.wait(has_left);
            left = true;
        });
    });
    EXPECT_TRUE(left);
}

/// A message may come before the endpoint is closed, after that, or wait for one before it.
TEST(EndpointCloseSeeds, ItsSendersGoOnWhenItIsClosedAtAnyTime) {
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(500); ++seed) {
        Random random(seed);
        std::vector<std::uint64_t> sizes;
        for (std::uint64_t i = 5 + random.below(30); i > 0; --i)
            sizes.push_back(random.below(3) == 0 ? large : 1 + random.below(small));
        const std::uint64_t received = random.below(sizes.size());
        const std::uint64_t waits = random.below(300);
        const Exchange exchange{.send =
                                    [&](Strand& self, Endpoint& from, Address to) {
                                        for (const std::uint64_t size : sizes)
                                            send_bytes(self, from, to, size);
                                    },
                                .receive =
                                    [&](Strand& self, std::unique_ptr<Endpoint> closes) {
                                        for (std::uint64_t i = 0; i < received; ++i)
                                            EXPECT_EQ(closes->receive(self).data.size(), sizes[i]);
                                        runtime::sleep_for(self, std::chrono::nanoseconds(waits));
                                    }};
        const inprocess::Faults faults{.delay_max = seed % 4 * 100, .reorders = seed % 2 == 0};
        const World world = inprocess_world("inprocess", seed, seed % 3 == 0, faults);
        ASSERT_TRUE(exchange.run(world, seed % 5 == 0 ? 1 : 2)) << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Worlds, EndpointClose, testing::ValuesIn(worlds()),
                         [](const auto& name) { return name.param.name; });

}  // namespace heddle::testing_strands
