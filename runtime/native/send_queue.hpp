// Frames that wait to be written to one connection. The posting thread packs small messages into batches: it
// reuses their memory, and the writing thread gets whole buffers. No socket is used here.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/native/frame.hpp"

namespace heddle::native {

class SendQueue {
public:
    // Messages below `small_bytes` are copied into batches of up to `batch_bytes`: for them a copy costs less
    // than a header, a hash and an entry of the gather list of their own.
    static constexpr std::size_t small_bytes = 8 << 10;
    static constexpr std::size_t batch_bytes = 64 << 10;

    using Length = std::uint32_t;  ///< of a message in a batch

    /// A frame to be. The payload of a batch begins with room for its frame's header.
    struct Parcel {
        FrameKind kind = FrameKind::padding;
        runtime::Bytes payload;
        runtime::SentBody body;
    };

    /// What a post has found.
    struct Posted {
        bool first;     ///< nothing waited before
        bool worth_it;  ///< what waits is worth a write of its own
    };
    /// After a goodbye, flow control and answers to a node that joins are of no use, and forgotten.
    Posted post(FrameKind kind, runtime::Bytes&& payload, runtime::SentBody&& body);

    /// Any thread. What the calling thread has posted is in the queue until it is taken.
    bool is_empty() const { return empty_.load(std::memory_order_acquire); }

    /// Swaps what waits with `to`, which is empty. False where nothing waits. `written`: the memory of
    /// batches that have been written, for the next ones; is empty afterwards.
    bool take(std::vector<Parcel>& to, std::vector<runtime::Bytes>& written);
    void clear();

private:
    void add_to_batch(const runtime::Bytes& message);

    static constexpr std::size_t spare_max = 4;

    std::mutex mutex_;
    std::atomic<bool> empty_{true};  ///< nothing is in `waiting_`
    bool closed_ = false;            ///< a goodbye has been posted
    std::vector<Parcel> waiting_;
    std::vector<runtime::Bytes> spare_;
};

}  // namespace heddle::native
