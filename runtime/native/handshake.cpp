// The initiator's and the acceptor's side of the handshake, with X25519 and keyed hashes by libsodium.
#include "runtime/native/handshake.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
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

constexpr std::uint64_t magic = 0x32'65'6c'64'64'65'68'00;  // the name and a version

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

/// A keyed hash (BLAKE2b) over a label and `parts`, whose sizes the label determines.
Mac keyed_hash(const Key& key, std::string_view label,
               std::initializer_list<std::span<const std::byte>> parts) {
    std::array<unsigned char, 16> padded{};
    HEDDLE_ASSERT(label.size() <= padded.size());
    std::ranges::copy(label, padded.begin());
    crypto_generichash_state state;
    Mac mac;
    crypto_generichash_init(&state, key.data(), key.size(), mac.size());
    crypto_generichash_update(&state, padded.data(), padded.size());
    for (const auto part : parts)
        crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(part.data()), part.size());
    crypto_generichash_final(&state, mac.data(), mac.size());
    return mac;
}

bool same(const Mac& a, const Mac& b) {
    return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

/// A message without the hash that ends it.
template <class T>
std::span<const std::byte> before_mac(const T& message) {
    return bytes_of(message).first(offsetof(T, mac));
}

/// Within a machine no program between the two can record anything: there the fresh keys are only numbers
/// that are used once, and have no product. Of many processes on a machine each meets each other, so the time
/// for a handshake counts.
bool has_product(const wire::Hello& hello) {
    return hello.protection != Protection::local;
}

KeyPair make_fresh(const wire::Hello& hello) {
    if (has_product(hello)) return make_key_pair();
    KeyPair numbers{};
    randombytes_buf(numbers.shown.data(), numbers.shown.size());
    return numbers;
}

/// The key of a handshake: of the run's key, the product of the fresh keys, and all that was said before.
/// Nothing if the other side's fresh key is none. Forgets `own`'s secret.
std::optional<Key> joint_key(const Key& key, KeyPair& own, const PublicKey& other, const wire::Hello& hello,
                             const wire::Challenge& challenge) {
    if (!has_product(hello)) return keyed_hash(key, "joint here", {bytes_of(hello), before_mac(challenge)});
    auto product = pair_key(own, other);
    sodium_memzero(own.secret.data(), own.secret.size());
    if (!product) return std::nullopt;
    const Key joint = keyed_hash(key, "joint", {bytes_of(hello), before_mac(challenge), bytes_of(*product)});
    sodium_memzero(product->data(), product->size());
    return joint;
}

Mac challenge_mac(const Key& joint, const wire::Hello& hello, const wire::Challenge& challenge) {
    return keyed_hash(joint, "acceptor", {bytes_of(hello), before_mac(challenge)});
}

Mac proof_mac(const Key& joint, const wire::Hello& hello, const wire::Challenge& challenge) {
    return keyed_hash(joint, "initiator", {bytes_of(hello), bytes_of(challenge)});
}

Mac verdict_mac(const Key& joint, const wire::Hello& hello, const wire::Challenge& challenge,
                const wire::Verdict& verdict) {
    return keyed_hash(joint, "verdict", {bytes_of(hello), bytes_of(challenge), bytes_of(verdict.refusal)});
}

/// The keys of the direction from the initiator and of the direction to it.
std::pair<DirectionKey, DirectionKey> direction_keys(const Key& joint, const wire::Hello& hello,
                                                     const wire::Challenge& challenge) {
    return {keyed_hash(joint, "from initiator", {bytes_of(hello), bytes_of(challenge)}),
            keyed_hash(joint, "to initiator", {bytes_of(hello), bytes_of(challenge)})};
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

std::array<unsigned char, 32> hello_mac(const Key& key, const wire::Hello& hello) {
    return keyed_hash(key, "hello", {before_mac(hello)});
}

std::string name_of(NodeId rank) {
    return rank == rendezvous_rank ? "the rendezvous" : fmt::format("node {}", rank);
}

Acceptor::Acceptor(const Credentials& credentials, const Identity& self)
    : credentials_(credentials), self_(self) {
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
    const std::optional<Key> key = credentials_.key_with(hello_.from);
    if (key && same(hello_.mac, hello_mac(*key, hello_))) return challenge(*key);
    refuse("it does not know the run's key");
    // A challenge that no key explains, so that the initiator learns why.
    challenge_.magic = magic;
    randombytes_buf(challenge_.fresh.data(), challenge_.fresh.size());
    randombytes_buf(challenge_.mac.data(), challenge_.mac.size());
    return bytes_of(challenge_);
}

std::span<const std::byte> Acceptor::challenge(const Key& key) {
    KeyPair fresh = make_fresh(hello_);
    challenge_.magic = magic;
    challenge_.fingerprint = self_.fingerprint;
    challenge_.fresh = fresh.shown;
    const std::optional<Key> joint = joint_key(key, fresh, hello_.fresh, hello_, challenge_);
    if (!joint) {
        refuse("its fresh key is none");
        return {};
    }
    joint_ = *joint;
    challenge_.mac = challenge_mac(joint_, hello_, challenge_);
    state_ = State::proof;
    return bytes_of(challenge_);
}

std::span<const std::byte> Acceptor::take_proof(const std::function<std::string(const Identity&)>& admit) {
    if (!same(proof_.mac, proof_mac(joint_, hello_, challenge_))) {
        refuse("it does not know the run's key");
        return {};
    }
    session_.peer = {hello_.from, hello_.nodes, hello_.fingerprint, get_text(hello_.address),
                     hello_.protection};
    std::tie(session_.receive_key, session_.send_key) = direction_keys(joint_, hello_, challenge_);
    state_ = State::accepted;
    if (std::string reason = admit(session_.peer); !reason.empty()) refuse(std::move(reason));
    put_text(verdict_.refusal, refusal_);
    verdict_.mac = verdict_mac(joint_, hello_, challenge_, verdict_);
    sodium_memzero(joint_.data(), joint_.size());
    return bytes_of(verdict_);
}

Session introduce(int socket, const Credentials& credentials, const Identity& self, NodeId to,
                  Deadline challenge_deadline, Deadline deadline) {
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
    const std::optional<Key> key = credentials.key_with(to);
    if (!key) throw Error(fmt::format("this process has no key in common with {}", name_of(to)));
    wire::Hello hello{};
    hello.magic = magic;
    hello.fingerprint = self.fingerprint;
    hello.nodes = self.nodes;
    hello.from = self.rank;
    hello.to = to;
    hello.protection = self.protection;
    KeyPair fresh = make_fresh(hello);
    hello.fresh = fresh.shown;
    if (self.address.size() >= hello.address.size())
        throw Error(fmt::format("the address {} is too long", self.address), "use a numeric address");
    put_text(hello.address, self.address);
    hello.mac = hello_mac(*key, hello);
    check_io(write_all(socket, bytes_of(hello), challenge_deadline));

    wire::Challenge challenge;
    check_io(read_all(socket, writable_bytes_of(challenge), challenge_deadline));
    std::optional<Key> joint = joint_key(*key, fresh, challenge.fresh, hello, challenge);
    if (challenge.magic != magic || !joint || !same(challenge.mac, challenge_mac(*joint, hello, challenge)))
        check("it does not know the run's key, or a message was changed on the way");
    const wire::Proof proof{proof_mac(*joint, hello, challenge)};
    check_io(write_all(socket, bytes_of(proof), deadline));

    wire::Verdict verdict;
    // An acceptor that has the proof may have accepted: a second connection from this node would be refused,
    // so the initiator waits for the verdict as long as it may.
    check_io(read_all(socket, writable_bytes_of(verdict), deadline));
    if (!same(verdict.mac, verdict_mac(*joint, hello, challenge, verdict)))
        check("its verdict was changed on the way");
    check(get_text(verdict.refusal));

    Session session;
    session.peer = {to, self.nodes, challenge.fingerprint, {}, self.protection};
    std::tie(session.send_key, session.receive_key) = direction_keys(*joint, hello, challenge);
    sodium_memzero(joint->data(), joint->size());
    return session;
}

Connection introduce_until(const std::string& address, const Credentials& credentials,
                           const std::function<Identity(int socket)>& identify, NodeId to,
                           Deadline deadline) {
    return introduce_until([&] { return connect_to(address, deadline); }, credentials, identify, to,
                           deadline);
}

Connection introduce_until(const std::function<Descriptor()>& connect, const Credentials& credentials,
                           const std::function<Identity(int socket)>& identify, NodeId to,
                           Deadline deadline) {
    for (auto pause = pause_min;; pause = std::min(2 * pause, pause_max)) {
        Descriptor socket = connect();
        if (!socket) return {};
        try {
            const Deadline challenge_deadline = std::min(deadline, Clock::now() + challenge_patience);
            const Session session = introduce(socket.get(), credentials, identify(socket.get()), to,
                                              challenge_deadline, deadline);
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
