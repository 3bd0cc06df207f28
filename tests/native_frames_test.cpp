// Tests what a connection carries: frames arrive whole and in order, whatever the pieces in which they come.
// A frame that is forged, changed, repeated, left out or sent back ends the connection. Both ways to protect
// frames are tried.
#include <gmock/gmock.h>

#include <initializer_list>
#include <memory>
#include <utility>

#include "runtime/native/frame.hpp"
#include "runtime/native/link.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr DirectionKey direction{1, 2, 3};
constexpr std::uint64_t bytes_max = 1 << 20;

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A frame as it travels.
std::string sealed(Sealer& sealer, FrameKind kind, const std::string& payload) {
    const FrameHeader header = sealer.begin(kind, payload.size());
    runtime::Bytes content(bytes_of(payload).begin(), bytes_of(payload).end());
    sealer.seal(content, content.data());
    const PayloadTag tag = sealer.finish();
    return text_of(std::as_bytes(std::span(&header, 1))) + text_of(content) +
           text_of(std::span(tag).first(sealer.tag_bytes()));
}

class NativeFrames : public testing::TestWithParam<Protection> {
protected:
    NativeFrames() { connect(); }

    void connect() {
        auto [left, right] = connected_pair();
        attacker_ = std::move(left);
        Session session;
        session.peer.rank = 7;
        session.receive_key = direction;
        link_ = std::make_unique<Link>(std::make_unique<SocketStream>(std::move(right)), session, bytes_max,
                                       GetParam());
        sealer_ = std::make_unique<Sealer>(direction, GetParam());
        received_.clear();
    }

    using Content = std::pair<FrameKind, std::string>;

    std::string frame(FrameKind kind, const std::string& payload) { return sealed(*sealer_, kind, payload); }

    std::string frames(std::initializer_list<Content> contents) {
        std::string all;
        for (const auto& [kind, payload] : contents) all += frame(kind, payload);
        return all;
    }

    void write(const std::string& bytes) {
        ASSERT_EQ(write_all(attacker_.get(), bytes_of(bytes), soon()), "");
    }

    std::string receive() {
        return link_->receive(
            [&](FrameKind, std::span<const std::byte> message, const runtime::Body& body) {
                received_.push_back(text_of(message));
                if (body) received_.push_back("with " + text_of(*body));
            },
            room_);
    }

    /// Reads in turns with a writer, so that no socket's room is the limit.
    std::string exchange(const std::string& bytes, std::size_t step) {
        for (std::size_t i = 0; i < bytes.size(); i += step) {
            write(bytes.substr(i, step));
            if (std::string failure = receive(); !failure.empty()) return failure;
        }
        return {};
    }

    std::unique_ptr<Sealer> sealer_;
    Descriptor attacker_;
    std::unique_ptr<Link> link_;
    std::vector<std::string> received_;
    Link::RoomFor room_;
};

std::string name_of_protection(const testing::TestParamInfo<Protection>& info) {
    return name(info.param);
}
INSTANTIATE_TEST_SUITE_P(Each, NativeFrames,
                         testing::Values(Protection::integrity, Protection::encryption, Protection::headers),
                         name_of_protection);

}  // namespace

TEST_P(NativeFrames, ATrueFrameArrives) {
    write(frame(FrameKind::message, "hello"));
    write(frame(FrameKind::message, ""));
    write(frame(FrameKind::message, "again"));
    EXPECT_EQ(receive(), "");
    EXPECT_THAT(received_, ElementsAre("hello", "", "again"));
}

TEST_P(NativeFrames, AFrameMayComeInPieces) {
    const std::string all = frame(FrameKind::message, "hello");
    EXPECT_EQ(exchange(all.substr(0, all.size() - 1), 1), "");
    EXPECT_TRUE(received_.empty());
    EXPECT_EQ(exchange(all.substr(all.size() - 1), 1), "");
    EXPECT_THAT(received_, ElementsAre("hello"));
}

TEST_P(NativeFrames, ALargeFrameMayComeInPiecesOfAnySize) {
    const std::string large(600'001, 'm');
    for (const std::size_t step : {4099U, 65'536U, 100'000U}) {
        EXPECT_EQ(exchange(frames({{FrameKind::message, large}, {FrameKind::message, "small"}}), step), "");
        EXPECT_THAT(std::exchange(received_, {}), ElementsAre(large, "small")) << step;
    }
}

TEST_P(NativeFrames, ABodyComesWithItsMessageInPiecesOfAnySize) {
    const std::string large(300'003, 'b');
    for (const std::size_t step : {37U, 4099U, 65'536U, 100'000U}) {
        for (const std::string& body : {std::string("body"), std::string(), step > 37 ? large : "bodies"}) {
            EXPECT_EQ(exchange(frame(FrameKind::enclosing, "hello"), step), "");
            EXPECT_TRUE(received_.empty());
            EXPECT_EQ(exchange(frames({{FrameKind::body, body}, {FrameKind::message, "alone"}}), step), "");
            EXPECT_THAT(std::exchange(received_, {}), ElementsAre("hello", "with " + body, "alone")) << step;
        }
    }
}

TEST_P(NativeFrames, ABodyGoesWhereItsMessageHasRoom) {
    const std::string body(300'003, 'b');
    for (const std::size_t step : {4099U, 65'536U, 100'000U}) {
        std::string room(body.size() + 2, '.');
        const auto keeper = std::make_shared<char>();
        room_ = [&](std::span<const std::byte> message, std::uint64_t bytes) -> Link::Room {
            EXPECT_EQ(text_of(message), "hello");
            EXPECT_EQ(bytes, body.size());
            return {std::as_writable_bytes(std::span(room)).subspan(1, bytes), keeper};
        };
        const std::string all = frames({{FrameKind::enclosing, "hello"}, {FrameKind::body, body}});
        EXPECT_EQ(exchange(all.substr(0, all.size() - 1), step), "");
        EXPECT_EQ(keeper.use_count(), 2) << "it is being filled";
        EXPECT_EQ(exchange(all.substr(all.size() - 1) + frame(FrameKind::message, "alone"), step), "");
        EXPECT_THAT(std::exchange(received_, {}), ElementsAre("hello", "alone")) << step;
        EXPECT_EQ(room, "." + body + ".");
        EXPECT_EQ(keeper.use_count(), 1);
    }
}

// Nothing is written beyond the room.
TEST_P(NativeFrames, ABodyThatDoesNotFitComesWithItsMessage) {
    std::string room(10, '.');
    room_ = [&](auto&&...) -> Link::Room { return {std::as_writable_bytes(std::span(room)), {}}; };
    EXPECT_EQ(exchange(frames({{FrameKind::enclosing, "hello"}, {FrameKind::body, "a long body"}}), 7), "");
    EXPECT_THAT(received_, ElementsAre("hello", "with a long body"));
    EXPECT_EQ(room, "..........");
}

TEST_P(NativeFrames, GarbageIsACorruptFrame) {
    write(std::string(100, 'x'));
    EXPECT_EQ(receive(), "it sent a corrupt frame");
    EXPECT_TRUE(received_.empty());
}

// Each bit of a frame's header, payload and tag.
TEST_P(NativeFrames, AFlippedBitAnywhereIsNoticed) {
    const std::string payload = "the payload of a frame";
    const std::size_t bits = 8 * frame(FrameKind::message, payload).size();
    for (std::size_t bit = 0; bit < bits; ++bit) {
        connect();
        std::string changed = frame(FrameKind::message, payload);
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
        write(changed);
        EXPECT_EQ(receive(), "it sent a corrupt frame") << bit;
        EXPECT_TRUE(received_.empty()) << bit;
    }
}

TEST_P(NativeFrames, AFlippedBitAnywhereInABodyIsNoticed) {
    const std::string body(70'000, 'b');
    const std::size_t bytes = sizeof(FrameHeader) + body.size();
    for (const std::size_t place : {sizeof(FrameHeader), bytes / 2, bytes - 1, bytes, bytes + 7}) {
        connect();
        std::string changed = frame(FrameKind::enclosing, "hello");
        const std::size_t begin = changed.size();
        changed += frame(FrameKind::body, body);
        changed[begin + place] = static_cast<char>(changed[begin + place] ^ 1);
        // With headers, a change of the body itself is not noticed; one of its tag is.
        const bool noticed = GetParam() != Protection::headers || place >= bytes;
        EXPECT_EQ(exchange(changed, 65'536), noticed ? "it sent a corrupt frame" : "") << place;
        EXPECT_EQ(received_.empty(), noticed) << place;
    }
}

TEST_P(NativeFrames, ATrueFrameThatIsTooLargeIsRefusedBeforeItsPayload) {
    const FrameHeader header = sealer_->begin(FrameKind::message, bytes_max + 1);
    write(text_of(std::as_bytes(std::span(&header, 1))));
    EXPECT_THAT(receive(), HasSubstr("1048577 bytes, more than the 1048576 allowed"));
}

TEST_P(NativeFrames, ARecordedFrameIsOutOfOrder) {
    const std::string hello = frame(FrameKind::message, "hello");
    write(hello + hello);
    EXPECT_EQ(receive(), "it sent a frame out of order");
    EXPECT_THAT(received_, ElementsAre("hello"));
}

TEST_P(NativeFrames, FramesThatChangedPlacesAreOutOfOrder) {
    const std::string first = frame(FrameKind::message, "first");
    const std::string second = frame(FrameKind::message, "second");
    write(second + first);
    EXPECT_EQ(receive(), "it sent a frame out of order");
    EXPECT_TRUE(received_.empty());
}

TEST_P(NativeFrames, AFrameThatIsLeftOutIsMissed) {
    (void)frame(FrameKind::message, "left out");
    write(frame(FrameKind::message, "second"));
    EXPECT_EQ(receive(), "it sent a frame out of order");
}

// A frame with the header of one and the payload and tag of another of the same length.
TEST_P(NativeFrames, APayloadBelongsToItsFrame) {
    const std::string first = frame(FrameKind::message, "first");
    const std::string other = frame(FrameKind::message, "other");
    write(first.substr(0, sizeof(FrameHeader)) + other.substr(sizeof(FrameHeader)));
    EXPECT_EQ(receive(), "it sent a corrupt frame");
    EXPECT_TRUE(received_.empty());
}

TEST_P(NativeFrames, AFrameOfTheOtherDirectionIsCorrupt) {
    Sealer other(DirectionKey{9}, GetParam());
    write(sealed(other, FrameKind::message, "hello"));
    EXPECT_EQ(receive(), "it sent a corrupt frame");
}

TEST_P(NativeFrames, WhatTheReceiverHasSentIsRefusedIfItComesBack) {
    Session session;
    session.send_key = DirectionKey{4};
    session.receive_key = direction;
    auto [left, right] = connected_pair();
    Link link(std::make_unique<SocketStream>(std::move(left)), session, bytes_max, GetParam());
    EXPECT_FALSE(link.post(FrameKind::abort, runtime::Bytes(5)));
    std::array<std::byte, sizeof(FrameHeader) + 5> sent;
    ASSERT_EQ(read_all(right.get(), sent, soon()), "");
    ASSERT_EQ(write_all(right.get(), sent, soon()), "");
    EXPECT_EQ(link.receive([](auto&&...) { ADD_FAILURE(); }), "it sent a corrupt frame");
}

TEST_P(NativeFrames, AFrameOfTheOtherProtectionIsCorrupt) {
    Sealer other(direction,
                 GetParam() == Protection::encryption ? Protection::integrity : Protection::encryption);
    write(sealed(other, FrameKind::message, "hello") + std::string(16, '\0'));
    EXPECT_EQ(receive(), "it sent a corrupt frame");
}

TEST_P(NativeFrames, AMalformedBatchIsRefused) {
    write(frame(FrameKind::batch, std::string("\xff\xff\xff\x7f"
                                              "abc",
                                              7)));
    EXPECT_EQ(receive(), "it sent a malformed batch");
}

TEST_P(NativeFrames, ABodyWithoutItsMessageIsRefused) {
    write(frames({{FrameKind::enclosing, "hello"}, {FrameKind::body, "body"}, {FrameKind::body, "body"}}));
    EXPECT_EQ(receive(), "it sent a body without its message");
}

TEST_P(NativeFrames, AMessageWithoutItsBodyIsRefused) {
    for (const FrameKind next : {FrameKind::batch, FrameKind::message, FrameKind::enclosing}) {
        connect();
        write(frames({{FrameKind::enclosing, "hello"}, {next, ""}}));
        EXPECT_EQ(receive(), "it sent a message without its body");
        EXPECT_TRUE(received_.empty());
    }
}

TEST_P(NativeFrames, AnEndWithoutGoodbyeIsALoss) {
    write(frame(FrameKind::message, "hello"));
    attacker_.reset();
    EXPECT_EQ(receive(), "");
    EXPECT_EQ(receive(), "connection closed");
    EXPECT_THAT(received_, ElementsAre("hello"));
}

}  // namespace heddle::native
