// Tests how a process connects to a host that has several addresses.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <vector>

#include "runtime/native/socket.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

namespace {

sockaddr_storage loopback_at(const std::string& port) {
    sockaddr_storage address{};
    auto& v4 = reinterpret_cast<sockaddr_in&>(address);
    v4.sin_family = AF_INET;
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    v4.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
    return address;
}

/// An address that answers nothing, as behind a firewall: of a listener whose queue is full.
class Silent {
public:
    Silent() : listening_(listen_on("127.0.0.1")) {
        EXPECT_EQ(listen(listening_.get(), 0), 0);
        const sockaddr_storage to = address();
        for (int i = 0; i < 100 && !is_silent_; ++i) {
            Descriptor& socket = held_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
            (void)connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), size_of(to));
            pollfd entry{socket.get(), POLLOUT, 0};
            is_silent_ = poll(&entry, 1, 200) == 0;
        }
    }
    bool is_silent() const { return is_silent_; }
    sockaddr_storage address() const { return loopback_at(port_of(local_address(listening_.get()))); }

private:
    Descriptor listening_;
    std::vector<Descriptor> held_;
    bool is_silent_ = false;
};

}  // namespace

TEST(NativeSocket, AnAddressThatDoesNotAnswerLeavesTimeForTheOthers) {
    const Silent silent;
    if (!silent.is_silent()) GTEST_SKIP() << "this system answers also where a queue is full";
    const Descriptor listening = listen_on("127.0.0.1");
    const std::string answering = local_address(listening.get());
    // The other one is there many times, so that the silent one's part of the time is small.
    std::vector<sockaddr_storage> addresses(40, loopback_at(port_of(answering)));
    addresses.front() = silent.address();
    const Deadline deadline = soon();
    const Descriptor socket = connect_to_any(addresses, "two addresses", deadline);
    EXPECT_EQ(remote_address(socket.get()), answering);
    EXPECT_LT(Clock::now(), deadline);
}

// The error is that of the address where a process may listen, and names no firewall.
TEST(NativeSocket, AnAddressThatDoesNotAnswerIsGivenUpForOneThatRefuses) {
    const Silent silent;
    if (!silent.is_silent()) GTEST_SKIP() << "this system answers also where a queue is full";
    std::string port;
    {
        const Descriptor listening = listen_on("127.0.0.1");
        port = port_of(local_address(listening.get()));
    }
    const std::vector<sockaddr_storage> addresses{loopback_at(port), silent.address()};
    const std::string failure = error_of([&] {
        (void)connect_to_any(addresses, "two addresses", Clock::now() + std::chrono::milliseconds(600));
    });
    EXPECT_NE(failure.find("cannot connect to two addresses: Connection refused"), std::string::npos)
        << failure;
}

}  // namespace heddle::native
