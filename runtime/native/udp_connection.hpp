// One end of a connection by UDP, as a state machine. A caller feeds it with bytes to send, with received
// datagrams, and with the time. It says which datagrams to send and when to call it next. It opens no socket
// and reads no clock, so a test can drive it through any network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/native/udp_receiver.hpp"
#include "runtime/native/udp_segment.hpp"
#include "runtime/native/udp_sender.hpp"

namespace heddle::native {

class UdpConnection {
public:
    /// No datagram has more than `datagram_bytes`.
    UdpConnection(const DirectionKey& send_key, const DirectionKey& receive_key, std::size_t datagram_bytes);

    /// The least that makes sense: an acknowledgement must fit.
    static constexpr std::size_t datagram_bytes_min = 256;

    // --- the stream
    std::size_t write(std::span<const std::byte> bytes) { return sender_.write(bytes); }
    bool has_room() const { return sender_.has_room(); }
    bool all_acknowledged() const { return sender_.is_empty(); }
    std::size_t read(std::span<std::byte> room);
    bool has_bytes() const { return receiver_.has_bytes(); }

    // --- datagrams
    /// A datagram has come. One that is not authentic, or has come before, changes nothing. False for those.
    bool take(Deadline now, std::span<std::byte> datagram);

    /// Hands over what is to be sent now. The bytes remain as they are until the next call of this object.
    using Send = std::function<void(std::span<const std::byte> datagram)>;
    void emit(Deadline now, const Send& send);

    /// When to call `emit` at the latest, even if nothing happens. Deadline::max(): never.
    Deadline alarm() const { return sender_.alarm(); }

    // --- finding out what the network lets through
    /// The next `emit` sends a datagram of that size, which only asks for an acknowledgement.
    void probe(std::size_t bytes) { probe_bytes_ = bytes; }

    /// The largest probe that has come.
    std::size_t largest_probe() const { return largest_probe_; }

private:
    SegmentHeader header(SegmentKind kind, std::uint64_t chunk = 0);
    void send_probe(const Send& send);
    void send_acknowledgement(const Send& send);

    SegmentSealer sealer_;
    SegmentOpener opener_;
    UdpSender sender_;
    UdpReceiver receiver_;
    std::size_t bitmap_bytes_max_;
    bool acknowledges_ = false;     ///< the peer is owed an acknowledgement
    std::uint64_t said_limit_ = 0;  ///< the first chunk beyond the room that the peer was told of
    std::size_t probe_bytes_ = 0;   ///< of a probe to be sent
    std::size_t largest_probe_ = 0;
    std::vector<std::byte> probe_;
    std::array<std::byte, segment_overhead + UdpReceiver::window_chunks / 8> acknowledgement_{};
};

}  // namespace heddle::native
