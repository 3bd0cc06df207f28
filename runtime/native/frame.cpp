// Computes and checks the keyed hashes of frames, and reads a whole frame from a socket.
#include "runtime/native/frame.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <cstring>

#include "base/error.hpp"

namespace heddle::native {

namespace {

constexpr std::uint32_t magic = 0x4c'44'45'48;

std::uint64_t tag_of(const DirectionKey& key, std::span<const std::byte> bytes) {
    static_assert(crypto_shorthash_BYTES == sizeof(std::uint64_t));
    static_assert(crypto_shorthash_KEYBYTES == sizeof(DirectionKey));
    unsigned char tag[crypto_shorthash_BYTES];
    crypto_shorthash(tag, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), key.data());
    std::uint64_t value = 0;
    std::memcpy(&value, tag, sizeof value);
    return value;
}

std::uint64_t header_tag_of(const DirectionKey& key, const FrameHeader& header) {
    return tag_of(key, std::as_bytes(std::span(&header, 1)).first(offsetof(FrameHeader, header_tag)));
}

}  // namespace

FrameHeader Sealer::seal(FrameKind kind, std::span<const std::byte> payload) {
    const std::uint64_t tag = kind == FrameKind::body ? 0 : tag_of(key_, payload);
    FrameHeader header{magic, kind, payload.size(), sequence_++, tag, 0};
    header.header_tag = header_tag_of(key_, header);
    return header;
}

std::string Opener::open(const FrameHeader& header) {
    if (header.magic != magic || header.header_tag != header_tag_of(key_, header))
        return "it sent a corrupt frame";
    if (header.sequence != sequence_) return "it sent a frame out of order";
    if (header.length > length_max_)
        return fmt::format("it sent a frame of {} bytes, more than the {} allowed", header.length,
                           length_max_);
    if (header.kind > FrameKind::last) return "it sent a frame of an unknown kind";
    ++sequence_;
    return {};
}

bool Opener::matches(const FrameHeader& header, std::span<const std::byte> payload) const {
    return header.kind == FrameKind::body || header.payload_tag == tag_of(key_, payload);
}

std::string write_frame(int socket, Sealer& sealer, FrameKind kind, std::span<const std::byte> payload,
                        Deadline deadline) {
    const FrameHeader header = sealer.seal(kind, payload);
    std::string failure = write_all(socket, std::as_bytes(std::span(&header, 1)), deadline);
    return failure.empty() ? write_all(socket, payload, deadline) : failure;
}

Frame read_frame(int socket, Opener& opener, Deadline deadline) {
    const auto check = [](const std::string& failure) {
        if (!failure.empty()) throw Error(failure);
    };
    FrameHeader header;
    check(read_all(socket, std::as_writable_bytes(std::span(&header, 1)), deadline));
    check(opener.open(header));
    Frame frame{header.kind, runtime::Bytes(header.length)};
    check(read_all(socket, frame.payload, deadline));
    if (!opener.matches(header, frame.payload)) throw Error("it sent a corrupt frame");
    return frame;
}

}  // namespace heddle::native
