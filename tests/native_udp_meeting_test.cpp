// Tests how two processes that have met over TCP come to exchange datagrams: also if one of them still
// connects to others, or is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <utility>
#include <vector>

#include "runtime/native/udp_meeting.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

namespace {

class NativeUdpMeeting : public testing::Test {
protected:
    NativeUdpMeeting() {
        const Descriptor listening = listen_on("127.0.0.1");
        left_ = connect_to(local_address(listening.get()), soon());
        EXPECT_TRUE(wait_until_readable(listening.get(), soon()));
        right_.reset(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        of_left_.peer.rank = 1;
        of_right_.peer.rank = 0;
        of_left_.send_key = of_right_.receive_key = {1};
        of_left_.receive_key = of_right_.send_key = {2};
    }

    static std::vector<UdpPeer> offered(Descriptor& control, const Session& session) {
        std::vector<UdpPeer> one;
        one.push_back(offer_datagrams(std::move(control), session, {}));
        return one;
    }

    Descriptor left_, right_;
    Session of_left_, of_right_;
};

}  // namespace

// A node of many is connected to another one long before it is connected to all.
TEST_F(NativeUdpMeeting, APeerThatStillConnectsToOthersIsWaitedFor) {
    std::vector<UdpPeer> left = offered(left_, of_left_);
    std::vector<UdpPeer> right = offered(right_, of_right_);
    auto early = std::async(std::launch::async, [&] {
        return error_of([&] { (void)meet_by_datagrams(std::move(left), {}, soon(), 1s); });
    });
    std::this_thread::sleep_for(2s);
    EXPECT_EQ(error_of([&] { (void)meet_by_datagrams(std::move(right), {}, soon(), 1s); }), "");
    EXPECT_EQ(early.get(), "");
}

TEST_F(NativeUdpMeeting, SoIsOneThatHasNotOfferedItsPort) {
    std::vector<UdpPeer> left = offered(left_, of_left_);
    auto early = std::async(std::launch::async, [&] {
        return error_of([&] { (void)meet_by_datagrams(std::move(left), {}, soon(), 1s); });
    });
    std::this_thread::sleep_for(2s);
    std::vector<UdpPeer> right = offered(right_, of_right_);
    EXPECT_EQ(error_of([&] { (void)meet_by_datagrams(std::move(right), {}, soon(), 1s); }), "");
    EXPECT_EQ(early.get(), "");
}

// A firewall is no reason for it.
TEST_F(NativeUdpMeeting, OneThatNeverBeginsIsNamed) {
    const std::vector<UdpPeer> right = offered(right_, of_right_);
    const std::string error =
        error_of([&] { (void)meet_by_datagrams(offered(left_, of_left_), {}, Clock::now() + 200ms, 100ms); });
    EXPECT_THAT(error, AllOf(HasSubstr("node 1, by UDP: it did not come to exchange datagrams in time"),
                             testing::Not(HasSubstr("firewall"))));
}

TEST_F(NativeUdpMeeting, OneThatIsGoneIsNamed) {
    const linger at_once{1, 0};
    ASSERT_EQ(setsockopt(right_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    right_.reset();
    ASSERT_TRUE(wait_until_readable(left_.get(), soon()));
    EXPECT_THAT(error_of([&] { (void)offered(left_, of_left_); }), HasSubstr("node 1, by UDP: "));
}

}  // namespace heddle::native
