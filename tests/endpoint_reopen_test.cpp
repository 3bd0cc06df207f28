// Tests endpoints that are closed and opened again under the number that a program chose, while those that
// they talk to live on: order, matching and room go on as if it was one endpoint, and what came before the
// closing is given up.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

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
using runtime::Parcel;

/// More than have room while one is not told that they were received.
constexpr std::uint64_t many = 40;

constexpr std::uint32_t sending = 1;      ///< an endpoint of node 0
constexpr std::uint32_t receiving = 2;    ///< of the last node
constexpr std::uint32_t partner_hub = 3;  ///< the sender's that stays open; the receiver's is the next number

void send_tagged(Strand& self, Endpoint& from, Address to, std::uint64_t tag, std::uint64_t size = small) {
    from.send(self, to, tag, std::make_shared<runtime::Bytes>(size));
}

bool send_now(Strand& self, Endpoint& from, Address to) {
    Parcel data(std::make_shared<runtime::Bytes>(small));
    return from.send_now(self.worker(), to, 1, data);
}

Endpoint once(Strand& self, std::uint32_t number) {
    return Endpoint(self.worker().node(), number, Endpoint::window, Endpoint::Number::once);
}

/// The hubs of two strands, by which they wait for each other.
class Partner {
public:
    Partner(Strand& self, NodeId other, bool sends)
        : here_(self.worker().node(), sends ? partner_hub : partner_hub + 1),
          other_{other, sends ? partner_hub + 1 : partner_hub} {}

    void tell(Strand& self) { here_.send(self, other_, 1, runtime::body_of(true)); }
    void wait(Strand& self) { (void)here_.receive(self); }

private:
    Endpoint here_;
    Address other_;
};

/// A strand on node 0, which sends to `to`, and one on the last node.
struct Partners {
    std::function<void(Strand&, Partner&, Address to)> send;
    std::function<void(Strand&, Partner&)> receive;

    void run(const World& world, NodeId wanted = 2) const {
        const NodeId nodes = world.one_node ? 1 : wanted;
        const NodeId last = nodes - 1;
        world.run(nodes, 1, [&](NodeId) {
            return std::make_unique<OnEachNode>([&](Worker& worker) {
                if (worker.id.node == 0) {
                    Strand::start(worker, [&](Strand& self) {
                        Partner partner(self, last, true);
                        send(self, partner, {last, receiving});
                    });
                }
                if (worker.id.node == last) {
                    Strand::start(worker, [&](Strand& self) {
                        Partner partner(self, 0, false);
                        receive(self, partner);
                    });
                }
            });
        });
    }
};

class EndpointReopen : public Strands {};

}  // namespace

TEST_P(EndpointReopen, TheNextOneReceivesFromASenderThatLivesOn) {
    std::vector<std::uint64_t> tags;
    const Partners exchange{.send =
                                [](Strand& self, Partner& partner, Address to) {
                                    Endpoint from(self.worker().node(), sending);
                                    for (std::uint64_t tag = 0; tag < many; ++tag) {
                                        send_tagged(self, from, to, tag);
                                        partner.wait(self);
                                    }
                                },
                            .receive =
                                [&](Strand& self, Partner& partner) {
                                    for (std::uint64_t i = 0; i < many; ++i) {
                                        {
                                            Endpoint here(self.worker().node(), receiving);
                                            tags.push_back(here.receive(self).tag);
                                        }
                                        partner.tell(self);
                                    }
                                }};
    exchange.run(GetParam());
    ASSERT_EQ(tags.size(), many);
    for (std::uint64_t tag = 0; tag < many; ++tag) EXPECT_EQ(tags[tag], tag);
}

TEST_P(EndpointReopen, AReceiverThatLivesOnReceivesFromTheNextOne) {
    std::vector<std::uint64_t> tags;
    const Partners exchange{.send =
                                [](Strand& self, Partner& partner, Address to) {
                                    for (std::uint64_t tag = 0; tag < many; ++tag) {
                                        Endpoint from(self.worker().node(), sending);
                                        send_tagged(self, from, to, tag, tag % 3 == 0 ? large : small);
                                    }
                                    partner.wait(self);
                                },
                            .receive =
                                [&](Strand& self, Partner& partner) {
                                    Endpoint here(self.worker().node(), receiving);
                                    for (std::uint64_t i = 0; i < many; ++i)
                                        tags.push_back(here.receive(self, {.from = Address{0, sending}}).tag);
                                    partner.tell(self);
                                }};
    exchange.run(GetParam());
    ASSERT_EQ(tags.size(), many);
    for (std::uint64_t tag = 0; tag < many; ++tag) EXPECT_EQ(tags[tag], tag);
}

/// The messages of the sender before are under way too.
TEST_P(EndpointReopen, TheNextOneHasTheRoomThatIsLeft) {
    const Partners exchange{.send =
                                [](Strand& self, Partner& partner, Address to) {
                                    for (std::uint64_t i = 0; i < in_window; ++i) {
                                        Endpoint from(self.worker().node(), sending);
                                        EXPECT_TRUE(send_now(self, from, to)) << i;
                                    }
                                    {
                                        Endpoint from(self.worker().node(), sending);
                                        EXPECT_FALSE(send_now(self, from, to));
                                    }
                                    // What is received while it is closed makes room for the next one.
                                    partner.tell(self);
                                    partner.wait(self);
                                    Endpoint from(self.worker().node(), sending);
                                    for (std::uint64_t i = 1; i < in_window; ++i)
                                        wait_until(self, [&] { return send_now(self, from, to); });
                                    partner.tell(self);
                                    partner.wait(self);
                                },
                            .receive =
                                [](Strand& self, Partner& partner) {
                                    Endpoint here(self.worker().node(), receiving);
                                    partner.wait(self);
                                    for (std::uint64_t i = 0; i < in_window; ++i) (void)here.receive(self);
                                    // Most often the sender is told within that time.
                                    runtime::sleep_for(self, std::chrono::milliseconds(1));
                                    partner.tell(self);
                                    partner.wait(self);
                                    for (std::uint64_t i = 1; i < in_window; ++i) (void)here.receive(self);
                                    partner.tell(self);
                                }};
    exchange.run(GetParam());
}

/// Both ends are closed after each message, and both begin at zero.
TEST_P(EndpointReopen, OfEndpointsThatAreUsedOnceNothingIsLeft) {
    std::vector<std::uint64_t> tags;
    const auto received = [](Strand& self) {  // in all, as the open endpoint counts
        const auto state = self.worker().node().state<runtime::Endpoints>().open_at(receiving);
        return state->exchanged.inbound[runtime::key_of({0, sending})].expected;
    };
    const Partners exchange{.send =
                                [](Strand& self, Partner& partner, Address to) {
                                    for (std::uint64_t tag = 0; tag < many; ++tag) {
                                        {
                                            Endpoint from = once(self, sending);
                                            send_tagged(self, from, to, tag, tag % 3 == 0 ? large : small);
                                        }
                                        partner.wait(self);
                                    }
                                },
                            .receive =
                                [&](Strand& self, Partner& partner) {
                                    for (std::uint64_t i = 0; i < many; ++i) {
                                        {
                                            Endpoint here = once(self, receiving);
                                            tags.push_back(here.receive(self).tag);
                                            EXPECT_EQ(received(self), 1U);
                                        }
                                        partner.tell(self);
                                    }
                                }};
    exchange.run(GetParam());
    ASSERT_EQ(tags.size(), many);
    for (std::uint64_t tag = 0; tag < many; ++tag) EXPECT_EQ(tags[tag], tag);
}

/// Its sender does not begin at zero.
TEST_P(EndpointReopen, AfterOneThatGaveUpAMessageTheNextGoesOn) {
    std::uint64_t received = 0;
    const Partners exchange{.send =
                                [](Strand& self, Partner& partner, Address to) {
                                    Endpoint from(self.worker().node(), sending);
                                    send_tagged(self, from, to, 1);
                                    partner.wait(self);
                                    send_tagged(self, from, to, 2);
                                    partner.wait(self);
                                },
                            .receive =
                                [&](Strand& self, Partner& partner) {
                                    {
                                        Endpoint here = once(self, receiving);
                                        wait_until(self, [&] { return here.probe().has_value(); });
                                    }
                                    partner.tell(self);
                                    Endpoint here = once(self, receiving);
                                    received = here.receive(self).tag;
                                    partner.tell(self);
                                }};
    exchange.run(GetParam());
    EXPECT_EQ(received, 2U);
}

/// The later of two messages has come when the endpoint is closed, the earlier one comes after that. No
/// receive may have it, because the next endpoint would else receive an earlier message and miss one.
TEST_P(EndpointReopen, GivesUpAMessageThatWasSentBeforeOneThatWasGivenUp) {
    for (const bool opened : {false, true}) {
        bool left = false;
        std::uint64_t received = 0;
        run(1, 1, [&](Worker& worker) {
            Strand::start(worker, [&](Strand& self) {
                runtime::Node& node = self.worker().node();
                const Endpoint from(node, sending);
                const std::vector<std::byte> bytes(large);
                Event has_left;
                const auto arrive = [&](std::uint64_t sequence, bool lends) {
                    runtime::Message message;
                    message.source = runtime::key_of(from.address());
                    message.tag = sequence;
                    message.sequence = sequence;
                    message.bytes = lends ? large : 0;
                    if (lends) {
                        message.lent = std::make_unique<runtime::LentHere>(runtime::LentHere{
                            {}, std::make_shared<runtime::Loan>(node, bytes), [&](Worker& after) {
                                has_left.complete(after.node(), after);
                            }});
                    }
                    auto& endpoints = node.state<runtime::Endpoints>();
                    endpoints.arrive_somewhere(self.worker(), receiving, std::move(message));
                };
                std::optional<Endpoint> to(std::in_place, node, receiving);
                arrive(1, false);
                to.reset();
                if (opened) to.emplace(node, receiving);
                arrive(0, true);
                self.wait(has_left);
                left = true;
                if (!opened) to.emplace(node, receiving);
                arrive(2, false);
                received = to->receive(self).tag;
            });
        });
        EXPECT_TRUE(left);
        EXPECT_EQ(received, 2U);
    }
}

/// Both ends are closed and opened again at any time, while messages wait there, are under way, or wait for
/// earlier ones. Those of the last round are sent when both have been opened for the last time.
TEST(EndpointReopenSeeds, MessagesStayInOrderAndNoneIsMissingBetweenTwo) {
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(500); ++seed) {
        Random random(seed);
        Random sender = random.split(1);
        Random receiver = random.split(2);
        const std::uint64_t early = 5 + random.below(30);
        constexpr std::uint64_t last_round = 10;
        const auto send_next = [&](Strand& self, Address to, std::uint64_t tag,
                                   std::unique_ptr<Endpoint>& from) {
            if (sender.below(4) == 0) from.reset();
            if (!from) from = std::make_unique<Endpoint>(self.worker().node(), sending);
            send_tagged(self, *from, to, tag, sender.below(3) == 0 ? large : 1 + sender.below(small));
        };
        std::vector<std::vector<std::uint64_t>> openings;  // the tags that each received
        const Partners exchange{.send =
                                    [&](Strand& self, Partner& partner, Address to) {
                                        std::unique_ptr<Endpoint> from;
                                        std::uint64_t tag = 0;
                                        while (tag < early) send_next(self, to, tag++, from);
                                        partner.wait(self);
                                        while (tag < early + last_round) send_next(self, to, tag++, from);
                                        partner.wait(self);
                                    },
                                .receive =
                                    [&](Strand& self, Partner& partner) {
                                        for (auto i = receiver.below(6); i > 0; --i) {
                                            Endpoint here(self.worker().node(), receiving);
                                            auto& tags = openings.emplace_back();
                                            runtime::sleep_for(
                                                self, std::chrono::nanoseconds(receiver.below(3000)));
                                            while (receiver.below(4) != 0 && here.probe())
                                                tags.push_back(here.receive(self).tag);
                                        }
                                        Endpoint here(self.worker().node(), receiving);
                                        auto& tags = openings.emplace_back();
                                        partner.tell(self);
                                        do tags.push_back(here.receive(self).tag);
                                        while (tags.back() + 1 < early + last_round);
                                        partner.tell(self);
                                    }};
        const inprocess::Faults faults{.delay_max = seed % 4 * 100, .reorders = seed % 2 == 0};
        const World world = inprocess_world("inprocess", seed, seed % 3 == 0, faults);
        ASSERT_NO_THROW(exchange.run(world, seed % 5 == 0 ? 1 : 2)) << "seed " << seed;
        std::uint64_t next = 0;
        for (const auto& tags : openings) {
            for (std::size_t i = 0; i < tags.size(); ++i) {
                if (i == 0) {
                    ASSERT_GE(tags[i], next) << "seed " << seed;
                } else {
                    ASSERT_EQ(tags[i], next) << "seed " << seed;
                }
                next = tags[i] + 1;
            }
        }
        ASSERT_LE(openings.back().front(), early) << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Worlds, EndpointReopen, testing::ValuesIn(worlds()),
                         [](const auto& name) { return name.param.name; });

}  // namespace heddle::testing_strands
