// Tests which processes may connect: the handshake, and that forged, changed and recorded ones are refused.
#include <gmock/gmock.h>

#include <cstring>
#include <future>

#include "runtime/backend.hpp"
#include "runtime/native/handshake.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

using testing::HasSubstr;

namespace {

const Key key = make_key();
const Identity low{0, 2, 42, {}};
const Identity high{1, 2, 42, "127.0.0.1:99"};

/// As a process of the same machine, or of another one.
Identity high_with(Protection protection) {
    Identity identity = high;
    identity.protection = protection;
    return identity;
}

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

Outcome shake_hands(Acceptor& acceptor, const Credentials& initiators_key, const Identity& initiator,
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
    for (const Protection protection : {Protection::integrity, Protection::local}) {
        Acceptor one(key, low);
        Acceptor two(key, low);
        const Outcome first = shake_hands(one, key, high_with(protection));
        const Outcome second = shake_hands(two, key, high_with(protection));
        EXPECT_EQ(first.initiator.send_key, one.session().receive_key);
        EXPECT_NE(first.initiator.send_key, second.initiator.send_key);
        EXPECT_NE(first.initiator.receive_key, second.initiator.receive_key);
    }
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
    for (const Protection protection : {Protection::integrity, Protection::local}) {
        Acceptor first(key, low);
        const runtime::Bytes heard = shake_hands(first, key, high_with(protection)).heard;
        ASSERT_EQ(first.state(), Acceptor::State::accepted);
        ASSERT_EQ(heard.size(), sizeof(wire::Hello) + sizeof(wire::Proof));
        Acceptor second(key, low);
        replay(second, heard);
        EXPECT_EQ(second.state(), Acceptor::State::refused);
    }
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

// --- on the way

namespace {

enum class Message : std::uint8_t { hello, challenge, proof, verdict };

/// A handshake over a wire that changes one byte of one message.
struct Changed {
    Message message;
    std::size_t byte;

    void apply(Message now, std::span<std::byte> bytes) const {
        if (now == message && byte < bytes.size()) bytes[byte] ^= std::byte{0x10};
    }
};

Outcome shake_hands_over(const Changed& change, Acceptor& acceptor, const Identity& initiator = high) {
    auto [left, right] = connected_pair();
    Outcome outcome;
    auto initiating = std::async(std::launch::async, [&, &socket = left] {
        outcome.initiator_error =
            error_of([&] { introduce(socket.get(), key, initiator, low.rank, soon(), soon()); });
        socket.reset();
    });
    for (const auto& [asked, answered] :
         {std::pair(Message::hello, Message::challenge), std::pair(Message::proof, Message::verdict)}) {
        if (!read_all(right.get(), acceptor.wanted(), soon()).empty()) break;
        change.apply(asked, acceptor.wanted());
        const auto reply = acceptor.advance(admit_all);
        runtime::Bytes sent(reply.begin(), reply.end());
        if (sent.empty()) break;
        change.apply(answered, sent);
        (void)write_all(right.get(), sent, soon());
    }
    right.reset();
    initiating.get();
    return outcome;
}

}  // namespace

TEST(NativeHandshake, AWireThatChangesNothingIsNotNoticed) {
    Acceptor acceptor(key, low);
    const Outcome outcome = shake_hands_over({Message::hello, sizeof(wire::Hello)}, acceptor);  // behind it
    EXPECT_EQ(outcome.initiator_error, "");
    EXPECT_EQ(acceptor.state(), Acceptor::State::accepted);
}

TEST(NativeHandshake, AChangedByteAnywhereIsNoticed) {
    const std::pair<Message, std::size_t> messages[] = {{Message::hello, sizeof(wire::Hello)},
                                                        {Message::challenge, sizeof(wire::Challenge)},
                                                        {Message::proof, sizeof(wire::Proof)},
                                                        {Message::verdict, sizeof(wire::Verdict)}};
    for (std::size_t i = 0; i < 2 * std::size(messages); ++i) {
        const auto& [message, size] = messages[i / 2];
        const Identity initiator = high_with(i % 2 == 0 ? Protection::integrity : Protection::local);
        for (std::size_t byte = 0; byte < size; ++byte) {
            Acceptor acceptor(key, low);
            const Outcome outcome = shake_hands_over({message, byte}, acceptor, initiator);
            EXPECT_NE(outcome.initiator_error, "") << static_cast<int>(message) << ' ' << byte;
            // The acceptor has nothing left to hear after the proof.
            EXPECT_EQ(acceptor.state() == Acceptor::State::accepted, message == Message::verdict)
                << static_cast<int>(message) << ' ' << byte;
        }
    }
}

TEST(NativeHandshake, AChangedMessageIsNamed) {
    Acceptor first(key, low);
    EXPECT_THAT(
        shake_hands_over({Message::challenge, offsetof(wire::Challenge, fresh)}, first).initiator_error,
        HasSubstr("or a message was changed on the way"));
    Acceptor second(key, low);
    EXPECT_THAT(shake_hands_over({Message::verdict, 0}, second).initiator_error,
                HasSubstr("its verdict was changed on the way"));
}

TEST(NativeHandshake, TheAcceptorLearnsHowTheInitiatorProtectsItsMessages) {
    Identity encrypting = high;
    encrypting.protection = Protection::encryption;
    Acceptor acceptor(key, low);
    const Outcome outcome = shake_hands(acceptor, key, encrypting);
    EXPECT_EQ(acceptor.session().peer.protection, Protection::encryption);
    EXPECT_EQ(outcome.initiator.peer.protection, Protection::encryption);
}

// --- key pairs

namespace {

struct Pairs {
    std::vector<KeyPair> own;
    std::vector<PublicKey> shown;

    explicit Pairs(std::size_t nodes) {
        for (std::size_t node = 0; node < nodes; ++node) {
            own.push_back(make_key_pair());
            shown.push_back(own.back().shown);
        }
    }
    Credentials of(std::size_t node) const { return {own[node], shown}; }
};

}  // namespace

TEST(NativeKeys, BothOwnersOfPairsComputeOneKeyAndOtherPairsAnother) {
    const KeyPair a = make_key_pair();
    const KeyPair b = make_key_pair();
    const KeyPair c = make_key_pair();
    ASSERT_TRUE(pair_key(a, b.shown));
    EXPECT_EQ(pair_key(a, b.shown), pair_key(b, a.shown));
    EXPECT_NE(pair_key(a, b.shown), pair_key(a, c.shown));
    EXPECT_NE(pair_key(a, b.shown), pair_key(c, b.shown));
}

TEST(NativeKeys, APublicKeyTravelsAsText) {
    const KeyPair pair = make_key_pair();
    EXPECT_EQ(public_key_from(text_of(pair.shown)), pair.shown);
    EXPECT_EQ(text_of(pair.shown).size(), 64u);
    for (const std::string text : {"", "ab", "not a key"}) EXPECT_FALSE(public_key_from(text)) << text;
    EXPECT_FALSE(public_key_from(text_of(pair.shown) + "00"));
}

// X25519 gives zero for these points, whatever the secret: RFC 7748, section 6.1, asks to check for that.
TEST(NativeKeys, APublicKeyThatGivesTheSameProductWithEachSecretIsRefused) {
    const KeyPair pair = make_key_pair();
    for (const auto low_order : std::initializer_list<unsigned char>{0, 1}) {
        EXPECT_FALSE(pair_key(pair, PublicKey{low_order}));
        EXPECT_THAT(error_of([&] {
                        Credentials(pair, {pair.shown, PublicKey{low_order}});
                    }),
                    HasSubstr("node 1 has published a key that is none"));
    }
}

TEST(NativeKeys, NodesThatKnowEachOthersPublicKeysShakeHands) {
    const Pairs pairs(3);
    Acceptor acceptor(pairs.of(0), low);
    const Outcome outcome = shake_hands(acceptor, pairs.of(1), high);
    EXPECT_EQ(outcome.initiator_error, "");
    ASSERT_EQ(acceptor.state(), Acceptor::State::accepted);
    EXPECT_EQ(outcome.initiator.send_key, acceptor.session().receive_key);
}

TEST(NativeKeys, APairThatIsNotPublishedIsRefused) {
    const Pairs pairs(2);
    const Credentials stranger(make_key_pair(), pairs.shown);
    Acceptor acceptor(pairs.of(0), low);
    const Outcome outcome = shake_hands(acceptor, stranger, high);
    EXPECT_THAT(outcome.initiator_error, HasSubstr("does not know the run's key"));
    EXPECT_EQ(acceptor.state(), Acceptor::State::refused);
}

TEST(NativeKeys, ANodeCannotPassForAnother) {
    const Pairs pairs(3);
    Acceptor acceptor(pairs.of(0), low);
    shake_hands(acceptor, pairs.of(2), high);  // as node 1
    EXPECT_EQ(acceptor.state(), Acceptor::State::refused);
}

TEST(NativeKeys, WithoutCredentialsNothingIsBelieved) {
    Acceptor acceptor(Credentials(), low);
    shake_hands(acceptor, key, high);
    EXPECT_EQ(acceptor.state(), Acceptor::State::refused);
    Acceptor other(key, low);
    EXPECT_THAT(shake_hands(other, Credentials(), high).initiator_error,
                HasSubstr("this process has no key in common with node 0"));
}

}  // namespace heddle::native
