// The format and authentication of the datagrams of a connection by UDP. A datagram is a header, its content
// (a chunk of the stream, a bitmap or padding) and a tag over both. udp_connection.hpp decides which
// datagrams to send.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "runtime/native/payload_cipher.hpp"

namespace heddle::native {

enum class SegmentKind : std::uint32_t {
    data,             ///< a chunk of the stream
    acknowledgement,  ///< a bitmap: bit i says that chunk `acknowledged` + i has come
    probe,            ///< padding: asks for an acknowledgement
    last = probe
};

struct SegmentHeader {
    std::uint64_t number;        ///< of the datagram: each one sent has a new number, so a repeated chunk too
    std::uint64_t chunk;         ///< data: which chunk of the stream
    std::uint64_t acknowledged;  ///< all chunks of the other direction below this have come
    std::uint32_t window;        ///< chunks from `acknowledged` on that the receiver has room for
    SegmentKind kind;
};

/// The numbers that have been seen, as far back as `size`. Older ones count as seen (RFC 4303,
/// section 3.4.3).
class ReplayWindow {
public:
    static constexpr std::uint64_t size = 4096;

    bool is_new(std::uint64_t number) const {
        if (number >= end_) return true;
        return end_ - number <= size && !seen_[place(number)][bit(number)];
    }

    /// Only for authentic numbers: a large one makes all below it old.
    void note(std::uint64_t number);

private:
    struct Word {
        std::uint64_t bits = 0;
        bool operator[](std::uint64_t bit) const { return (bits >> bit & 1U) != 0; }
    };
    static std::size_t place(std::uint64_t number) { return number % size / 64; }
    static std::uint64_t bit(std::uint64_t number) { return number % 64; }

    std::array<Word, size / 64> seen_{};
    std::uint64_t end_ = 0;  ///< above the largest
};

/// The keys of a connection's datagrams, and of the frames in which the processes agree on it. Those of
/// the session itself protect the frames of the stream, which count from 0 as well.
DirectionKey datagram_key(const DirectionKey& of_session);
DirectionKey agreement_key(const DirectionKey& of_session);

/// Header and tag.
inline constexpr std::size_t segment_overhead = sizeof(SegmentHeader) + 8;

class SegmentSealer {
public:
    explicit SegmentSealer(const DirectionKey& key);

    /// Writes the header, with the next number, to the front of `datagram`, and the tag to its end.
    void seal(std::span<std::byte> datagram, SegmentHeader header);

private:
    std::unique_ptr<PayloadCipher> cipher_;
    std::uint64_t number_ = 0;
};

class SegmentOpener {
public:
    explicit SegmentOpener(const DirectionKey& key);

    /// The header of an authentic datagram that has not come before; nothing for any other. Its content is
    /// `content_of(datagram)`.
    std::optional<SegmentHeader> open(std::span<std::byte> datagram);

private:
    std::unique_ptr<PayloadCipher> cipher_;
    ReplayWindow replay_;
};

inline std::span<std::byte> content_of(std::span<std::byte> datagram) {
    return datagram.subspan(sizeof(SegmentHeader), datagram.size() - segment_overhead);
}

}  // namespace heddle::native
