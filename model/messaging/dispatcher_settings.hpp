// The settings of the dispatcher that carries the messages of a process's threads (the pCoR paper, sections 4
// and 5).
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "base/time.hpp"

namespace heddle::messaging {

/// The paper's numbers where it states them.
struct DispatcherSettings {
    /// Which threads a message wakes that wait in receives of its process.
    enum class Wake : std::uint8_t {
        one,  ///< the one whose receive takes it
        all   ///< each looks whether it has its message, and waits again
    };

    std::uint64_t fragment_bytes = 64U << 10;  ///< the largest fragment, with its header
    std::uint64_t header_bytes = 40;           ///< at least those of FragmentHeader
    std::uint32_t fragments = 32;              ///< of a message at most: bits of the fragment map
    std::uint32_t control_blocks = 1024;       ///< messages that may wait at a process for their receives
    std::uint32_t send_buffers = 64;           ///< fragments of a process that may be under way
    Wake wake = Wake::one;
    Time retry =
        std::chrono::microseconds(100);  ///< from a refusal until the fragment is sent again, at least
    Location where{};                    ///< of the settings, for errors

    /// Throws Error for settings that make no sense.
    void check() const;

    std::uint64_t data_bytes() const { return fragment_bytes - header_bytes; }  ///< of a full fragment
    std::uint64_t message_bytes_max() const { return data_bytes() * fragments; }
    std::uint64_t fragments_of(std::uint64_t bytes) const {
        return bytes == 0 ? 1 : (bytes + data_bytes() - 1) / data_bytes();
    }
};

}  // namespace heddle::messaging
