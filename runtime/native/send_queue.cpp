// Appends small messages to a batch and queues large ones as frames of their own.
#include "runtime/native/send_queue.hpp"

#include <cstring>
#include <utility>

namespace heddle::native {

SendQueue::Posted SendQueue::post(FrameKind kind, runtime::Bytes&& payload, runtime::SentBody&& body) {
    const bool small = kind == FrameKind::message && payload.size() < small_bytes && !body;
    const std::lock_guard lock(mutex_);
    const bool idle = kind == FrameKind::mark || kind == FrameKind::handled || kind == FrameKind::goodbye ||
                      kind == FrameKind::linked || kind == FrameKind::over;
    if (closed_ && idle) return {false, false};
    closed_ = closed_ || kind == FrameKind::goodbye;
    const bool first = waiting_.empty();
    if (first) empty_.store(false, std::memory_order_release);
    if (small) {
        add_to_batch(payload);
    } else {
        waiting_.push_back({kind, std::move(payload), std::move(body)});
    }
    const Parcel& last = waiting_.back();
    const std::size_t large_bytes = last.kind == FrameKind::batch ? batch_bytes / 2 : small_bytes;
    const bool large = last.body || last.payload.size() >= large_bytes;
    return {first, large};
}

void SendQueue::add_to_batch(const runtime::Bytes& message) {
    const auto length = static_cast<Length>(message.size());
    const std::size_t added = sizeof length + message.size();
    const auto fits = [&](const Parcel& parcel) {
        return parcel.kind == FrameKind::batch &&
               parcel.payload.size() + added <= sizeof(FrameHeader) + batch_bytes;
    };
    if (waiting_.empty() || !fits(waiting_.back())) {
        Parcel batch{FrameKind::batch, {}, {}};
        if (spare_.empty()) {
            batch.payload.reserve(sizeof(FrameHeader) + batch_bytes + sizeof(PayloadTag));
        } else {
            batch.payload = std::move(spare_.back());
            spare_.pop_back();
        }
        batch.payload.resize(sizeof(FrameHeader));
        waiting_.push_back(std::move(batch));
    }
    runtime::Bytes& batch = waiting_.back().payload;
    const std::size_t end = batch.size();
    batch.resize(end + added);
    std::memcpy(batch.data() + end, &length, sizeof length);
    if (length != 0) std::memcpy(batch.data() + end + sizeof length, message.data(), message.size());
}

bool SendQueue::take(std::vector<Parcel>& to, std::vector<runtime::Bytes>& written) {
    {
        const std::lock_guard lock(mutex_);
        std::swap(to, waiting_);
        empty_.store(true, std::memory_order_release);
        for (; !written.empty() && spare_.size() < spare_max; written.pop_back())
            spare_.push_back(std::move(written.back()));
    }
    written.clear();
    return !to.empty();
}

void SendQueue::clear() {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    empty_.store(true, std::memory_order_release);
}

}  // namespace heddle::native
