// The connection to one other node: a queue of frames to send, and a frame that has been received in
// part. Any thread may queue a frame and try to write it; the sender writes the rest, the receiver reads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/body_pool.hpp"
#include "runtime/native/frame.hpp"
#include "runtime/native/send_queue.hpp"
#include "runtime/native/stream.hpp"

namespace heddle::native {

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): a few a process; its members go by their users
class Link {
public:
    Link(std::unique_ptr<Stream> stream, const Session& session, std::uint64_t frame_bytes_max,
         Protection protection, NetworkId network = 0);

    NodeId peer() const { return peer_; }
    NetworkId network() const { return network_; }  ///< that it is a connection of
    Stream& stream() { return *stream_; }
    int descriptor() const { return stream_->descriptor(); }

    // --- any thread
    /// Queues a frame (a message: the payload of one). If no thread writes, the caller may write it itself,
    /// which saves the way through the sender. It does so if the stream is in memory, for a large message, a
    /// lone one, and what has gathered to a large one. Other frames wait for the sender, because they then
    /// travel together. Lone: nothing was written for a while, or little since the peer has sent something.
    /// True if the caller must tell the sender. `body`: what a message encloses; it is not copied.
    bool post(FrameKind kind, runtime::Bytes&& payload, runtime::SentBody&& body = {});

    // --- the sender
    enum class Flushed : std::uint8_t {
        all,      ///< nothing waits
        blocked,  ///< the stream has no room now
        broken,   ///< the connection has ended: what waits is forgotten, the receiver will say why
    };
    Flushed flush();

    /// Whether the last write found no room. Any thread.
    bool is_blocked() const { return blocked_.load(std::memory_order_seq_cst); }

    /// Ends the connection: the receiver then finds it lost for this reason.
    void give_up(const std::string& reason);

    /// Stream::settle. Any thread.
    bool settle();

    /// Frees the stream and the buffers. The thread that writes what posting threads leave; after the
    /// receiver's last look. Threads may still post: what they post is forgotten.
    void close();

    // --- the thread that receives
    using Handler =
        std::function<void(FrameKind kind, std::span<const std::byte> payload, runtime::Body body)>;
    using Room = runtime::NodeProgram::Room;
    /// Where the bytes that a message encloses go: nothing, to memory of this link's, which the message gets.
    using RoomFor = std::function<Room(std::span<const std::byte> message, std::uint64_t bytes)>;

    /// Reads what has come, and hands over each message and each other frame. Returns an empty string, or why
    /// the node is lost.
    std::string receive(const Handler& handle, const RoomFor& room_for = {});

    /// While a message is handed over: how many of its body's bytes are in its room. The body is none then.
    std::uint64_t in_room() const { return in_room_; }

    /// Bytes that have been read.
    std::uint64_t received() const { return received_; }

    /// Whether the last `receive` may have left bytes.
    bool has_unread() const { return unread_; }

    /// The other side has said goodbye: nothing more comes.
    bool ended() const { return ended_; }

private:
    std::optional<Flushed> write_alone(const runtime::Bytes& message);
    bool gathers() const;
    void count_write();
    void note_write();
    bool write_at_once(bool large);
    Flushed write_waiting(int rounds_max);
    void next_frame();
    void put_ahead(FrameKind kind, const runtime::Bytes& message);
    void next_piece();
    Flushed write_piece();
    Flushed write_out();
    std::string parse(const Handler& handle, const RoomFor& room_for);
    void collect_body(const RoomFor& room_for);
    void collect(std::span<std::byte> room);
    void open_collected();
    std::string take_at(std::size_t place, std::span<const std::byte> payload, const Handler& handle);
    std::string take(const FrameHeader& header, std::span<const std::byte> payload, const Handler& handle);
    std::string reason_of(const std::string& symptom);

    std::unique_ptr<Stream> stream_;
    bool in_memory_;
    NodeId peer_;
    NetworkId network_;

    // Posting.
    SendQueue queue_;
    std::atomic<int> unheard_{0};       ///< writes since something has come; not in memory
    std::atomic<bool> blocked_{false};  ///< the stream had no room: the sender waits for some
    std::mutex mutex_;
    std::string given_up_;

    // For the writer only: the thread that holds this mutex. A frame is written in pieces, each protected
    // when its turn comes: `left_` of the payload or body of `writing_now_` is not protected yet. A piece is
    // `head_` (a header, and ahead of a body its message), `middle_` (bytes of the payload, or of `room_`,
    // where they are encrypted), and `tail_` (the tag). `written_`: what the stream has taken of the piece.
    std::mutex writing_;
    Deadline last_write_;
    Sealer sealer_;
    std::vector<SendQueue::Parcel> taken_;
    std::size_t taken_next_ = 0;
    std::vector<runtime::Bytes> batches_written_;
    SendQueue::Parcel writing_now_{};
    runtime::Bytes head_, tail_;
    std::span<const std::byte> left_, middle_;
    runtime::Bytes room_;
    std::size_t written_ = 0;
    bool broken_ = false;

    // The receiver's own. Bytes [begin_, end_) of `buffer_` are not handled yet; a frame that does not fit
    // there is collected in `large_`, a body where its message, `enclosing_`, has room, or in `body_`.
    std::shared_ptr<runtime::BodyPool> bodies_ = std::make_shared<runtime::BodyPool>(4U << 20);
    std::uint64_t received_ = 0;
    std::size_t reads_max_;  ///< into the buffer at a time
    bool unread_ = false;
    Opener opener_;
    std::unique_ptr<std::byte[]> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    FrameHeader header_{};
    runtime::Bytes large_;
    runtime::Bytes enclosing_;
    bool has_enclosing_ = false;
    runtime::Body body_;
    std::shared_ptr<const void> room_keeper_;
    std::span<std::byte> large_room_;  ///< of the one that is being collected
    std::uint64_t in_room_ = 0;        ///< see there
    std::size_t large_filled_ = 0;
    std::size_t large_opened_ = 0;  ///< of that
    bool have_header_ = false;
    bool in_large_ = false;
    bool large_whole_ = false;  ///< only its tag is missing
    bool ended_ = false;
};

}  // namespace heddle::native
