// The connection to one other node: writes queued frames (a message with its header) with as few system calls
// as possible, and takes received bytes apart into frames.
#include "runtime/native/link.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace heddle::native {

namespace {

constexpr std::size_t buffer_bytes = 256 << 10;

/// What is read at most behind a large frame that goes to memory of its own: enough for a body's message and
/// the next header. What is read beyond would be copied.
constexpr std::size_t behind_bytes = 1 << 10;

/// What is read at most after a large frame, when another one probably follows: what comes of that with its
/// header is copied. Grows again while reads find as much.
constexpr std::size_t behind_large_bytes = 16 << 10;

constexpr std::size_t large_kept_bytes = 4 << 20;

/// What is protected and written at a time of a large frame: it is still in the cache when the system copies
/// it, and the receiver checks one piece while the next is made.
constexpr std::size_t piece_bytes = 256 << 10;
static_assert(piece_bytes % PayloadCipher::block_bytes == 0);

/// The last piece may be so much larger: the few bytes of a value's type and size behind its data, for
/// example, are no piece of their own, which would take a system call on each side.
constexpr std::size_t piece_more = piece_bytes / 8;

/// How long nothing must have been written for a message to count as alone: a little more than a write takes.
constexpr std::chrono::microseconds quiet{4};

/// So many writes in a row are no stream yet: two nodes that exchange values may each send two before it
/// hears from the other, with what they say about room.
constexpr int unheard_max = 4;

using Length = SendQueue::Length;

template <class Buffer>
void append(Buffer& to, const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    to.insert(to.end(), bytes, bytes + size);
}

/// Adds the tag of the frame that the sealer is at.
template <class Buffer>
void append_tag(Buffer& to, Sealer& sealer) {
    const PayloadTag tag = sealer.finish();
    append(to, tag.data(), sealer.tag_bytes());
}

}  // namespace

Link::Link(std::unique_ptr<Stream> stream, const Session& session, std::uint64_t frame_bytes_max,
           Protection protection, NetworkId network)
    : stream_(std::move(stream)),
      in_memory_(stream_->in_memory()),
      peer_(session.peer.rank),
      network_(network),
      sealer_(session.send_key, protection),
      reads_max_(buffer_bytes),
      opener_(session.receive_key, protection,
              std::max<std::uint64_t>(frame_bytes_max, SendQueue::batch_bytes)),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(buffer_bytes)) {}

// --- sending

bool Link::post(FrameKind kind, runtime::Bytes&& payload, runtime::SentBody&& body) {
    if (kind == FrameKind::message && !body && payload.size() < SendQueue::small_bytes && queue_.is_empty()) {
        if (const auto flushed = write_alone(payload)) return *flushed == Flushed::blocked;
    }
    const auto [first, large] = queue_.post(kind, std::move(payload), std::move(body));
    if (first) return !write_at_once(large);
    // The thread whose frame came first tells the sender, or is writing.
    if (large) write_at_once(true);
    return false;
}

/// A small message, past the queue: most are alone. Nothing is done where frames wait, or the sender should
/// gather some. Invariant: where no thread writes and the stream is not blocked, no frame is written in part;
/// and what this thread has posted before is in the queue or written. So its messages stay in order.
std::optional<Link::Flushed> Link::write_alone(const runtime::Bytes& message) {
    const std::unique_lock lock(writing_, std::try_to_lock);
    if (!lock || blocked_.load(std::memory_order_relaxed) || broken_ || !queue_.is_empty() || gathers())
        return {};
    put_ahead(FrameKind::message, message);
    count_write();
    const iovec whole{head_.data(), head_.size()};
    const std::ptrdiff_t moved = stream_->write({&whole, 1});
    Flushed flushed = Flushed::all;
    if (moved == static_cast<std::ptrdiff_t>(head_.size())) {
        head_.clear();
    } else {
        written_ = moved > 0 ? static_cast<std::size_t>(moved) : 0;
        flushed = write_out();  // sees what is in the way
    }
    note_write();
    return flushed;
}

/// Whether messages are written so fast that they should travel together. The thread that writes.
bool Link::gathers() const {
    return !in_memory_ && unheard_.load(std::memory_order_relaxed) >= unheard_max &&
           Clock::now() - last_write_ < quiet;
}

/// Before the answer can come. Without a read-modify-write: an answer that comes just then may be missed.
void Link::count_write() {
    if (!in_memory_) unheard_.store(unheard_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Link::note_write() {
    if (!in_memory_) last_write_ = Clock::now();
}

/// True if nothing is left for the sender.
bool Link::write_at_once(bool large) {
    const std::unique_lock lock(writing_, std::try_to_lock);
    if (!lock || blocked_.load(std::memory_order_relaxed) || (!large && gathers())) return false;
    // What is posted meanwhile found nothing waiting, or came behind such a frame: its thread tells the
    // sender.
    return write_waiting(1) != Flushed::blocked;
}

Link::Flushed Link::flush() {
    const std::lock_guard lock(writing_);
    blocked_.store(false, std::memory_order_relaxed);
    return write_waiting(std::numeric_limits<int>::max());
}

/// Writes what waits, and what has come meanwhile, up to `rounds_max` times.
Link::Flushed Link::write_waiting(int rounds_max) {
    for (int rounds = 0;;) {
        if (const Flushed flushed = write_out(); flushed != Flushed::all) return flushed;
        if (taken_next_ == taken_.size()) {
            taken_.clear();
            taken_next_ = 0;
            if (rounds++ == rounds_max || !queue_.take(taken_, batches_written_)) break;
        }
        next_frame();
    }
    note_write();
    return Flushed::all;
}

/// Begins the next frame of what was taken: a batch, or one large message.
void Link::next_frame() {
    count_write();  // once: the pieces of a large frame are no stream
    writing_now_ = std::move(taken_[taken_next_++]);
    auto& [kind, payload, body] = writing_now_;
    if (kind == FrameKind::batch) {
        // In one buffer, which has room for the header.
        const auto content = std::span(payload).subspan(sizeof(FrameHeader));
        const FrameHeader header = sealer_.begin(kind, content.size());
        std::memcpy(payload.data(), &header, sizeof header);
        sealer_.seal(content, content.data());
        append_tag(payload, sealer_);
        middle_ = payload;
        return;
    }
    // So that the receiver knows the place of the body when that comes.
    if (body) put_ahead(FrameKind::enclosing, payload);
    left_ = body ? *body : std::span<const std::byte>(payload);
    const FrameHeader header = sealer_.begin(body ? FrameKind::body : kind, left_.size());
    append(head_, &header, sizeof header);
    next_piece();
}

/// A whole frame.
void Link::put_ahead(FrameKind kind, const runtime::Bytes& message) {
    const FrameHeader header = sealer_.begin(kind, message.size());
    const std::size_t begin = head_.size();
    head_.resize(begin + sizeof header + message.size() + sealer_.tag_bytes());
    std::memcpy(head_.data() + begin, &header, sizeof header);
    const auto payload = std::span(head_).subspan(begin + sizeof header, message.size());
    if (!message.empty()) std::memcpy(payload.data(), message.data(), message.size());
    sealer_.seal(payload, payload.data());
    const PayloadTag tag = sealer_.finish();
    std::memcpy(payload.data() + payload.size(), tag.data(), sealer_.tag_bytes());
}

void Link::next_piece() {
    middle_ = left_.first(left_.size() <= piece_bytes + piece_more ? left_.size() : piece_bytes);
    left_ = left_.subspan(middle_.size());
    if (sealer_.encrypts()) {
        room_.resize(std::max(room_.size(), middle_.size()));
        sealer_.seal(middle_, room_.data());
        middle_ = std::span(room_).first(middle_.size());
    } else {
        sealer_.seal(middle_, nullptr);
    }
    if (left_.empty()) append_tag(tail_, sealer_);
}

Link::Flushed Link::write_out() {
    if (broken_) {
        queue_.clear();
        return Flushed::broken;
    }
    for (;;) {
        if (const Flushed flushed = write_piece(); flushed != Flushed::all) return flushed;
        head_.clear();
        tail_.clear();
        written_ = 0;
        if (left_.empty()) break;
        next_piece();
    }
    if (writing_now_.kind == FrameKind::batch) batches_written_.push_back(std::move(writing_now_.payload));
    writing_now_ = {};
    middle_ = {};
    return Flushed::all;
}

Link::Flushed Link::write_piece() {
    const std::span<const std::byte> all[] = {head_, middle_, tail_};
    while (written_ < head_.size() + middle_.size() + tail_.size()) {
        iovec parts[std::size(all)];
        std::size_t count = 0;
        std::size_t done = written_;
        for (std::span<const std::byte> part : all) {
            const std::size_t of_part = std::min(done, part.size());
            done -= of_part;
            part = part.subspan(of_part);
            // A stream does not change what it writes.
            if (!part.empty()) parts[count++] = {const_cast<std::byte*>(part.data()), part.size()};
        }
        const std::ptrdiff_t moved = stream_->write({parts, count});
        if (moved > 0) {
            written_ += static_cast<std::size_t>(moved);
        } else if (moved == Stream::ended) {
            broken_ = true;
            // What waits is forgotten, so the receivers of both sides must find the connection ended, even if
            // only this direction failed. What has come before is still read.
            stream_->shut_down();
            return Flushed::broken;
        } else {
            // In this order, so that the thread that learns of room finds the link blocked.
            blocked_.store(true, std::memory_order_seq_cst);
            if (!stream_->ask_for_room()) return Flushed::blocked;
            blocked_.store(false, std::memory_order_relaxed);
        }
    }
    return Flushed::all;
}

void Link::give_up(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (given_up_.empty()) given_up_ = reason;
    stream_->shut_down();
}

namespace {

/// In place of one that has been freed.
class ClosedStream final : public Stream {
public:
    std::ptrdiff_t write(std::span<const iovec> /*parts*/) override { return ended; }
    std::ptrdiff_t read(std::span<const iovec> /*parts*/) override { return ended; }
    std::string failure() const override { return "connection closed"; }
    int descriptor() const override { return -1; }
    void shut_down() override {}
};

}  // namespace

bool Link::settle() {
    const std::lock_guard lock(mutex_);  // another thread may close it
    return stream_->settle();
}

void Link::close() {
    const std::scoped_lock lock(writing_, mutex_);
    broken_ = true;
    blocked_.store(false, std::memory_order_relaxed);
    stream_ = std::make_unique<ClosedStream>();
    queue_.clear();
    taken_.clear();
    taken_next_ = 0;
    batches_written_.clear();
    writing_now_ = {};
    left_ = middle_ = {};
    runtime::Bytes().swap(room_);
    buffer_.reset();
    runtime::Bytes().swap(large_);
    body_.reset();
    room_keeper_.reset();
    bodies_.reset();
}

// --- receiving

std::string Link::reason_of(const std::string& symptom) {
    const std::lock_guard lock(mutex_);
    return given_up_.empty() ? symptom : given_up_;
}

std::string Link::receive(const Handler& handle, const RoomFor& room_for) {
    unread_ = false;
    // A bounded number of rounds, so that one busy node does not keep the others waiting.
    for (int round = 0; round < 16 && !ended_; ++round) {
        const std::size_t large_left = in_large_ ? large_room_.size() - large_filled_ : 0;
        const std::size_t behind_max = in_large_ ? behind_bytes : std::min(buffer_bytes - end_, reads_max_);
        const iovec behind{buffer_.get() + end_, behind_max};
        const iovec parts[] = {{large_room_.data() + large_filled_, large_left}, behind};
        const std::size_t room = large_left + behind.iov_len;
        const std::ptrdiff_t count = stream_->read(std::span(parts).subspan(in_large_ ? 0 : 1));
        if (count == Stream::nothing) return {};
        if (count == Stream::ended) return reason_of(stream_->failure());
        if (!in_memory_) unheard_.store(0, std::memory_order_relaxed);
        const auto came = static_cast<std::size_t>(count);
        received_ += came;
        large_filled_ += std::min(came, large_left);
        end_ += came - std::min(came, large_left);
        if (in_large_) {
            reads_max_ = behind_large_bytes;
        } else if (came == room) {
            reads_max_ = std::min(2 * reads_max_, buffer_bytes);
        }
        if (std::string failure = parse(handle, room_for); !failure.empty()) return failure;
        if (came < room) return {};
    }
    unread_ = !ended_;
    return {};
}

/// Handles all whole frames. Afterwards there is room to read into: in `large_room_`, and at the end of the
/// buffer.
std::string Link::parse(const Handler& handle, const RoomFor& room_for) {
    if (in_large_) {
        open_collected();
        if (!large_whole_) return {};
    }
    for (;;) {
        const std::size_t available = end_ - begin_;
        const std::size_t tag_bytes = opener_.tag_bytes();
        if (!have_header_) {
            if (available < sizeof header_) break;
            std::memcpy(&header_, buffer_.get() + begin_, sizeof header_);
            if (std::string failure = opener_.begin(header_); !failure.empty()) return failure;
            have_header_ = true;
            begin_ += sizeof header_;
            if (has_enclosing_ != (header_.kind == FrameKind::body))
                return has_enclosing_ ? "it sent a message without its body"
                                      : "it sent a body without its message";
            if (!has_enclosing_) continue;
            collect_body(room_for);
            if (in_large_) return {};
        } else if (large_whole_) {
            if (available < tag_bytes) break;
            large_whole_ = have_header_ = false;
            if (std::string failure = take_at(begin_, large_room_, handle); !failure.empty()) return failure;
            // One huge message must not hold its memory for ever.
            if (large_.size() > large_kept_bytes) runtime::Bytes().swap(large_);
        } else if (header_.length + tag_bytes <= available) {
            const std::span payload(buffer_.get() + begin_, header_.length);
            begin_ += header_.length;
            have_header_ = false;
            opener_.open(payload);
            if (std::string failure = take_at(begin_, payload, handle); !failure.empty()) return failure;
        } else if (header_.length + tag_bytes > buffer_bytes) {
            if (large_.size() < header_.length) large_.resize(header_.length);
            collect(std::span(large_).first(header_.length));
            if (in_large_) return {};
        } else {
            break;
        }
    }
    if (begin_ != end_) std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    return {};
}

void Link::collect_body(const RoomFor& room_for) {
    Room room;
    if (room_for && header_.length > 0) room = room_for(enclosing_, header_.length);
    room_keeper_ = std::move(room.keeper);
    if (room.bytes.size() == header_.length && header_.length > 0) return collect(room.bytes);
    body_ = bodies_->make(header_.length);
    collect(*body_);
}

/// Moves what has come of the present frame into `room`, and reads the rest to there. It was safe to allocate
/// that: the header has proved that the peer itself named this length, below the largest.
void Link::collect(std::span<std::byte> room) {
    large_room_ = room;
    const std::size_t available = std::min(room.size(), end_ - begin_);
    if (available > 0) std::memcpy(room.data(), buffer_.get() + begin_, available);
    begin_ += available;
    large_filled_ = available;
    large_opened_ = 0;
    in_large_ = true;
    open_collected();
    if (in_large_) begin_ = end_ = 0;
}

/// Opens what has been collected, up to a whole block or the end.
void Link::open_collected() {
    const bool whole = large_filled_ == large_room_.size();
    const std::size_t end =
        whole ? large_filled_ : large_filled_ - large_filled_ % PayloadCipher::block_bytes;
    opener_.open(large_room_.first(end).subspan(large_opened_));
    large_opened_ = end;
    in_large_ = !whole;
    large_whole_ = whole;
}

/// Takes a payload whose tag is at `buffer_[place]`, and goes behind the tag.
std::string Link::take_at(std::size_t place, std::span<const std::byte> payload, const Handler& handle) {
    begin_ = place + opener_.tag_bytes();
    if (!opener_.matches({buffer_.get() + place, opener_.tag_bytes()})) return "it sent a corrupt frame";
    return take(header_, payload, handle);
}

std::string Link::take(const FrameHeader& header, std::span<const std::byte> payload, const Handler& handle) {
    if (ended_) return "it sent a frame after its goodbye";
    if (header.kind == FrameKind::goodbye) ended_ = true;
    if (header.kind == FrameKind::enclosing) {
        enclosing_.assign(payload.begin(), payload.end());
        has_enclosing_ = true;
        return {};
    }
    if (header.kind == FrameKind::body) {
        has_enclosing_ = false;
        in_room_ = body_ ? 0 : header.length;
        handle(FrameKind::message, enclosing_, std::exchange(body_, nullptr));
        in_room_ = 0;
        room_keeper_.reset();
        return {};
    }
    if (header.kind != FrameKind::batch) {
        handle(header.kind, payload, {});
        return {};
    }
    while (!payload.empty()) {
        Length length = 0;
        if (payload.size() < sizeof length) return "it sent a malformed batch";
        std::memcpy(&length, payload.data(), sizeof length);
        payload = payload.subspan(sizeof length);
        if (payload.size() < length) return "it sent a malformed batch";
        handle(FrameKind::message, payload.first(length), {});
        payload = payload.subspan(length);
    }
    return {};
}

}  // namespace heddle::native
