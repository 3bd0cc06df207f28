// Tests which processes may connect and what a connection carries: the handshake, the frames, and that forged
// ones are refused.
#include <gmock/gmock.h>

#include <cstring>
#include <future>

#include "runtime/native/frame.hpp"
#include "runtime/native/handshake.hpp"
#include "runtime/native/link.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

using testing::HasSubstr;

namespace {

const Key key = make_key();
const Identity low{0, 2, 42, {}};
const Identity high{1, 2, 42, "127.0.0.1:99"};

std::string admit_all(const Identity&) {
    return {};
}

/// Feeds `acceptor` from a socket and answers there. Returns what it was fed.
runtime::Bytes accept_from(Acceptor& acceptor, int socket,
                           const std::function<std::string(const Identity&)>& admit = admit_all) {
    runtime::Bytes heard;
    while (acceptor.state() == Acceptor::State::hello || acceptor.state() == Acceptor::State::proof) {
        const auto wanted = acceptor.wanted();
        if (!read_all(socket, wanted, soon()).empty()) break;
        heard.insert(heard.end(), wanted.begin(), wanted.end());
        (void)write_all(socket, acceptor.advance(admit), soon());
    }
    return heard;
}

/// Feeds `acceptor` with recorded bytes.
void replay(Acceptor& acceptor, std::span<const std::byte> bytes) {
    while (!bytes.empty() && !acceptor.wanted().empty()) {
        const auto wanted = acceptor.wanted();
        ASSERT_GE(bytes.size(), wanted.size());
        std::copy_n(bytes.begin(), wanted.size(), wanted.begin());
        bytes = bytes.subspan(wanted.size());
        (void)acceptor.advance(admit_all);
    }
}

struct Outcome {
    Session initiator;
    std::string initiator_error;
    runtime::Bytes heard;
};

Outcome shake_hands(Acceptor& acceptor, const Key& initiators_key, const Identity& initiator,
                    const std::function<std::string(const Identity&)>& admit = admit_all) {
    auto [left, right] = connected_pair();
    Outcome outcome;
    auto accepting = std::async(std::launch::async, [&, &door = right] {
        outcome.heard = accept_from(acceptor, door.get(), admit);
        door.reset();
    });
    outcome.initiator_error = error_of([&, &socket = left] {
        outcome.initiator = introduce(socket.get(), initiators_key, initiator, low.rank, soon(), soon());
    });
    left.reset();
    accepting.get();
    return outcome;
}

}  // namespace

TEST(NativeHandshake, BothSidesLearnWhoTheOtherIsAndShareKeys) {
    Acceptor acceptor(key, low);
    const Outcome outcome = shake_hands(acceptor, key, high);
    EXPECT_EQ(outcome.initiator_error, "");
    ASSERT_EQ(acceptor.state(), Acceptor::State::accepted);
    const Session& session = acceptor.session();
    EXPECT_EQ(session.peer.rank, 1u);
    EXPECT_EQ(session.peer.fingerprint, 42u);
    EXPECT_EQ(session.peer.address, "127.0.0.1:99");
    EXPECT_EQ(outcome.initiator.peer.fingerprint, 42u);
    EXPECT_EQ(outcome.initiator.send_key, session.receive_key);
    EXPECT_EQ(outcome.initiator.receive_key, session.send_key);
    EXPECT_NE(session.send_key, session.receive_key);
}

TEST(NativeHandshake, SessionsHaveKeysOfTheirOwn) {
    Acceptor one(key, low);
    Acceptor two(key, low);
    const Outcome first = shake_hands(one, key, high);
    const Outcome second = shake_hands(two, key, high);
    EXPECT_NE(first.initiator.send_key, second.initiator.send_key);
    EXPECT_NE(first.initiator.receive_key, second.initiator.receive_key);
}

TEST(NativeHandshake, WhoHasAnotherKeyIsRefused) {
    Acceptor acceptor(key, low);
    const Outcome outcome = shake_hands(acceptor, make_key(), high);
    EXPECT_THAT(outcome.initiator_error, HasSubstr("does not know the run's key"));
    EXPECT_NE(acceptor.state(), Acceptor::State::accepted);
}

TEST(NativeHandshake, AForgedProofIsRefused) {
    Acceptor acceptor(key, low);
    auto [left, right] = connected_pair();
    auto accepting =
        std::async(std::launch::async, [&, &door = right] { accept_from(acceptor, door.get()); });
    // A true hello, recorded, and a proof of zeros.
    Acceptor recorder(key, low);
    runtime::Bytes heard = shake_hands(recorder, key, high).heard;
    std::fill(heard.begin() + sizeof(wire::Hello), heard.end(), std::byte{0});
    EXPECT_EQ(write_all(left.get(), heard, soon()), "");
    accepting.get();
    EXPECT_EQ(acceptor.state(), Acceptor::State::refused);
    EXPECT_THAT(acceptor.refusal(), HasSubstr("does not know the run's key"));
}

TEST(NativeHandshake, ARecordedHandshakeOpensNoDoorAgain) {
    Acceptor first(key, low);
    const runtime::Bytes heard = shake_hands(first, key, high).heard;
    ASSERT_EQ(first.state(), Acceptor::State::accepted);
    ASSERT_EQ(heard.size(), sizeof(wire::Hello) + sizeof(wire::Proof));
    Acceptor second(key, low);
    replay(second, heard);
    EXPECT_EQ(second.state(), Acceptor::State::refused);
}

TEST(NativeHandshake, ANodeIsNotFooledByItsOwnWordsSentBack) {
    auto [left, right] = connected_pair();
    auto mirror = std::async(std::launch::async, [&, &end = right] {
        std::array<std::byte, sizeof(wire::Hello)> hello;
        if (read_all(end.get(), hello, soon()).empty()) (void)write_all(end.get(), hello, soon());
    });
    EXPECT_THAT(error_of([&, &socket = left] { introduce(socket.get(), key, high, 0, soon(), soon()); }),
                HasSubstr("does not know the run's key"));
    mirror.get();
}

TEST(NativeHandshake, TheInitiatorLearnsWhyItIsNotWelcome) {
    Acceptor acceptor(key, low);
    const Outcome outcome =
        shake_hands(acceptor, key, high, [](const Identity&) { return std::string("the node is busy"); });
    EXPECT_THAT(outcome.initiator_error, HasSubstr("the node is busy"));
    EXPECT_EQ(acceptor.refusal(), "the node is busy");
}

TEST(NativeHandshake, WhoWantsAnotherNodeOrAnotherRunIsRefused) {
    Acceptor of_another_node(key, {5, 2, 42, {}});
    shake_hands(of_another_node, key, high);
    EXPECT_EQ(of_another_node.state(), Acceptor::State::refused);
    Acceptor of_a_larger_run(key, {0, 3, 42, {}});
    shake_hands(of_a_larger_run, key, high);
    EXPECT_EQ(of_a_larger_run.state(), Acceptor::State::refused);
}

// --- frames
// ----------------------------------------------------------------------------------------------------------

namespace {

constexpr DirectionKey direction{1, 2, 3};

class NativeFrames : public testing::Test {
protected:
    NativeFrames() {
        auto [left, right] = connected_pair();
        attacker_ = std::move(left);
        Session session;
        session.peer.rank = 7;
        session.receive_key = direction;
        link_ = std::make_unique<Link>(std::make_unique<SocketStream>(std::move(right)), session, 1 << 20);
    }

    void write(std::span<const std::byte> bytes) { ASSERT_EQ(write_all(attacker_.get(), bytes, soon()), ""); }

    void write(const FrameHeader& header, const std::string& payload) {
        write(std::as_bytes(std::span(&header, 1)));
        write(bytes_of(payload));
    }

    std::string receive() {
        const auto text = [](std::span<const std::byte> bytes) {
            return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        };
        return link_->receive([&](FrameKind, std::span<const std::byte> message, const runtime::Body& body) {
            received_.push_back(text(message));
            if (body) received_.push_back("with " + text(*body));
        });
    }

    Sealer sealer_{direction};
    Descriptor attacker_;
    std::unique_ptr<Link> link_;
    std::vector<std::string> received_;
};

}  // namespace

TEST_F(NativeFrames, ATrueFrameArrives) {
    write(sealer_.seal(FrameKind::message, bytes_of("hello")), "hello");
    write(sealer_.seal(FrameKind::message, bytes_of("again")), "again");
    EXPECT_EQ(receive(), "");
    EXPECT_THAT(received_, testing::ElementsAre("hello", "again"));
}

TEST_F(NativeFrames, AFrameMayComeInPieces) {
    const FrameHeader header = sealer_.seal(FrameKind::message, bytes_of("hello"));
    std::string all(reinterpret_cast<const char*>(&header), sizeof header);
    all += "hello";
    for (const char byte : all) {
        EXPECT_TRUE(received_.empty());
        write(bytes_of(std::string(1, byte)));
        EXPECT_EQ(receive(), "");
    }
    EXPECT_THAT(received_, testing::ElementsAre("hello"));
}

TEST_F(NativeFrames, GarbageIsACorruptFrame) {
    write(bytes_of(std::string(100, 'x')));
    EXPECT_EQ(receive(), "it sent a corrupt frame");
    EXPECT_TRUE(received_.empty());
}

TEST_F(NativeFrames, AChangedPayloadIsACorruptFrame) {
    write(sealer_.seal(FrameKind::message, bytes_of("hello")), "jello");
    EXPECT_EQ(receive(), "it sent a corrupt frame");
    EXPECT_TRUE(received_.empty());
}

TEST_F(NativeFrames, AChangedLengthIsNotBelieved) {
    FrameHeader header = sealer_.seal(FrameKind::message, bytes_of("hello"));
    header.length = 1ULL << 60;
    write(header, "hello");
    EXPECT_EQ(receive(), "it sent a corrupt frame");
}

TEST_F(NativeFrames, ATrueFrameThatIsTooLargeIsRefusedBeforeItsPayload) {
    const std::string large((1 << 20) + 1, 'x');
    write(sealer_.seal(FrameKind::message, bytes_of(large)), "");
    EXPECT_THAT(receive(), HasSubstr("1048577 bytes, more than the 1048576 allowed"));
}

TEST_F(NativeFrames, ARecordedFrameIsOutOfOrder) {
    const FrameHeader header = sealer_.seal(FrameKind::message, bytes_of("hello"));
    write(header, "hello");
    write(header, "hello");
    EXPECT_EQ(receive(), "it sent a frame out of order");
    EXPECT_THAT(received_, testing::ElementsAre("hello"));
}

TEST_F(NativeFrames, AFrameOfTheOtherDirectionIsCorrupt) {
    Sealer other(DirectionKey{9});
    write(other.seal(FrameKind::message, bytes_of("hello")), "hello");
    EXPECT_EQ(receive(), "it sent a corrupt frame");
}

TEST_F(NativeFrames, AMalformedBatchIsRefused) {
    const std::string batch(
        "\xff\xff\xff\x7f"
        "abc",
        7);
    write(sealer_.seal(FrameKind::batch, bytes_of(batch)), batch);
    EXPECT_EQ(receive(), "it sent a malformed batch");
}

TEST_F(NativeFrames, ABodyComesWithItsMessageInWhateverPieces) {
    const std::string large(100'000, 'b');
    for (const std::string& body : {std::string("body"), std::string(), large}) {
        write(sealer_.seal(FrameKind::body, bytes_of(body)), body);
        EXPECT_EQ(receive(), "");
        EXPECT_TRUE(received_.empty());
        write(sealer_.seal(FrameKind::message, bytes_of("hello")), "hello");
        write(sealer_.seal(FrameKind::message, bytes_of("alone")), "alone");
        EXPECT_EQ(receive(), "");
        EXPECT_THAT(std::exchange(received_, {}), testing::ElementsAre("hello", "with " + body, "alone"));
    }
}

TEST_F(NativeFrames, ABodyWithoutItsMessageIsRefused) {
    write(sealer_.seal(FrameKind::body, bytes_of("body")), "body");
    write(sealer_.seal(FrameKind::body, bytes_of("body")), "body");
    EXPECT_EQ(receive(), "it sent a body without its message");
}

TEST_F(NativeFrames, ABodyBeforeABatchIsRefused) {
    write(sealer_.seal(FrameKind::body, bytes_of("body")), "body");
    write(sealer_.seal(FrameKind::batch, bytes_of("")), "");
    EXPECT_EQ(receive(), "it sent a body without its message");
}

TEST_F(NativeFrames, AnEndWithoutGoodbyeIsALoss) {
    write(sealer_.seal(FrameKind::message, bytes_of("hello")), "hello");
    attacker_.reset();
    EXPECT_EQ(receive(), "");
    EXPECT_EQ(receive(), "connection closed");
    EXPECT_THAT(received_, testing::ElementsAre("hello"));
}

}  // namespace heddle::native
