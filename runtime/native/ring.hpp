// One direction of a connection through memory that two processes share: a ring of bytes with one writer and
// one reader. Makes no system call: waking a reader or writer that sleeps is the caller's part.
//
// Each side keeps its own position and only publishes it here. What the other side publishes is checked
// before use, so a peer that writes garbage is refused and cannot make this process read or write beyond the
// ring.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "runtime/native/streaming_copy.hpp"

namespace heddle::native {

/// What both processes see of a ring, beside its bytes. Each word has a cache line to itself: the requests
/// change seldom, and must not travel with the positions.
struct RingControl {
    alignas(64) std::atomic<std::uint64_t> written{0};  ///< bytes since the beginning
    alignas(64) std::atomic<std::uint64_t> read{0};
    alignas(64) std::atomic<std::uint32_t> reader_asks{0};  ///< to be woken when bytes come
    alignas(64) std::atomic<std::uint32_t> writer_asks{0};  ///< to be woken when there is room
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);

// No wake-up is lost. A reader asks and then looks for bytes; a writer publishes bytes and then looks for a
// request. All four are sequentially consistent, so at least one of both sees what the other has done. The
// same with room.

class RingWriter {
public:
    RingWriter(RingControl& control, std::span<std::byte> bytes) : control_(control), bytes_(bytes) {}

    /// Copies bytes from the front of `from`, as many as there is room for. Returns how many. The reader sees
    /// them after `publish`.
    std::size_t put(std::span<const std::byte> from);

    std::size_t unpublished() const { return position_ - published_; }

    /// True: the reader has asked to be woken, and the caller must do that.
    bool publish();

    /// Asks to be woken when half of the ring is free. True: there is room already, and nothing is asked.
    bool ask_for_room();

    /// Looks at what the reader has published.
    bool has_room();

    /// Whether the reader has answered `ask_for_room`. Any thread.
    bool room_has_come() const { return control_.writer_asks.load(std::memory_order_acquire) == 0; }

    bool reader_is_awake() const { return control_.reader_asks.load(std::memory_order_relaxed) == 0; }

    /// The reader has published a position that cannot be. Any thread.
    bool is_corrupt() const { return corrupt_.load(std::memory_order_relaxed); }

private:
    std::size_t room();
    std::size_t room_seen();

    RingControl& control_;
    std::span<std::byte> bytes_;  ///< a power of two
    std::uint64_t position_ = 0;
    std::uint64_t published_ = 0;
    std::uint64_t read_seen_ = 0;
    CopyToOtherCore copy_;
    std::atomic<bool> corrupt_{false};
};

class RingReader {
public:
    RingReader(RingControl& control, std::span<const std::byte> bytes) : control_(control), bytes_(bytes) {}

    bool has_come() const { return control_.written.load(std::memory_order_acquire) != position_; }

    /// Copies what has come to `to`, as much as fits. Returns how many bytes.
    std::size_t take(std::span<std::byte> to);

    /// Makes room for the writer of what was taken, except of the last few bytes. True: the writer has asked
    /// to be woken, and the caller must do that.
    bool publish();

    /// Asks to be woken when bytes come. False: some have come already, and nothing is asked.
    bool ask_for_bytes();
    void ask_no_more() {
        if (control_.reader_asks.exchange(0, std::memory_order_acq_rel) == 0) answered_ = true;
    }

    /// Once: whether the writer has answered since, and wakes the reader, or has.
    bool was_answered() { return std::exchange(answered_, false); }

    /// The writer has published a position that cannot be.
    bool is_corrupt() const { return corrupt_; }

private:
    RingControl& control_;
    std::span<const std::byte> bytes_;
    std::uint64_t position_ = 0;
    std::uint64_t published_ = 0;
    std::uint64_t written_seen_ = 0;
    bool corrupt_ = false;
    bool answered_ = false;
};

}  // namespace heddle::native
