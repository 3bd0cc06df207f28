// Joins the two directions of a connection by UDP. Data carry acknowledgements. If there are no data, or
// chunks are missing, an acknowledgement travels alone.
#include "runtime/native/udp_connection.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"

namespace heddle::native {

UdpConnection::UdpConnection(const DirectionKey& send_key, const DirectionKey& receive_key,
                             std::size_t datagram_bytes)
    : sealer_(datagram_key(send_key)),
      opener_(datagram_key(receive_key)),
      sender_(datagram_bytes - segment_overhead),
      bitmap_bytes_max_(std::min(datagram_bytes - segment_overhead,
                                 std::tuple_size_v<decltype(acknowledgement_)> - segment_overhead)) {
    HEDDLE_ASSERT(datagram_bytes >= datagram_bytes_min);
}

std::size_t UdpConnection::read(std::span<std::byte> room) {
    const std::size_t count = receiver_.read(room);
    // A peer that knows of little room is told when there is much again.
    const std::uint64_t limit = receiver_.acknowledged() + receiver_.window();
    if (limit >= said_limit_ + UdpReceiver::window_chunks / 2) acknowledges_ = true;
    return count;
}

bool UdpConnection::take(Deadline now, std::span<std::byte> datagram) {
    const auto header = opener_.open(datagram);
    if (!header) return false;
    const std::span<std::byte> content = content_of(datagram);
    switch (header->kind) {
        case SegmentKind::data:
            receiver_.take(header->chunk, content);
            acknowledges_ = true;
            break;
        case SegmentKind::probe:
            largest_probe_ = std::max(largest_probe_, datagram.size());
            acknowledges_ = true;
            break;
        case SegmentKind::acknowledgement:
            break;
    }
    const bool has_bitmap = header->kind == SegmentKind::acknowledgement;
    sender_.acknowledge(now, header->acknowledged, header->window,
                        has_bitmap ? content : std::span<std::byte>());
    return true;
}

/// Every one that is made is sent, and tells the peer of the room.
SegmentHeader UdpConnection::header(SegmentKind kind, std::uint64_t chunk) {
    said_limit_ = receiver_.acknowledged() + receiver_.window();
    return {0, chunk, receiver_.acknowledged(), receiver_.window(), kind};
}

void UdpConnection::emit(Deadline now, const Send& send) {
    if (sender_.pass(now)) probe_bytes_ = std::max(probe_bytes_, segment_overhead);
    bool said = false;
    while (const auto outgoing = sender_.next(now)) {
        sealer_.seal(outgoing->datagram, header(SegmentKind::data, outgoing->chunk));
        send(outgoing->datagram);
        said = true;
    }
    if (probe_bytes_ != 0) send_probe(send);
    if (acknowledges_ && (!said || receiver_.has_gaps())) send_acknowledgement(send);
    acknowledges_ = false;
}

void UdpConnection::send_probe(const Send& send) {
    probe_.assign(std::max(std::exchange(probe_bytes_, 0), segment_overhead), std::byte{});
    sealer_.seal(probe_, header(SegmentKind::probe));
    send(probe_);
}

void UdpConnection::send_acknowledgement(const Send& send) {
    std::array<std::byte, UdpReceiver::window_chunks / 8> bitmap;
    const std::size_t count = std::min(receiver_.write_bitmap(bitmap), bitmap_bytes_max_);
    const auto datagram = std::span(acknowledgement_).first(segment_overhead + count);
    std::memcpy(datagram.data() + sizeof(SegmentHeader), bitmap.data(), count);
    sealer_.seal(datagram, header(SegmentKind::acknowledgement));
    send(datagram);
}

}  // namespace heddle::native
