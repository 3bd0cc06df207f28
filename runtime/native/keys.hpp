// The keys by which the processes of a run know each other. Either all share a secret from their launcher, or
// each has a key pair. Public keys may travel over any channel that other programs may read but not change.
// These keys only authenticate. Each connection makes session keys of its own (handshake.hpp), so that a key
// learned later does not open recorded messages.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "host/descriptor.hpp"

namespace heddle::native {

using Key = std::array<unsigned char, 32>;
using PublicKey = std::array<unsigned char, 32>;

/// Of X25519.
struct KeyPair {
    Key secret{};
    PublicKey shown{};  ///< may be told to every program
};

/// A fresh random key, or pair.
Key make_key();
KeyPair make_key_pair();

/// In hexadecimal, and back. Nothing if the text is no key.
std::string text_of(const PublicKey& key);
std::optional<PublicKey> public_key_from(std::string_view text);

/// What two key holders both compute from their own secret and the other's public key, and no other program
/// can. Nothing if `other` is not a key that a pair can have.
std::optional<Key> pair_key(const KeyPair& own, const PublicKey& other);

/// What a process needs to prove itself to the other processes of its run. Copies share their memory.
class Credentials {
public:
    /// None: no process is believed.
    Credentials() = default;

    /// All processes of the run have the key `shared`.
    Credentials(const Key& shared) : shared_(shared) {}  // NOLINT(google-explicit-constructor)

    /// Each node has a key pair: `of_nodes` are their public keys, by rank. Throws Error if one of them is no
    /// key.
    Credentials(const KeyPair& own, const std::vector<PublicKey>& of_nodes);

    /// The key that this process and node `peer` have in common. With pairs the rendezvous has none.
    std::optional<Key> key_with(NodeId peer) const;

private:
    std::optional<Key> shared_;
    std::shared_ptr<const std::vector<Key>> pairs_;
};

/// The key as a file in memory that only this user may read, and its path, which other processes of this user
/// can open as long as the descriptor is open in this process. Nothing is left of it when this process ends,
/// however it ends. Throws Error.
struct KeyInMemory {
    host::Descriptor file;
    std::string path;
};
KeyInMemory keep_in_memory(const Key& key);

/// Writes the key in hexadecimal to a new file of mode 0600. Throws Error.
void write_key_file(const std::filesystem::path& path, const Key& key);

/// Reads it back. Throws Error for a file that is missing, malformed, or open to group or others.
Key read_key_file(const std::filesystem::path& path);

}  // namespace heddle::native
