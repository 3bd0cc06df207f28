// Tests what a receive that was begun does to the window of the message's sender: as long as it is not ended
// it keeps the room of its own message and no other, and if it is given up it gives that back.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/comm/endpoint.hpp"
#include "runtime/sources/timers.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::Endpoint;
using runtime::Parcel;

constexpr std::uint64_t kept_tag = 1;
constexpr std::uint64_t plain_tag = 2;

class EndpointCredit : public Strands {
protected:
    /// Endpoint 1 of node 0 sends messages with these tags to endpoint 2 of the last node, where `receive`
    /// runs. Seven of them fill the window.
    void exchange(const std::vector<std::uint64_t>& tags,
                  const std::function<void(Strand&, Endpoint&)>& receive) {
        const NodeId last = nodes(2) - 1;
        run_all(nodes(2), 1, [&](Worker& worker) {
            if (worker.id.node == 0) {
                Strand::start(worker, [&, last](Strand& self) {
                    Endpoint endpoint(self.worker().node(), 1);
                    const runtime::Bytes bytes(Endpoint::eager_max, std::byte{7});
                    for (const std::uint64_t tag : tags)
                        endpoint.send(self, {last, 2}, tag, Parcel(std::span(bytes)));
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
};

}  // namespace

// The sender may have seven messages under way. Four of them wait for receives that are ended last, so
// there is room for three others, as long as their receives give theirs back.
TEST_P(EndpointCredit, BegunReceivesKeepOnlyTheRoomOfTheirOwnMessages) {
    constexpr std::size_t plain = 40;
    std::vector<std::uint64_t> tags;
    for (std::size_t i = 0; i < 4; ++i) tags.insert(tags.end(), {plain_tag, kept_tag});
    tags.resize(4 + plain, plain_tag);
    std::size_t received = 0;
    exchange(tags, [&](Strand& self, Endpoint& endpoint) {
        std::vector<Endpoint::Receive> kept(4);
        for (Endpoint::Receive& receive : kept) receive = endpoint.begin_receive({.tag = kept_tag});
        for (std::size_t i = 0; i < plain; ++i)
            received += endpoint.receive(self, {.tag = plain_tag}).data.size();
        for (Endpoint::Receive& receive : kept) received += endpoint.end_receive(self, receive).data.size();
    });
    EXPECT_EQ(received, (plain + 4) * Endpoint::eager_max);
}

TEST_P(EndpointCredit, AReceiveThatIsGivenUpGivesTheRoomOfItsMessageBack) {
    constexpr std::size_t plain = 20;
    std::vector<std::uint64_t> tags(7, kept_tag);
    tags.resize(7 + plain, plain_tag);
    std::size_t received = 0;
    exchange(tags, [&](Strand& self, Endpoint& endpoint) {
        {
            std::vector<Endpoint::Receive> given_up(7);
            for (Endpoint::Receive& receive : given_up) receive = endpoint.begin_receive({.tag = kept_tag});
            for (Endpoint::Receive& receive : given_up)
                while (!endpoint.has_come(self.worker(), receive))
                    runtime::sleep_for(self, std::chrono::microseconds(1));
        }
        for (std::size_t i = 0; i < plain; ++i)
            received += endpoint.receive(self, {.tag = plain_tag}).data.size();
    });
    EXPECT_EQ(received, plain * Endpoint::eager_max);
}

TEST_P(EndpointCredit, AnEndedReceiveIsUsedAgain) {
    std::vector<std::uint64_t> tags(100, plain_tag);
    std::size_t received = 0;
    exchange(tags, [&](Strand& self, Endpoint& endpoint) {
        Endpoint::Receive receive;
        for (std::size_t i = 0; i < tags.size(); ++i) {
            receive = endpoint.begin_receive({}, std::move(receive));
            received += endpoint.end_receive(self, receive).data.size();
        }
    });
    EXPECT_EQ(received, tags.size() * Endpoint::eager_max);
}

INSTANTIATE_TEST_SUITE_P(Worlds, EndpointCredit, testing::ValuesIn(worlds()),
                         [](const auto& name) { return name.param.name; });

}  // namespace heddle::testing_strands
