// Copies to memory that another core reads next, and had last. An ordinary store first fetches the line of
// the cache that it changes from that other core, though the copy overwrites it whole. Streaming stores do
// not: they go to memory. Where lines take long from core to core (another chiplet, another socket), a large
// copy then takes an eighth of the time; where they are near, the reader finds an ordinary copy sooner.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::native {

/// Smaller copies are ordinary.
inline constexpr std::size_t streaming_bytes_min = 4 << 10;

/// Streaming stores, ordered as ordinary ones are: before what this thread stores afterwards.
void copy_by_streaming(std::byte* to, std::span<const std::byte> from);

/// Finds out how far the other core is, from the time that ordinary copies take now and then. A virtual
/// machine may move its cores while it runs.
class CopyToOtherCore {
public:
    void copy(std::byte* to, std::span<const std::byte> from);

    /// An ordinary copy has taken so long.
    void judge(std::size_t bytes, std::chrono::nanoseconds taken);

    bool streams() const { return streams_; }

private:
    /// Slower ones wait for lines from afar: 2.5 GB/s there, 10 GB/s and more from a core that is near.
    static constexpr double slow_bytes_per_nanosecond = 3.3;
    /// A single slow one was perhaps interrupted.
    static constexpr std::uint32_t slow_in_a_row = 2;
    static constexpr std::uint32_t rest_near = 16, rest_far = 128;

    bool streams_ = false;
    std::uint32_t slow_ = 0;
    std::uint32_t until_measured_ = 0;
};

}  // namespace heddle::native
