// Tests what a program sees that reads everything between two processes. With `integrity` it sees the text of
// messages, with `encryption` none of it. A relay between the two records both directions, from the handshake
// to the last frame.
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>

#include <future>
#include <memory>

#include "runtime/native/handshake.hpp"
#include "runtime/native/link.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

namespace {

using testing::HasSubstr;
using testing::Not;

/// Passes bytes on between two sockets, and records them, until both directions have ended.
std::string relay(Descriptor left, Descriptor right) {
    std::string seen;
    pollfd ends[] = {{left.get(), POLLIN, 0}, {right.get(), POLLIN, 0}};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        poll(ends, 2, 1000);
        for (const int from : {0, 1}) {
            if (ends[from].fd < 0 || ends[from].revents == 0) continue;
            std::string bytes(65536, '\0');
            const int to = from == 0 ? right.get() : left.get();
            const auto count = recv(ends[from].fd, bytes.data(), bytes.size(), 0);
            bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
            seen += bytes;
            if (bytes.empty() || !write_all(to, bytes_of(bytes), soon()).empty()) {
                shutdown(to, SHUT_WR);
                ends[from].fd = -1;
            }
        }
    }
    return seen;
}

Session accept_from(int socket, const Key& key) {
    Acceptor acceptor(key, {0, 2, 42, {}});
    while (!acceptor.wanted().empty()) {
        EXPECT_EQ(read_all(socket, acceptor.wanted(), soon()), "");
        EXPECT_EQ(write_all(socket, acceptor.advance([](const Identity&) { return std::string(); }), soon()),
                  "");
    }
    return acceptor.session();
}

runtime::Bytes repeated(const std::string& text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return {bytes_of(all).begin(), bytes_of(all).end()};
}

const std::string small = "the text of a small message";
const std::string alone = "the text of a message that is large";
const std::string enclosed = "the text of a body";

/// Sends all kinds of messages, and reads the same from the other side.
void talk(Link& link) {
    const runtime::Bytes large = repeated(alone, 10'000);
    link.post(FrameKind::message, repeated(small, 1));
    link.post(FrameKind::message, runtime::Bytes(large));
    link.post(FrameKind::message, repeated(small, 1),
              std::make_shared<runtime::Bytes>(repeated(enclosed, 50'000)));
    link.post(FrameKind::goodbye, {});
    runtime::Bytes received;
    std::string failure;
    const Deadline deadline = soon();
    while (!link.ended() && failure.empty() && Clock::now() < deadline) {
        (void)link.flush();
        failure = link.receive([&](FrameKind, std::span<const std::byte> message, const runtime::Body& body) {
            received.insert(received.end(), message.begin(), message.end());
            if (body) received.insert(received.end(), body->begin(), body->end());
        });
    }
    EXPECT_EQ(failure, "");
    while (link.flush() == Link::Flushed::blocked) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    runtime::Bytes expected = repeated(small, 1);
    for (const auto& part : {large, repeated(small, 1), repeated(enclosed, 50'000)})
        expected.insert(expected.end(), part.begin(), part.end());
    EXPECT_TRUE(received == expected);
}

/// What was seen between two processes that say the same to each other.
std::string seen_between(Protection protection, const Key& key) {
    auto [initiator, left] = connected_pair();
    auto [right, acceptor] = connected_pair();
    auto seen = std::async(std::launch::async, relay, std::move(left), std::move(right));
    auto accepting = std::async(std::launch::async, [&, &socket = acceptor] {
        const Session session = accept_from(socket.get(), key);
        Link link(std::make_unique<SocketStream>(std::move(socket)), session, 1 << 24, protection);
        talk(link);
    });
    {
        const Session session =
            introduce(initiator.get(), key, {1, 2, 42, {}, protection}, 0, soon(), soon());
        Link link(std::make_unique<SocketStream>(std::move(initiator)), session, 1 << 24, protection);
        talk(link);
        accepting.get();
    }
    return seen.get();
}

}  // namespace

TEST(NativeWire, WithIntegrityTheTextOfMessagesIsSeen) {
    for (const Protection protection : {Protection::integrity, Protection::headers}) {
        const std::string seen = seen_between(protection, make_key());
        EXPECT_GT(seen.size(), 2U << 20);
        for (const std::string& text : {small, alone, enclosed})
            EXPECT_TRUE(seen.find(text) != std::string::npos) << text;
    }
}

TEST(NativeWire, WithEncryptionNoTextIsSeen) {
    const std::string seen = seen_between(Protection::encryption, make_key());
    EXPECT_GT(seen.size(), 2U << 20);
    // Nor a part of it that has the length of a word.
    for (const std::string& text : {small, alone, enclosed})
        for (std::size_t i = 0; i + 6 <= text.size(); ++i)
            EXPECT_TRUE(seen.find(text.substr(i, 6)) == std::string::npos) << text.substr(i, 6);
}

TEST(NativeWire, TheKeyOfTheRunIsNeverSeen) {
    for (const Protection protection : {Protection::integrity, Protection::encryption}) {
        const Key key = make_key();
        const std::string seen = seen_between(protection, key);
        EXPECT_TRUE(seen.find(std::string(key.begin(), key.end())) == std::string::npos);
        EXPECT_TRUE(seen.find(text_of(key)) == std::string::npos);
    }
}

// The same bytes twice under one key would show which messages are equal.
TEST(NativeWire, EqualMessagesAreEncryptedDifferently) {
    const DirectionKey key{5};
    Sealer sealer(key, Protection::encryption);
    std::vector<runtime::Bytes> sealed;
    for (int i = 0; i < 2; ++i) {
        runtime::Bytes payload = repeated(small, 1);
        (void)sealer.begin(FrameKind::message, payload.size());
        sealer.seal(payload, payload.data());
        (void)sealer.finish();
        sealed.push_back(payload);
    }
    EXPECT_NE(sealed[0], sealed[1]);
    EXPECT_NE(sealed[0], repeated(small, 1));
}

}  // namespace heddle::native
