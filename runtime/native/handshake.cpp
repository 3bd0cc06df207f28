// The initiator's and the acceptor's side of the handshake, with hashes by libsodium.
#include "runtime/native/handshake.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <thread>
#include <type_traits>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::native {

namespace {

/// How long an initiator waits for an acceptor's first answer before it tries again. More than an acceptor
/// gives a connection to authenticate.
constexpr std::chrono::milliseconds challenge_patience{3000};

/// How long an initiator waits before it tries again, at first and at most.
constexpr std::chrono::microseconds pause_min{5'000};
constexpr std::chrono::microseconds pause_max{200'000};

constexpr std::uint64_t magic = 0x31'65'6c'64'64'65'68'00;  // the name and a version

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
    static_assert(std::has_unique_object_representations_v<T>, "no padding goes over the wire");
    return std::as_bytes(std::span(&value, 1));
}

template <class T>
std::span<std::byte> writable_bytes_of(T& value) {
    static_assert(std::has_unique_object_representations_v<T>);
    return std::as_writable_bytes(std::span(&value, 1));
}

using Mac = std::array<unsigned char, 32>;

/// A keyed hash (BLAKE2b) over a label and all that was said up to here.
Mac keyed_hash(const Key& key, std::string_view label, const wire::Hello& hello,
               const wire::Challenge& challenge, bool whole_challenge, std::span<const std::byte> more = {}) {
    std::array<unsigned char, 16> padded{};
    HEDDLE_ASSERT(label.size() <= padded.size());
    std::ranges::copy(label, padded.begin());
    crypto_generichash_state state;
    Mac mac;
    const auto add = [&](const void* data, std::size_t size) {
        crypto_generichash_update(&state, static_cast<const unsigned char*>(data), size);
    };
    crypto_generichash_init(&state, key.data(), key.size(), mac.size());
    add(padded.data(), padded.size());
    add(&hello, sizeof hello);
    add(&challenge, whole_challenge ? sizeof challenge : offsetof(wire::Challenge, mac));
    add(more.data(), more.size());
    crypto_generichash_final(&state, mac.data(), mac.size());
    return mac;
}

bool same(const Mac& a, const Mac& b) {
    return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

Mac challenge_mac(const Key& key, const wire::Hello& hello, const wire::Challenge& challenge) {
    return keyed_hash(key, "acceptor", hello, challenge, false);
}

Mac proof_mac(const Key& key, const wire::Hello& hello, const wire::Challenge& challenge) {
    return keyed_hash(key, "initiator", hello, challenge, true);
}

Mac verdict_mac(const Key& key, const wire::Hello& hello, const wire::Challenge& challenge,
                const wire::Verdict& verdict) {
    return keyed_hash(key, "verdict", hello, challenge, true, bytes_of(verdict.refusal));
}

/// The keys of the direction from the initiator and of the direction to it.
std::pair<DirectionKey, DirectionKey> direction_keys(const Key& key, const wire::Hello& hello,
                                                     const wire::Challenge& challenge) {
    const Mac both = keyed_hash(key, "session", hello, challenge, true);
    std::pair<DirectionKey, DirectionKey> keys;
    std::copy_n(both.begin(), 16, keys.first.begin());
    std::copy_n(both.begin() + 16, 16, keys.second.begin());
    return keys;
}

template <std::size_t size>
void put_text(std::array<char, size>& to, const std::string& text) {
    to.fill(0);
    std::copy_n(text.begin(), std::min(text.size(), size - 1), to.begin());
}

template <std::size_t size>
std::string get_text(const std::array<char, size>& from) {
    return {from.begin(), std::find(from.begin(), from.end(), '\0')};
}

void need_sodium() {
    HEDDLE_ASSERT(sodium_init() >= 0);
}

}  // namespace

std::string name_of(NodeId rank) {
    return rank == rendezvous_rank ? "the rendezvous" : fmt::format("node {}", rank);
}

Acceptor::Acceptor(const Key& key, const Identity& self) : key_(key), self_(self) {
    need_sodium();
}

std::span<std::byte> Acceptor::wanted() {
    switch (state_) {
        case State::hello:
            return writable_bytes_of(hello_);
        case State::proof:
            return writable_bytes_of(proof_);
        default:
            return {};
    }
}

std::span<const std::byte> Acceptor::advance(const std::function<std::string(const Identity&)>& admit) {
    switch (state_) {
        case State::hello:
            return take_hello();
        case State::proof:
            return take_proof(admit);
        default:
            return {};
    }
}

void Acceptor::refuse(std::string reason) {
    state_ = State::refused;
    refusal_ = std::move(reason);
}

std::span<const std::byte> Acceptor::take_hello() {
    if (hello_.magic != magic) {
        refuse("it does not speak Heddle's protocol");
        return {};
    }
    if (hello_.to != self_.rank || hello_.nodes != self_.nodes) {
        refuse("it belongs to another run");
        return {};
    }
    challenge_.magic = magic;
    challenge_.fingerprint = self_.fingerprint;
    randombytes_buf(challenge_.nonce.data(), challenge_.nonce.size());
    challenge_.mac = challenge_mac(key_, hello_, challenge_);
    state_ = State::proof;
    return bytes_of(challenge_);
}

std::span<const std::byte> Acceptor::take_proof(const std::function<std::string(const Identity&)>& admit) {
    if (!same(proof_.mac, proof_mac(key_, hello_, challenge_))) {
        refuse("it does not know the run's key");
        return {};
    }
    session_.peer = {hello_.from, hello_.nodes, hello_.fingerprint, get_text(hello_.address)};
    std::tie(session_.receive_key, session_.send_key) = direction_keys(key_, hello_, challenge_);
    state_ = State::accepted;
    if (std::string reason = admit(session_.peer); !reason.empty()) refuse(std::move(reason));
    put_text(verdict_.refusal, refusal_);
    verdict_.mac = verdict_mac(key_, hello_, challenge_, verdict_);
    return bytes_of(verdict_);
}

Session introduce(int socket, const Key& key, const Identity& self, NodeId to, Deadline challenge_deadline,
                  Deadline deadline) {
    need_sodium();
    const auto text_of = [&](const std::string& failure) {
        return fmt::format("{} at {} did not accept node {}: {}", name_of(to), remote_address(socket),
                           self.rank, failure);
    };
    const auto check_io = [&](const std::string& failure) {
        if (!failure.empty()) throw NoAnswer(text_of(failure));
    };
    const auto check = [&](const std::string& failure) {
        if (!failure.empty()) throw Error(text_of(failure));
    };
    wire::Hello hello{};
    hello.magic = magic;
    hello.fingerprint = self.fingerprint;
    hello.nodes = self.nodes;
    hello.from = self.rank;
    hello.to = to;
    randombytes_buf(hello.nonce.data(), hello.nonce.size());
    if (self.address.size() >= hello.address.size())
        throw Error(fmt::format("the address {} is too long", self.address), "use a numeric address");
    put_text(hello.address, self.address);
    check_io(write_all(socket, bytes_of(hello), challenge_deadline));

    wire::Challenge challenge;
    check_io(read_all(socket, writable_bytes_of(challenge), challenge_deadline));
    if (challenge.magic != magic || !same(challenge.mac, challenge_mac(key, hello, challenge)))
        check("it does not know the run's key");
    const wire::Proof proof{proof_mac(key, hello, challenge)};
    check_io(write_all(socket, bytes_of(proof), deadline));

    wire::Verdict verdict;
    // An acceptor that has the proof may have accepted: a second connection from this node would be refused,
    // so the initiator waits for the verdict as long as it may.
    check_io(read_all(socket, writable_bytes_of(verdict), deadline));
    if (!same(verdict.mac, verdict_mac(key, hello, challenge, verdict)))
        check("its verdict was changed on the way");
    check(get_text(verdict.refusal));

    Session session;
    session.peer = {to, self.nodes, challenge.fingerprint, {}};
    std::tie(session.send_key, session.receive_key) = direction_keys(key, hello, challenge);
    return session;
}

Connection introduce_until(const std::string& address, const Key& key,
                           const std::function<Identity(int socket)>& identify, NodeId to,
                           Deadline deadline) {
    return introduce_until([&] { return connect_to(address, deadline); }, key, identify, to, deadline);
}

Connection introduce_until(const std::function<Descriptor()>& connect, const Key& key,
                           const std::function<Identity(int socket)>& identify, NodeId to,
                           Deadline deadline) {
    for (auto pause = pause_min;; pause = std::min(2 * pause, pause_max)) {
        Descriptor socket = connect();
        if (!socket) return {};
        try {
            const Deadline challenge_deadline = std::min(deadline, Clock::now() + challenge_patience);
            const Session session =
                introduce(socket.get(), key, identify(socket.get()), to, challenge_deadline, deadline);
            return {std::move(socket), session};
        } catch (const NoAnswer&) {
            if (Clock::now() + pause >= deadline) throw;
        }
        // Initiators that were dropped together must not come back together.
        const auto jitter = static_cast<std::int64_t>(randombytes_uniform(1000));
        std::this_thread::sleep_for(pause + pause * jitter / 1000);
    }
}

}  // namespace heddle::native
