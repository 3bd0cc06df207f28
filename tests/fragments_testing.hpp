// For tests of a dispatcher's queues: fragments of messages to thread 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "model/messaging/fragment.hpp"
#include "runtime/comm/parcel.hpp"

namespace heddle::messaging {

inline FragmentHeader header_of(std::uint64_t message, std::uint32_t sequence, std::uint64_t size,
                                std::uint32_t index) {
    FragmentHeader header;
    header.target_thread = 3;
    header.message = message;
    header.sequence = sequence;
    header.size = size;
    header.index = index;
    return header;
}

inline runtime::Parcel bytes(std::size_t count) {
    return runtime::Parcel(std::make_shared<runtime::Bytes>(count));
}

}  // namespace heddle::messaging
