// Seals and opens the datagrams of a connection, with the UMAC of payload_cipher.hpp.
#include "runtime/native/udp_segment.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"

namespace heddle::native {

namespace {

/// No sender comes so far, so adding to such a number cannot overflow.
constexpr std::uint64_t number_max = std::uint64_t{1} << 62;

constexpr std::uint64_t purpose_datagrams = 0;
constexpr std::uint64_t purpose_agreement = 1;

DirectionKey derived(const DirectionKey& key, std::uint64_t purpose) {
    DirectionKey result;
    HEDDLE_ASSERT(crypto_kdf_derive_from_key(result.data(), result.size(), purpose, "heddleUD", key.data()) ==
                  0);
    return result;
}

}  // namespace

DirectionKey datagram_key(const DirectionKey& of_session) {
    return derived(of_session, purpose_datagrams);
}

DirectionKey agreement_key(const DirectionKey& of_session) {
    return derived(of_session, purpose_agreement);
}

void ReplayWindow::note(std::uint64_t number) {
    if (number >= end_) {
        const std::uint64_t fresh = std::min(number - end_ + 1, size);
        for (std::uint64_t i = 0; i < fresh; ++i) {
            const std::uint64_t cleared = number - i;
            seen_[place(cleared)].bits &= ~(std::uint64_t{1} << bit(cleared));
        }
        end_ = number + 1;
    }
    seen_[place(number)].bits |= std::uint64_t{1} << bit(number);
}

SegmentSealer::SegmentSealer(const DirectionKey& key) : cipher_(make_cipher(Protection::integrity, key)) {
    HEDDLE_ASSERT(cipher_->tag_bytes() == segment_overhead - sizeof(SegmentHeader));
}

void SegmentSealer::seal(std::span<std::byte> datagram, SegmentHeader header) {
    header.number = number_++;
    std::memcpy(datagram.data(), &header, sizeof header);
    const auto covered = datagram.first(datagram.size() - cipher_->tag_bytes());
    cipher_->begin(header.number);
    cipher_->seal(covered, nullptr);
    const PayloadTag tag = cipher_->finish();
    std::memcpy(datagram.data() + covered.size(), tag.data(), cipher_->tag_bytes());
}

SegmentOpener::SegmentOpener(const DirectionKey& key) : cipher_(make_cipher(Protection::integrity, key)) {}

std::optional<SegmentHeader> SegmentOpener::open(std::span<std::byte> datagram) {
    if (datagram.size() < segment_overhead) return std::nullopt;
    SegmentHeader header;
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.number > number_max || !replay_.is_new(header.number)) return std::nullopt;
    const std::size_t tag_bytes = cipher_->tag_bytes();
    cipher_->begin(header.number);
    cipher_->open(datagram.first(datagram.size() - tag_bytes));
    const PayloadTag tag = cipher_->finish();
    if (sodium_memcmp(tag.data(), datagram.data() + datagram.size() - tag_bytes, tag_bytes) != 0)
        return std::nullopt;
    replay_.note(header.number);
    if (header.kind > SegmentKind::last) return std::nullopt;
    return header;
}

}  // namespace heddle::native
