// Tests what a receive that was begun does to its message's sender: as long as it is not ended it keeps the
// room of its own message in the window and no other, and if it is given up the sender goes on.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "runtime/comm/endpoint.hpp"
#include "runtime/comm/endpoints.hpp"
#include "runtime/comm/loan.hpp"
#include "tests/endpoint_sizes.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::Endpoint;
using runtime::Event;
using runtime::Parcel;

constexpr std::uint64_t kept_tag = 1;
constexpr std::uint64_t plain_tag = 2;
constexpr std::uint64_t later_tag = 3;

/// Such messages are announced too, and come in three parts.
constexpr std::uint64_t in_parts = 2 * Endpoint::part_bytes + 1;

class EndpointCredit : public Strands {
protected:
    using Receiver = std::function<void(Strand&, Endpoint&)>;

    /// Endpoint 1 of node 0 sends messages with these tags to endpoint 2 of the last node, where `receive`
    /// runs.
    void exchange(const std::vector<std::uint64_t>& tags, const Receiver& receive,
                  std::uint64_t size = small) {
        const auto send = [&](Strand& self, Endpoint& endpoint, runtime::Address to) {
            const auto bytes = std::make_shared<runtime::Bytes>(size, std::byte{7});
            for (const std::uint64_t tag : tags) endpoint.send(self, to, tag, Parcel(runtime::Body(bytes)));
        };
        exchange_with(send, receive);
    }
    void exchange_with(const std::function<void(Strand&, Endpoint&, runtime::Address)>& send,
                       const Receiver& receive) {
        const NodeId last = nodes(2) - 1;
        run_all(nodes(2), 1, [&](Worker& worker) {
            if (worker.id.node == 0) {
                Strand::start(worker, [&, last](Strand& self) {
                    Endpoint endpoint(self.worker().node(), 1);
                    send(self, endpoint, {last, 2});
                });
            }
            if (worker.id.node == last) {
                Strand::start(worker, [&](Strand& self) {
                    Endpoint endpoint(self.worker().node(), 2);
                    receive(self, endpoint);
                });
            }
        });
    }

    /// Begins so many receives, and gives them up when each has its message.
    static void give_up(Strand& self, Endpoint& endpoint, std::size_t count) {
        std::vector<Endpoint::Receive> given_up(count);
        for (Endpoint::Receive& receive : given_up)
            receive = endpoint.begin_receive(self.worker(), {.tag = kept_tag});
        for (Endpoint::Receive& receive : given_up)
            wait_until(self, [&] { return endpoint.has_come(self.worker(), receive); });
    }
    /// Gives up a message that has come, without asking for its data.
    static void give_up_unasked(Strand& self, Endpoint& endpoint) {
        wait_until(self, [&] { return endpoint.probe({.tag = kept_tag}).has_value(); });
        (void)endpoint.begin_receive(self.worker(), {.tag = kept_tag});
    }
    /// Gives up one large message after the other, more than the window holds. The one behind them comes.
    void expect_room_after(const Receiver& give_up_one) {
        constexpr std::size_t given_up = 20;
        std::vector<std::uint64_t> tags(given_up, kept_tag);
        tags.push_back(plain_tag);
        std::size_t received = 0;
        exchange(
            tags,
            [&](Strand& self, Endpoint& endpoint) {
                for (std::size_t i = 0; i < given_up; ++i) give_up_one(self, endpoint);
                received = endpoint.receive(self, {.tag = plain_tag}).data.size();
            },
            large);
        EXPECT_EQ(received, large);
    }
};

}  // namespace

// The sender may have seven messages under way. Some wait for receives that are ended last, and count as
// received where they would take most of the window. So there is always room for others, as long as their
// receives give theirs back.
TEST_P(EndpointCredit, BegunReceivesKeepOnlyTheRoomOfTheirOwnMessages) {
    constexpr std::size_t plain = 40;
    for (const std::size_t begun : {4U, 5U, 6U, 7U, 8U, 20U}) {
        SCOPED_TRACE(begun);
        std::vector<std::uint64_t> tags;
        for (std::size_t i = 0; i < begun; ++i) tags.insert(tags.end(), {plain_tag, kept_tag});
        tags.resize(begun + plain, plain_tag);
        std::size_t received = 0;
        exchange(tags, [&](Strand& self, Endpoint& endpoint) {
            std::vector<Endpoint::Receive> kept(begun);
            for (Endpoint::Receive& receive : kept)
                receive = endpoint.begin_receive(self.worker(), {.tag = kept_tag});
            for (std::size_t i = 0; i < plain; ++i)
                received += endpoint.receive(self, {.tag = plain_tag}).data.size();
            for (Endpoint::Receive& receive : kept)
                received += endpoint.end_receive(self, receive).data.size();
        });
        EXPECT_EQ(received, (plain + begun) * small);
    }
}

// The receives that were begun hold the memory of their messages, in whatever order they are ended.
TEST_P(EndpointCredit, BegunReceivesMayBeEndedInAnotherOrderThanTheirMessagesCome) {
    constexpr std::uint64_t count = 30;
    for (const std::uint64_t size : {small, large}) {
        std::size_t received = 0;
        const auto send = [&](Strand& self, Endpoint& endpoint, runtime::Address to) {
            std::vector<Event> left(count);
            for (std::uint64_t tag = count; tag-- > 0;)
                endpoint.start_send(self.worker(), to, tag,
                                    Parcel(runtime::Body(std::make_shared<runtime::Bytes>(size))),
                                    [&left, tag](Worker& after) { left[tag].complete(after.node(), after); });
            for (Event& each : left) self.wait(each);
        };
        exchange_with(send, [&](Strand& self, Endpoint& endpoint) {
            std::vector<Endpoint::Receive> begun(count);
            for (std::uint64_t tag = 0; tag < count; ++tag)
                begun[tag] = endpoint.begin_receive(self.worker(), {.tag = tag});
            for (Endpoint::Receive& receive : begun)
                received += endpoint.end_receive(self, receive).data.size();
        });
        EXPECT_EQ(received, count * size);
    }
}

// The sender was told of some that are given up then, and is not told of these again.
TEST_P(EndpointCredit, BegunReceivesMayBeEndedAndGivenUpInAnyOrder) {
    constexpr std::uint64_t count = 40;
    constexpr std::uint64_t rounds = 20;
    std::size_t received = 0;
    const auto send = [&](Strand& self, Endpoint& endpoint, runtime::Address to) {
        for (std::uint64_t round = 0; round < rounds; ++round) {
            for (std::uint64_t tag = count; tag-- > 0;)
                endpoint.send(self, to, tag, std::make_shared<runtime::Bytes>(small));
        }
    };
    exchange_with(send, [&](Strand& self, Endpoint& endpoint) {
        for (std::uint64_t round = 0; round < rounds; ++round) {
            std::vector<Endpoint::Receive> begun(count);
            for (std::uint64_t tag = 0; tag < count; ++tag)
                begun[tag] = endpoint.begin_receive(self.worker(), {.tag = tag});
            for (std::uint64_t tag = 0; tag < count; ++tag) {
                wait_until(self, [&] { return endpoint.has_come(self.worker(), begun[tag]); });
                if ((tag + round) % 3 == 0) {
                    begun[tag] = {};
                    received += small;
                } else {
                    received += endpoint.end_receive(self, begun[tag]).data.size();
                }
            }
        }
    });
    EXPECT_EQ(received, rounds * count * small);
}

TEST_P(EndpointCredit, AReceiveThatIsGivenUpGivesTheRoomOfItsMessageBack) {
    constexpr std::size_t plain = 20;
    std::vector<std::uint64_t> tags(7, kept_tag);
    tags.resize(7 + plain, plain_tag);
    std::size_t received = 0;
    exchange(tags, [&](Strand& self, Endpoint& endpoint) {
        give_up(self, endpoint, 7);
        for (std::size_t i = 0; i < plain; ++i)
            received += endpoint.receive(self, {.tag = plain_tag}).data.size();
    });
    EXPECT_EQ(received, plain * small);
}

// The sender sends what the first receive waits for when it has room, and the second one is ended after that.
TEST_P(EndpointCredit, AReceiveThatIsBegunNextKeepsNoneOfTheRoomOfThoseGivenUp) {
    std::vector<std::uint64_t> tags(7, kept_tag);
    tags.insert(tags.end(), {plain_tag, later_tag});
    std::size_t received = 0;
    exchange(tags, [&](Strand& self, Endpoint& endpoint) {
        give_up(self, endpoint, 7);
        Endpoint::Receive later = endpoint.begin_receive(self.worker(), {.tag = later_tag});
        received += endpoint.receive(self, {.tag = plain_tag}).data.size();
        received += endpoint.end_receive(self, later).data.size();
    });
    EXPECT_EQ(received, 2 * small);
}

// A strand that asks again and again leaves its worker to no other kind of work.
TEST_P(EndpointCredit, AReceiverTellsWhatItHasGivenUpThoughItsWorkerHasNoRest) {
    if (!GetParam().name.starts_with("native")) GTEST_SKIP() << "time would stand still";
    std::vector<std::uint64_t> tags(7, kept_tag);
    tags.push_back(plain_tag);
    for (const bool asks : {true, false}) {
        std::size_t received = 0;
        exchange(tags, [&](Strand& self, Endpoint& endpoint) {
            give_up(self, endpoint, 7);
            if (asks) {
                Endpoint::Receive receive = endpoint.begin_receive(self.worker(), {.tag = plain_tag});
                while (!endpoint.has_come(self.worker(), receive)) self.yield();
                received = endpoint.end_receive(self, receive).data.size();
                return;
            }
            Strand::start(self.worker(), [&](Strand& restless) {
                while (received == 0) restless.yield();
            });
            received = endpoint.receive(self, {.tag = plain_tag}).data.size();
        });
        EXPECT_EQ(received, small);
    }
}

TEST_P(EndpointCredit, ALargeMessageThatIsGivenUpGivesItsRoomBack) {
    expect_room_after([](Strand& self, Endpoint& endpoint) { give_up(self, endpoint, 1); });
}

TEST_P(EndpointCredit, ALargeMessageThatIsGivenUpUnaskedLetsItsSenderGoOn) {
    expect_room_after([](Strand& self, Endpoint& endpoint) { give_up_unasked(self, endpoint); });
}

TEST_P(EndpointCredit, ASenderIsToldThoughItsReceiverWaitsForSomethingElse) {
    for (const std::uint64_t size : {small, large}) {
        std::size_t received = 0;
        // For the last small one there is no room.
        const auto send = [&](Strand& self, Endpoint& endpoint, runtime::Address to) {
            for (std::size_t i = 0; i < (size == small ? 8 : 7); ++i)
                endpoint.send(self, to, kept_tag, std::make_shared<runtime::Bytes>(size));
            endpoint.send(self, {to.node, 3}, plain_tag, std::make_shared<runtime::Bytes>(1));
        };
        exchange_with(send, [&](Strand& self, Endpoint& endpoint) {
            Endpoint other(self.worker().node(), 3);
            for (std::size_t i = 0; i < 7; ++i) give_up_unasked(self, endpoint);
            received = other.receive(self).data.size();
        });
        EXPECT_EQ(received, 1U);
    }
}

TEST_P(EndpointCredit, ASenderIsToldThoughTheEndpointIsClosedNext) {
    bool sent = false;
    const auto send = [&](Strand& self, Endpoint& endpoint, runtime::Address to) {
        endpoint.send(self, to, kept_tag, std::make_shared<runtime::Bytes>(large));
        sent = true;
    };
    exchange_with(send, [&](Strand& self, Endpoint& endpoint) { give_up_unasked(self, endpoint); });
    EXPECT_TRUE(sent);
}

/// Also on its own node, where the receiver would have read the bytes in their place.
TEST_P(EndpointCredit, BytesAreReturnedIfTheMessageThatLendsThemIsGivenUp) {
    int returned = 0;
    const auto send = [&](Strand& self, Endpoint& endpoint, runtime::Address to) {
        std::vector<std::byte> bytes(large);
        const auto loan = std::make_shared<runtime::Loan>(self.worker().node(), bytes);
        Event has_left;
        endpoint.start_send(self.worker(), to, kept_tag, runtime::LargeMessage{.head = {}, .lent = loan},
                            [&](Worker& after) { has_left.complete(after.node(), after); });
        self.wait(has_left);
        EXPECT_FALSE(loan->is_only_offered());
        ++returned;
    };
    exchange_with(send, [&](Strand& self, Endpoint& endpoint) { give_up_unasked(self, endpoint); });
    EXPECT_EQ(returned, 1);
}

/// Mainly for ThreadSanitizer: parts come while their receive is given up.
TEST_P(EndpointCredit, AReceiveMayBeGivenUpWhileItsPartsCome) {
    constexpr std::size_t rounds = 30;
    std::vector<std::uint64_t> tags(rounds, kept_tag);
    tags.push_back(plain_tag);
    std::size_t received = 0;
    exchange(
        tags,
        [&](Strand& self, Endpoint& endpoint) {
            for (std::size_t round = 0; round < rounds; ++round) {
                wait_until(self, [&] { return endpoint.probe({.tag = kept_tag}).has_value(); });
                Endpoint::Receive receive = endpoint.begin_receive(self.worker(), {.tag = kept_tag});
                for (std::size_t i = 0; i < 20 * round && !endpoint.has_come(self.worker(), receive); ++i)
                    self.yield();
            }
            received = endpoint.receive(self, {.tag = plain_tag}).data.size();
        },
        in_parts);
    EXPECT_EQ(received, in_parts);
}

/// A receive that is given up just after it has been completed waits until the handler is done with it.
TEST_P(EndpointCredit, AHandlerUsesATransferUntilItHasCompletedIt) {
    struct Look : runtime::Waiter {
        explicit Look(const runtime::Transfer& its) : Waiter(at), transfer(its) {}
        static void at(runtime::Waiter& waiter, runtime::Node& /*node*/, runtime::Context& /*caller*/) {
            auto& look = static_cast<Look&>(waiter);
            look.users = look.transfer.in_use.use_count();
        }
        const runtime::Transfer& transfer;
        long users = 0;
    };
    run(1, 1, [](Worker& worker) {
        auto& endpoints = worker.node().state<runtime::Endpoints>();
        runtime::Transfer transfer;
        transfer.size = transfer.missing = 8;
        const std::uint64_t number = endpoints.put(transfer);
        Look look(transfer);
        EXPECT_TRUE(transfer.await(look));
        const std::uint64_t part = 1;
        endpoints.on_part({number, 0}, Parcel(std::as_bytes(std::span(&part, 1))));
        EXPECT_EQ(look.users, 2);
        endpoints.forget_transfer(number);
    });
}

/// Each part is counted once, by the transfer or by what is left of it, so another one is refused. Also for
/// ThreadSanitizer.
TEST_P(EndpointCredit, PartsAreCountedWhileTheirReceiveIsGivenUp) {
    if (GetParam().name != "native") GTEST_SKIP() << "all its threads are one";
    constexpr std::uint64_t parts = 100;
    run(1, 1, [](Worker& worker) {
        auto& endpoints = worker.node().state<runtime::Endpoints>();
        const std::byte part{7};
        for (std::uint64_t round = 0; round < 20 * parts; ++round) {
            runtime::Transfer transfer;
            transfer.size = transfer.missing = parts;
            const std::uint64_t number = endpoints.put(transfer);
            std::atomic<std::uint64_t> come{0};
            std::thread handler([&] {
                for (std::uint64_t i = 0; i < parts; ++i) {
                    endpoints.on_part({number, i}, Parcel(std::span(&part, 1)));
                    ++come;
                }
            });
            while (come < round % parts) std::this_thread::yield();
            endpoints.give_up(number, transfer);
            handler.join();
            EXPECT_THROW(endpoints.on_part({number, 0}, Parcel(std::span(&part, 1))),
                         runtime::MalformedMessage);
        }
    });
}

TEST_P(EndpointCredit, AReceiveMayBeBegunInPlaceOfOneThatHasEnded) {
    std::vector<std::uint64_t> tags(100, plain_tag);
    std::size_t received = 0;
    exchange(tags, [&](Strand& self, Endpoint& endpoint) {
        Endpoint::Receive receive;
        for (std::size_t i = 0; i < tags.size(); ++i) {
            receive = endpoint.begin_receive(self.worker(), {}, std::move(receive));
            received += endpoint.end_receive(self, receive).data.size();
        }
    });
    EXPECT_EQ(received, tags.size() * small);
}

#ifdef HEDDLE_SIM
/// Seven messages fill the window and have come. The receiver begins receives of all and computes for long,
/// while its other worker sleeps. The sender is told meanwhile.
TEST(EndpointCreditSim, SendersAreToldWhenReceivesOfMessagesThatAreHereBegin) {
    constexpr std::size_t count = in_window + 3;
    Platform platform;
    platform.nodes = 2;
    platform.cores = 2;
    sim::SimBackend backend(platform, {});
    const auto now = [](Strand& self) { return self.worker().backend->now(self.worker()); };
    Time next_left{}, begun{}, computed{};
    const auto send = [&](Strand& self) {
        Endpoint endpoint(self.worker().node(), 1);
        const auto bytes = std::make_shared<runtime::Bytes>(small, std::byte{7});
        for (std::size_t i = 0; i < count; ++i) {
            endpoint.send(self, {1, 2}, plain_tag, Parcel(runtime::Body(bytes)));
            if (i == in_window) next_left = now(self);
        }
    };
    const auto receive = [&](Strand& self) {
        Endpoint endpoint(self.worker().node(), 2);
        runtime::sleep_for(self, std::chrono::milliseconds(50));
        begun = now(self);
        std::vector<Endpoint::Receive> all(count);
        for (Endpoint::Receive& one : all) one = endpoint.begin_receive(self.worker());
        self.worker().compute({1e9, 0}, [] {});
        computed = now(self);
        for (Endpoint::Receive& one : all)
            EXPECT_EQ(endpoint.end_receive(self, one).data.size(), std::size_t{small});
    };
    const auto begin = [&](Worker& worker) {
        worker.id.node == 0 ? Strand::start(worker, send) : Strand::start(worker, receive);
    };
    runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<OnEachNode>(begin); }).run();
    EXPECT_GT(computed - begun, std::chrono::milliseconds(10));
    EXPECT_GT(next_left, begun);
    EXPECT_LT(next_left, begun + std::chrono::milliseconds(2));
}
#endif

/// An endpoint keeps one for each other that it has sent to.
TEST(EndpointMemory, ALinkOnWhichNoSendWaitsHasNoMemoryBesides) {
    constexpr std::size_t count = 1'000;
    const auto used = [] { return mallinfo2().uordblks; };
    const std::size_t before = used();
    const std::vector<runtime::Outbound> links(count);
    EXPECT_LT(used() - before, count * 128);
    EXPECT_LT(sizeof(runtime::Outbound), 128U);
}

INSTANTIATE_TEST_SUITE_P(Worlds, EndpointCredit, testing::ValuesIn(worlds()),
                         [](const auto& name) { return name.param.name; });

}  // namespace heddle::testing_strands
