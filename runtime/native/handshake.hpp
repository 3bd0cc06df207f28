// Two processes of a run prove to each other that they belong to it, and make session keys. They exchange
// four messages of fixed size. The initiator's hello has its number and a fresh public key of X25519, with a
// keyed hash. The acceptor's challenge has a fresh public key of its own, with a keyed hash over both. The
// initiator's proof is a keyed hash over all that. The last message is the acceptor's verdict. The key of the
// first hash is the run's. The keys of the other hashes also contain the product of the fresh keys, as do the
// session keys, one for each direction. Both sides forget the secrets of the fresh keys at once. If the run's
// key becomes known later, recorded messages remain secret (forward secrecy). Processes of one machine leave
// the product out, because no program can record what they say.
//
// Each keyed hash begins with a label of its own, so no hash can be sent back in another message
// (reflection). All but the first cover fresh keys of both sides, so none can be used in a later handshake
// (replay). A stranger's hello costs the acceptor a hash, and no product.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "runtime/native/keys.hpp"
#include "runtime/native/protection.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

/// The rendezvous uses this number in place of a node's.
inline constexpr NodeId rendezvous_rank = 0xffff'ffff;

/// What one side says of itself.
struct Identity {
    NodeId rank = 0;
    NodeId nodes = 1;
    std::uint64_t fingerprint = 0;
    std::string address = {};  ///< where others may connect to it: an initiator's only, at most 63 characters
    /// Of what follows: an initiator's only, which the acceptor may refuse.
    Protection protection = Protection::integrity;
};

using DirectionKey = std::array<unsigned char, 32>;

/// The outcome: what the other end says of itself, and the keys of the two directions.
struct Session {
    Identity peer;
    DirectionKey send_key{};
    DirectionKey receive_key{};
};

namespace wire {

struct Hello {
    std::uint64_t magic;
    std::uint64_t fingerprint;
    std::uint32_t nodes;
    std::uint32_t from;
    std::uint32_t to;
    Protection protection;
    PublicKey fresh;
    std::array<char, 64> address;
    std::array<unsigned char, 32> mac;  ///< over all above
};

struct Challenge {
    std::uint64_t magic;
    std::uint64_t fingerprint;
    PublicKey fresh;
    std::array<unsigned char, 32> mac;  ///< over the hello and all above
};

struct Proof {
    std::array<unsigned char, 32> mac;
};

struct Verdict {
    std::array<char, 96> refusal;  ///< empty: accepted
    std::array<unsigned char, 32> mac;
};

}  // namespace wire

/// What a hello says in `mac` if its sender has the key.
std::array<unsigned char, 32> hello_mac(const Key& key, const wire::Hello& hello);

/// The acceptor's side, as a machine that is fed: it never waits, and allocates nothing by what it is told.
class Acceptor {
public:
    enum class State : std::uint8_t { hello, proof, accepted, refused };

    Acceptor(const Credentials& credentials, const Identity& self);

    State state() const { return state_; }

    /// Where to put the bytes that come next: all of them before `advance` is called.
    std::span<std::byte> wanted();

    /// Takes what `wanted` was filled with. `admit` is asked about a peer that has proved itself; it returns
    /// why not, or nothing. Returns what to send (may be empty).
    std::span<const std::byte> advance(const std::function<std::string(const Identity&)>& admit);

    const std::string& refusal() const { return refusal_; }
    const Session& session() const { return session_; }  ///< once accepted

private:
    std::span<const std::byte> take_hello();
    std::span<const std::byte> challenge(const Key& key);
    std::span<const std::byte> take_proof(const std::function<std::string(const Identity&)>& admit);
    void refuse(std::string reason);

    Credentials credentials_;
    Identity self_;
    State state_ = State::hello;
    Key joint_{};  ///< of this handshake
    wire::Hello hello_{};
    wire::Challenge challenge_{};
    wire::Proof proof_{};
    wire::Verdict verdict_{};
    std::string refusal_;
    Session session_;
};

/// A handshake had no result: the connection ended, or the peer did not answer in time. A new connection may
/// succeed.
class NoAnswer : public Error {
public:
    using Error::Error;
};

/// The initiator's side, on a connection to what should be node `to`. Blocks until `challenge_deadline` for
/// the acceptor's first answer and until `deadline` for the verdict. Throws NoAnswer if the acceptor says
/// nothing, and Error if it does not know the key or refuses.
Session introduce(int socket, const Credentials& credentials, const Identity& self, NodeId to,
                  Deadline challenge_deadline, Deadline deadline);

/// A connection and its session.
struct Connection {
    Descriptor socket;
    Session session;
};

/// Connects to node `to` at `address` (host:port) and introduces itself. An acceptor under load drops
/// connections, so the initiator tries again until `deadline`, after pauses that grow. `identify` returns
/// what this process says of itself on a connected socket. Throws Error.
Connection introduce_until(const std::string& address, const Credentials& credentials,
                           const std::function<Identity(int socket)>& identify, NodeId to, Deadline deadline);

/// The same on the sockets that `connect` makes. If it makes none, the result has none.
Connection introduce_until(const std::function<Descriptor()>& connect, const Credentials& credentials,
                           const std::function<Identity(int socket)>& identify, NodeId to, Deadline deadline);

/// `node 2`, or `the rendezvous`.
std::string name_of(NodeId rank);

}  // namespace heddle::native
