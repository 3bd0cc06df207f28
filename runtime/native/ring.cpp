// Copies bytes into and out of a ring, in two pieces where it ends.
#include "runtime/native/ring.hpp"

#include <algorithm>
#include <cstring>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace heddle::native {

namespace {

constexpr std::size_t line_bytes = 64;

// Writer and reader may be threads of one process, each with a mapping of its own. To ThreadSanitizer these
// are different addresses, so it would see no order between the two. These two say it.
#if defined(__SANITIZE_THREAD__)
char order;  // of all rings
void note_publishing() {
    __tsan_release(&order);
}
void note_seen() {
    __tsan_acquire(&order);
}
#else
void note_publishing() {}
void note_seen() {}
#endif

}  // namespace

// --- the writer

std::size_t RingWriter::room_seen() {
    const std::uint64_t used = position_ - read_seen_;
    if (used > bytes_.size()) corrupt_.store(true, std::memory_order_relaxed);
    return is_corrupt() ? 0 : bytes_.size() - used;
}

/// Reads the reader's position only if the ring looks full: reading it takes its cache line away from the
/// reader.
std::size_t RingWriter::room() {
    if (room_seen() == 0 && !is_corrupt()) read_seen_ = control_.read.load(std::memory_order_acquire);
    return room_seen();
}

bool RingWriter::has_room() {
    read_seen_ = control_.read.load(std::memory_order_acquire);
    return room_seen() > 0;
}

std::size_t RingWriter::put(std::span<const std::byte> from) {
    const std::size_t count = std::min(from.size(), room());
    const std::size_t begin = position_ & (bytes_.size() - 1);
    const std::size_t first = std::min(count, bytes_.size() - begin);
    if (first > 0) copy_.copy(bytes_.data() + begin, from.first(first));
    if (count > first) copy_.copy(bytes_.data(), from.subspan(first, count - first));
    position_ += count;
    return count;
}

bool RingWriter::publish() {
    published_ = position_;
    note_publishing();
    control_.written.store(position_, std::memory_order_seq_cst);
    // What comes next goes here. The reader had these lines last: fetch them while nothing waits for that.
    const std::size_t next = position_ & (bytes_.size() - 1);
    const std::size_t after = (position_ + line_bytes) & (bytes_.size() - 1);
    __builtin_prefetch(bytes_.data() + next, 1);
    __builtin_prefetch(bytes_.data() + after, 1);
    return control_.reader_asks.load(std::memory_order_seq_cst) != 0 &&
           control_.reader_asks.exchange(0, std::memory_order_seq_cst) != 0;
}

bool RingWriter::ask_for_room() {
    control_.writer_asks.store(1, std::memory_order_seq_cst);
    read_seen_ = control_.read.load(std::memory_order_seq_cst);
    if (room_seen() == 0 && !is_corrupt()) return false;
    control_.writer_asks.store(0, std::memory_order_relaxed);
    return true;
}

// --- the reader

std::size_t RingReader::take(std::span<std::byte> to) {
    if (written_seen_ == position_) {
        written_seen_ = control_.written.load(std::memory_order_acquire);
        note_seen();
    }
    const std::uint64_t there = written_seen_ - position_;
    corrupt_ = corrupt_ || there > bytes_.size();
    if (corrupt_) return 0;
    const std::size_t count = std::min<std::size_t>(to.size(), there);
    const std::size_t begin = position_ & (bytes_.size() - 1);
    const std::size_t first = std::min(count, bytes_.size() - begin);
    if (first > 0) std::memcpy(to.data(), bytes_.data() + begin, first);
    if (count > first) std::memcpy(to.data() + first, bytes_.data(), count - first);
    position_ += count;
    return count;
}

// A sixteenth of the ring is not worth telling: each store that the writer can see waits until the reader's
// earlier ones are visible. A writer asks only if the ring is full. So there are still bytes for the reader,
// it will pass the half, and it wakes the writer once there, not for each few bytes.
bool RingReader::publish() {
    if (position_ - published_ <= bytes_.size() / 16) return false;
    published_ = position_;
    control_.read.store(position_, std::memory_order_seq_cst);
    if (control_.writer_asks.load(std::memory_order_seq_cst) == 0) return false;
    written_seen_ = control_.written.load(std::memory_order_acquire);
    note_seen();
    if (written_seen_ - position_ > bytes_.size() / 2) return false;
    return control_.writer_asks.exchange(0, std::memory_order_seq_cst) != 0;
}

bool RingReader::ask_for_bytes() {
    control_.reader_asks.store(1, std::memory_order_seq_cst);
    if (control_.written.load(std::memory_order_seq_cst) == position_) return true;
    ask_no_more();
    return false;
}

}  // namespace heddle::native
