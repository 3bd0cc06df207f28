// The header of a fragment, a part of a message that travels between two dispatchers.
#pragma once

#include <cstdint>
#include <vector>

#include "model/messaging/carrier.hpp"
#include "model/messaging/thread_id.hpp"

namespace heddle::messaging {

/// What precedes the data of each fragment: as many bytes as the paper's header must have had (64 KiB less
/// 2,095,872 / 32).
struct FragmentHeader {
    std::uint32_t source_thread = 0;
    std::uint32_t target_thread = 0;
    Tag tag = 0;
    std::uint64_t message = 0;   ///< the sending process's number of it
    std::uint64_t size = 0;      ///< of the whole message
    std::uint32_t sequence = 0;  ///< among those from one thread to another, modulo 2^32
    std::uint32_t index = 0;     ///< of the fragment in its message
};
static_assert(sizeof(FragmentHeader) == 40);

/// A fragment of a message that is under way, in one word: what its acknowledgment says.
class FragmentId {
public:
    static constexpr std::uint32_t index_bits = 24;

    FragmentId() = default;
    FragmentId(std::uint64_t message, std::uint32_t index) : word_(message << index_bits | index) {}

    std::uint64_t message() const { return word_ >> index_bits; }
    std::uint32_t index() const { return static_cast<std::uint32_t>(word_ & ((1U << index_bits) - 1)); }

private:
    std::uint64_t word_ = 0;
};

/// One that is to be sent.
struct Departure {
    ProcessId to = 0;
    FragmentHeader header;
    Block data;  ///< of the whole message
};

/// A message that has come whole.
struct Arrival {
    runtime::Address from;
    Tag tag = 0;
    std::uint64_t size = 0;
    std::vector<runtime::Parcel> parts;  ///< in their order
};

/// Room for messages at a process that has refused some, as it tells their senders.
struct RoomMessage {
    std::uint32_t blocks = 0;
};

/// A process has nothing left that was refused.
struct RelievedMessage {
    std::uint64_t refusals = 0;  ///< that it knows of: if there were more, it has
    std::uint32_t blocks = 0;    ///< that it was told of and does not need
};

}  // namespace heddle::messaging
