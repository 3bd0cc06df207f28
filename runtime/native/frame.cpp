// Computes and checks the keyed hashes of frames, and reads a whole frame from a socket.
#include "runtime/native/frame.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::native {

namespace {

constexpr std::uint32_t frame_magic = 0x4c'44'45'48;

/// What AES-GCM encrypts under one nonce.
constexpr std::uint64_t encrypted_bytes_max = (1ULL << 36) - 32;

HeaderKey header_key(const DirectionKey& key) {
    HeaderKey result;
    HEDDLE_ASSERT(crypto_kdf_derive_from_key(result.data(), result.size(), 0, "heddleFR", key.data()) == 0);
    return result;
}

__extension__ using Wide = unsigned __int128;

std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Finds damage by accident. The system keeps forgers out of a machine's memory.
std::uint64_t checksum_of(const HeaderKey& key, const FrameHeader& header) {
    std::uint64_t words[offsetof(FrameHeader, tag) / sizeof(std::uint64_t)];
    std::uint64_t keys[2];
    static_assert(sizeof words == offsetof(FrameHeader, tag) && sizeof keys == sizeof key);
    std::memcpy(words, &header, sizeof words);
    std::memcpy(keys, key.data(), sizeof keys);
    const std::uint64_t first = folded_product(words[0] ^ keys[0], words[1] ^ keys[1]);
    return folded_product(first ^ words[2] ^ keys[0], keys[1] | 1);
}

std::uint64_t tag_of(const HeaderKey& key, Protection protection, const FrameHeader& header) {
    if (protection == Protection::local) return checksum_of(key, header);
    static_assert(crypto_shorthash_BYTES == sizeof(std::uint64_t));
    static_assert(crypto_shorthash_KEYBYTES == sizeof(HeaderKey));
    std::uint64_t tag = 0;
    crypto_shorthash(reinterpret_cast<unsigned char*>(&tag), reinterpret_cast<const unsigned char*>(&header),
                     offsetof(FrameHeader, tag), key.data());
    return tag;
}

bool covers(Protection protection, FrameKind kind) {
    return protection != Protection::headers || kind != FrameKind::body;
}

}  // namespace

std::uint64_t largest_payload(Protection protection, std::uint64_t allowed) {
    return protection == Protection::encryption ? std::min(allowed, encrypted_bytes_max) : allowed;
}

Sealer::Sealer(const DirectionKey& key, Protection protection)
    : key_(header_key(key)), protection_(protection), cipher_(make_cipher(protection, key)) {}

FrameHeader Sealer::begin(FrameKind kind, std::uint64_t length) {
    FrameHeader header{frame_magic, kind, length, sequence_, 0};
    header.tag = tag_of(key_, protection_, header);
    cipher_->begin(sequence_++);
    covered_ = covers(protection_, kind);
    return header;
}

Opener::Opener(const DirectionKey& key, Protection protection, std::uint64_t length_max)
    : key_(header_key(key)),
      protection_(protection),
      cipher_(make_cipher(protection, key)),
      length_max_(largest_payload(protection, length_max)) {}

std::string Opener::begin(const FrameHeader& header) {
    const std::uint64_t tag = tag_of(key_, protection_, header);
    // In constant time: one comparison of whole numbers.
    if (header.magic != frame_magic || tag != header.tag) return "it sent a corrupt frame";
    if (header.sequence != sequence_) return "it sent a frame out of order";
    if (header.length > length_max_)
        return fmt::format("it sent a frame of {} bytes, more than the {} allowed", header.length,
                           length_max_);
    if (header.kind > FrameKind::last) return "it sent a frame of an unknown kind";
    cipher_->begin(sequence_++);
    covered_ = covers(protection_, header.kind);
    return {};
}

bool Opener::matches(std::span<const std::byte> tag) {
    if (cipher_->tag_bytes() == 0) return tag.empty();
    const PayloadTag own = cipher_->finish();
    return tag.size() == cipher_->tag_bytes() && sodium_memcmp(own.data(), tag.data(), tag.size()) == 0;
}

std::string write_frame(int socket, Sealer& sealer, FrameKind kind, std::span<const std::byte> payload,
                        Deadline deadline) {
    const FrameHeader header = sealer.begin(kind, payload.size());
    runtime::Bytes all(sizeof header + payload.size() + sealer.tag_bytes());
    std::byte* const place = all.data() + sizeof header;
    std::memcpy(all.data(), &header, sizeof header);
    std::ranges::copy(payload, place);
    sealer.seal({place, payload.size()}, place);
    const PayloadTag tag = sealer.finish();
    std::memcpy(place + payload.size(), tag.data(), sealer.tag_bytes());
    return write_all(socket, all, deadline);
}

Frame read_frame(int socket, Opener& opener, Deadline deadline) {
    const auto check = [](const std::string& failure) {
        if (!failure.empty()) throw Error(failure);
    };
    FrameHeader header;
    check(read_all(socket, std::as_writable_bytes(std::span(&header, 1)), deadline));
    check(opener.begin(header));
    Frame frame{header.kind, runtime::Bytes(header.length)};
    check(read_all(socket, frame.payload, deadline));
    PayloadTag tag;
    const std::span<std::byte> tag_sent = std::span(tag).first(opener.tag_bytes());
    check(read_all(socket, tag_sent, deadline));
    opener.open(frame.payload);
    if (!opener.matches(tag_sent)) throw Error("it sent a corrupt frame");
    return frame;
}

}  // namespace heddle::native
