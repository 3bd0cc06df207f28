// The sending direction of a connection by UDP. It numbers the chunks of the stream, keeps each until it is
// acknowledged, and sends it again if it is lost. It opens no socket and reads no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/native/socket.hpp"
#include "runtime/native/udp_segment.hpp"
#include "runtime/native/udp_timing.hpp"

namespace heddle::native {

class UdpSender {
public:
    /// A chunk has `chunk_bytes` at most.
    explicit UdpSender(std::size_t chunk_bytes);

    // --- the writer of the stream
    /// Takes bytes from the front. Returns how many there was room for.
    std::size_t write(std::span<const std::byte> bytes);

    /// True if a good part of the room is free: a writer that was refused may go on.
    bool has_room() const {
        return buffered_ <= buffered_max_ / 4 * 3 && chunks_.size() <= chunks_max / 4 * 3;
    }

    /// Whether all that was written has come to the peer.
    bool is_empty() const { return chunks_.empty(); }

    // --- datagrams
    /// What to send now: the datagram, with room for its header and tag, and the chunk's number. Nothing: no
    /// chunk may be sent.
    struct Outgoing {
        std::uint64_t chunk;
        std::span<std::byte> datagram;
    };
    std::optional<Outgoing> next(Deadline now);

    /// An authentic acknowledgement has come. Bit i of `bitmap`: chunk `acknowledged` + i has come.
    void acknowledge(Deadline now, std::uint64_t acknowledged, std::uint32_t window,
                     std::span<const std::byte> bitmap);

    /// When `pass` is to be called: Deadline::max() if nothing is awaited.
    Deadline alarm() const { return alarm_; }

    /// `alarm` has come. True: the peer has no room, and a probe is to ask whether this is still so.
    bool pass(Deadline now);

private:
    enum class State : std::uint8_t { waiting, flying, lost, acknowledged };
    struct Chunk {
        std::vector<std::byte> datagram;
        State state = State::waiting;
        bool repeated = false;
        std::uint64_t order = 0;  ///< of its last transmission, among all of chunks
        Deadline sent{};
    };
    /// What an acknowledgement says, as far as it is new.
    struct News {
        std::size_t count = 0;
        std::uint64_t order = 0;              ///< the largest
        std::optional<Deadline> sent_once{};  ///< the latest time of a chunk that was sent once
    };

    static constexpr std::size_t chunks_max = 2048;

    Chunk& at(std::uint64_t number) { return chunks_[static_cast<std::size_t>(number - first_)]; }
    std::uint64_t end() const { return first_ + chunks_.size(); }
    bool peer_has_no_room() const { return next_ < end() && next_ >= limit_; }
    void add_chunk();
    Outgoing send(std::uint64_t number, Deadline now);
    void note(Chunk& chunk, News& news);
    void lose(std::uint64_t number);
    void find_lost();
    void set_alarm(Deadline now);

    std::size_t chunk_bytes_;
    std::size_t buffered_max_;
    std::size_t buffered_ = 0;

    // Chunks [first_, next_) have been sent, [next_, end()) have not. Invariant: `flying_` of them are in
    // State::flying; each one in State::lost is in `lost_`; each transmission of one that flies is in
    // `transmissions_`, in order.
    std::deque<Chunk> chunks_;
    std::uint64_t first_ = 0;
    std::uint64_t next_ = 0;
    std::uint64_t limit_;  ///< the peer has room for chunks below
    std::size_t flying_ = 0;
    std::deque<std::uint64_t> lost_;
    std::deque<std::pair<std::uint64_t, std::uint64_t>> transmissions_;  ///< order, chunk
    std::vector<std::vector<std::byte>> spare_;

    std::uint64_t order_ = 0;         ///< of the last transmission
    std::uint64_t largest_ = 0;       ///< order of the latest transmission that was acknowledged
    std::uint64_t slowed_until_ = 0;  ///< a loss of a transmission up to this one has been answered
    std::size_t extra_ = 0;           ///< chunks that may be sent beyond the congestion window
    bool probed_ = false;             ///< since the last news
    Deadline alarm_ = Deadline::max();
    RoundTrip round_trip_;
    CongestionWindow congestion_;
};

}  // namespace heddle::native
