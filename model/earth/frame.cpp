// Allocates EARTH's activation frames by size class, and notes freed frames for checked runs.
#include "model/earth/frame.hpp"

#include <new>

#include "model/earth/exclusive.hpp"

namespace heddle::model::earth {

ExclusiveFibers& Frame::exclusive(bool& made_now) {
    ExclusiveFibers* present = exclusive_.load(std::memory_order_acquire);
    if (present) return *present;
    auto made = std::make_unique<ExclusiveFibers>();
    if (exclusive_.compare_exchange_strong(present, made.get(), std::memory_order_acq_rel)) {
        made_now = true;
        return *made.release();
    }
    return *present;
}

void Frame::free_exclusive() {
    delete exclusive_.exchange(nullptr, std::memory_order_relaxed);
}

FramePool::~FramePool() {
    for (const auto& [begin, function] : graves_)
        if (!is_pooled(*function)) release_alone(const_cast<std::byte*>(begin), *function);
}

void* FramePool::allocate_alone(const FunctionInfo& function) {
    return ::operator new (function.frame_bytes, std::align_val_t{function.frame_alignment});
}

void FramePool::release_alone(void* memory, const FunctionInfo& function) {
    ::operator delete (memory, std::align_val_t{function.frame_alignment});
}

void* FramePool::carve(std::size_t size_class) {
    const std::size_t bytes = size_class * grain;
    if (left_ < bytes) {
        chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_bytes));
        left_ = chunk_bytes;
    }
    left_ -= bytes;
    return chunks_.back().get() + left_;
}

void FramePool::bury(void* memory, const FunctionInfo& function) {
    const runtime::SpinLock::Guard guard(lock_);
    graves_.emplace(static_cast<const std::byte*>(memory), &function);
}

const FunctionInfo* FramePool::find_freed(const void* begin, std::size_t bytes) {
    const runtime::SpinLock::Guard guard(lock_);
    const auto* first = static_cast<const std::byte*>(begin);
    auto after = graves_.lower_bound(first + bytes);
    if (after == graves_.begin()) return nullptr;
    const auto& [frame, function] = *--after;
    return first < frame + function->frame_bytes ? function : nullptr;
}

}  // namespace heddle::model::earth
