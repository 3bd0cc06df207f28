// The algorithms that protect the payloads of one direction of a connection, piece by piece. A large payload
// is protected while it is written, and checked while it is read. frame.hpp makes the frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/native/handshake.hpp"
#include "runtime/native/protection.hpp"

namespace heddle::native {

/// The tag of a payload: as many bytes of it as `PayloadCipher::tag_bytes` says.
using PayloadTag = std::array<std::byte, 16>;

class PayloadCipher {
public:
    /// All pieces of a payload but its last have a multiple of this size.
    static constexpr std::size_t block_bytes = 16;

    PayloadCipher() = default;
    PayloadCipher(const PayloadCipher&) = delete;
    PayloadCipher& operator=(const PayloadCipher&) = delete;
    virtual ~PayloadCipher() = default;

    virtual std::size_t tag_bytes() const = 0;
    virtual bool encrypts() const = 0;

    /// Begins the payload of the frame with that number. No number may be used twice.
    virtual void begin(std::uint64_t sequence) = 0;

    /// The next piece of the payload, on its way out: takes the plain `piece`, and writes what travels to
    /// `to`, which may be where the piece is. Writes nothing if it does not encrypt.
    virtual void seal(std::span<const std::byte> piece, std::byte* to) = 0;

    /// The next piece of a payload that has come, in its place.
    virtual void open(std::span<std::byte> piece) = 0;

    /// Over all pieces since `begin`, and that number.
    virtual PayloadTag finish() = 0;
};

/// Integrity: UMAC with 64 bits (RFC 4418), of which a forger guesses one with probability 2^-60, and has
/// one guess, because the first wrong tag ends the connection; headers: the same; local: none. Encryption:
/// AES-256-GCM, by nettle.
std::unique_ptr<PayloadCipher> make_cipher(Protection protection, const DirectionKey& key);

}  // namespace heddle::native
