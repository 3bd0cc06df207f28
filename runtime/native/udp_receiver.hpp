// The receiving direction of a connection by UDP: chunks that come in any order, and more than once, become a
// stream of bytes again. It opens no socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::native {

class UdpReceiver {
public:
    /// Chunks that may have come and not been read.
    static constexpr std::uint64_t window_chunks = 1024;

    UdpReceiver() : slots_(window_chunks) {}

    /// A chunk has come; one that came before, or for which there is no room, is dropped.
    void take(std::uint64_t number, std::span<const std::byte> bytes);

    /// Takes the stream's next bytes, as many as have come. Returns how many.
    std::size_t read(std::span<std::byte> room);
    bool has_bytes() const { return reading_ < next_; }

    // --- what to acknowledge
    std::uint64_t acknowledged() const { return next_; }
    std::uint32_t window() const { return static_cast<std::uint32_t>(reading_ + window_chunks - next_); }

    /// Whether chunks are missing before others.
    bool has_gaps() const { return end_ > next_; }

    /// Bit i says whether chunk `acknowledged()` + i has come. Returns how many bytes were written.
    std::size_t write_bitmap(std::span<std::byte, window_chunks / 8> to) const;

private:
    std::vector<std::byte>& slot(std::uint64_t number) { return slots_[number % window_chunks]; }
    const std::vector<std::byte>& slot(std::uint64_t number) const { return slots_[number % window_chunks]; }

    // Chunks [reading_, next_) have come and are not read. Of [next_, end_) some have come, and next_ has
    // not. A slot that is empty has no chunk.
    std::vector<std::vector<std::byte>> slots_;
    std::vector<std::vector<std::byte>> spare_;
    std::uint64_t reading_ = 0;
    std::uint64_t next_ = 0;
    std::uint64_t end_ = 0;
    std::size_t read_of_first_ = 0;  ///< bytes of chunk reading_
};

}  // namespace heddle::native
