// Tests links of which a write fails although both processes live: in one direction, or because memory that
// they share is corrupt. Messages are lost then, so both sides must find the node lost.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <utility>

#include "runtime/native/link.hpp"
#include "runtime/native/shared_stream.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

namespace {

constexpr std::size_t broken_ring_bytes = 64 << 10;

std::pair<Session, Session> sessions() {
    Session left, right;
    left.peer.rank = 1;
    right.peer.rank = 0;
    return {left, right};
}

/// As a socket for which the system has no memory at the moment.
class FailingWrites final : public Stream {
public:
    FailingWrites(Descriptor socket, const bool& fails) : inner_(std::move(socket)), fails_(fails) {}

    std::ptrdiff_t write(std::span<const iovec> parts) override {
        return fails_ ? ended : inner_.write(parts);
    }
    std::ptrdiff_t read(std::span<const iovec> parts) override { return inner_.read(parts); }
    std::string failure() const override { return inner_.failure(); }
    int descriptor() const override { return inner_.descriptor(); }
    void shut_down() override { inner_.shut_down(); }

private:
    SocketStream inner_;
    const bool& fails_;
};

/// What `link` says after some rounds.
std::string received_by(Link& link, int& messages) {
    std::string failure;
    for (int round = 0; round < 5 && failure.empty(); ++round)
        failure = link.receive([&](FrameKind, std::span<const std::byte>, runtime::Body) { ++messages; });
    return failure;
}

}  // namespace

TEST(NativeBrokenLink, AWriteThatFailsEndsTheConnectionOnBothSides) {
    auto [left, right] = connected_pair();
    const auto [of_left, of_right] = sessions();
    bool fails = false;
    Link link(std::make_unique<FailingWrites>(std::move(left), fails), of_left, 1 << 20,
              Protection::integrity);
    Link peer(std::make_unique<SocketStream>(std::move(right)), of_right, 1 << 20, Protection::integrity);
    link.post(FrameKind::message, runtime::Bytes(10), {});
    peer.post(FrameKind::message, runtime::Bytes(10), {});
    EXPECT_EQ(peer.flush(), Link::Flushed::all);
    EXPECT_EQ(link.flush(), Link::Flushed::all);
    fails = true;
    link.post(FrameKind::message, runtime::Bytes(10), {});
    EXPECT_EQ(link.flush(), Link::Flushed::broken);
    fails = false;
    link.post(FrameKind::message, runtime::Bytes(10), {});
    EXPECT_EQ(link.flush(), Link::Flushed::broken) << "no message after one that is lost";
    int at_link = 0;
    int at_peer = 0;
    EXPECT_EQ(received_by(link, at_link), "connection closed");
    EXPECT_EQ(received_by(peer, at_peer), "connection closed");
    EXPECT_EQ(at_link, 1) << "what has come before is read";
    EXPECT_EQ(at_peer, 1);
}

TEST(NativeBrokenLink, MemoryThatAReaderMadeCorruptEndsTheConnectionOnBothSides) {
    auto [left, right] = connected_pair();
    const auto [of_left, of_right] = sessions();
    SharedMemory made = SharedMemory::make(broken_ring_bytes);
    SharedMemory opened =
        SharedMemory::open(Descriptor(dup(made.file().get())), broken_ring_bytes, made.token());
    RingControl& control = opened.control(0);
    Link link(std::make_unique<SharedStream>(std::move(made), std::move(left), SharedStream::Side::maker),
              of_left, 1 << 20, Protection::local);
    Link peer(std::make_unique<SharedStream>(std::move(opened), std::move(right), SharedStream::Side::opener),
              of_right, 1 << 20, Protection::local);
    control.read.store(~std::uint64_t{0} >> 1);
    for (int i = 0; i < 3; ++i) link.post(FrameKind::message, runtime::Bytes(60'000), {});
    EXPECT_EQ(link.flush(), Link::Flushed::broken);
    int messages = 0;
    EXPECT_EQ(received_by(link, messages), "its shared memory is corrupt");
    EXPECT_EQ(received_by(peer, messages), "connection closed");
    EXPECT_LT(messages, 3);
}

}  // namespace heddle::native
