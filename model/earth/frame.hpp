// Allocates the activation frames of threaded functions (of EARTH), and returns their memory for reuse.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/task_type.hpp"

namespace heddle::model::earth {

class ExclusiveFibers;

/// A fiber that is enabled, of a frame.
struct ScheduledFiber {
    const runtime::TaskType* type;
    std::uint32_t priority;
};

/// A threaded function, as errors name it.
struct FunctionInfo {
    std::string name;
    std::size_t frame_bytes;
    std::size_t frame_alignment;
};

/// What every activation has, before its parameters and variables.
///
/// Invariant: `fibers` counts the fibers of the activation that run or are scheduled, and says whether it has
/// terminated. The worker that counts the last one of a terminated activation frees the frame; no fiber
/// touches it after its end. So a fiber that runs to its end elsewhere while another one terminates, because
/// it has sent the last signal, is no harm; one that begins after that is an error.
class Frame {
public:
    explicit Frame(const FunctionInfo& its_function) : function_(&its_function) {}
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    const FunctionInfo& function() const { return *function_; }

    void fiber_scheduled() { fibers_.fetch_add(1, std::memory_order_relaxed); }
    /// The last touch of a fiber. True: the thread has terminated and no other fiber touches the frame, which
    /// the caller frees.
    bool fiber_ended() {
        return fibers_.load(std::memory_order_acquire) == last_one ||
               fibers_.fetch_sub(1, std::memory_order_acq_rel) == last_one;
    }

    bool terminated() const { return (fibers_.load(std::memory_order_relaxed) & terminated_bit) != 0; }
    /// Called by one of its fibers. A program in error may schedule another fiber at the same time: that
    /// fiber must be counted, so that the frame lives until the error is reported.
    void terminate() { fibers_.fetch_or(terminated_bit, std::memory_order_acq_rel); }

    /// Made when they are first asked for: then `made` is set.
    ExclusiveFibers& exclusive(bool& made);
    bool has_exclusive() const { return exclusive_.load(std::memory_order_relaxed) != nullptr; }
    /// Part of the frame's end. Not in a destructor, so that a frame whose variables own nothing has none.
    void free_exclusive();

private:
    static constexpr std::uint32_t terminated_bit = std::uint32_t{1} << 31;
    static constexpr std::uint32_t last_one = terminated_bit + 1;

    const FunctionInfo* function_;
    std::atomic<std::uint32_t> fibers_{1};  ///< the initialization fiber
    std::atomic<ExclusiveFibers*> exclusive_{nullptr};
};

/// Memory for the frames that one worker makes. A frame may end on another worker of its node; that worker's
/// pool keeps its memory then. Used by its worker alone, except `find_freed`.
class FramePool {
public:
    /// `checked`: memory that was freed is not used again, so that a late access is found.
    explicit FramePool(bool checked) : checked_(checked) {}
    ~FramePool();
    FramePool(const FramePool&) = delete;
    FramePool& operator=(const FramePool&) = delete;

    void* allocate(const FunctionInfo& function) {
        add_one(allocated_);
        if (!is_pooled(function)) return allocate_alone(function);
        const std::size_t size_class = class_of(function.frame_bytes);
        if (Free* const free = free_[size_class]) {
            free_[size_class] = free->next;
            return free;
        }
        return carve(size_class);
    }

    void release(void* memory, const FunctionInfo& function) {
        add_one(released_);
        if (checked_) return bury(memory, function);
        if (!is_pooled(function)) return release_alone(memory, function);
        const std::size_t size_class = class_of(function.frame_bytes);
        free_[size_class] = ::new (memory) Free{free_[size_class]};
    }

    bool checked() const { return checked_; }
    std::uint64_t allocated() const { return allocated_.load(std::memory_order_relaxed); }
    std::uint64_t released() const { return released_.load(std::memory_order_relaxed); }

    /// The function whose frame, freed here, the bytes belonged to; null where they did not. From any
    /// context.
    const FunctionInfo* find_freed(const void* begin, std::size_t bytes);

private:
    struct Free {
        Free* next;
    };
    static constexpr std::size_t grain = 16;    ///< also the alignment
    static constexpr std::size_t classes = 65;  ///< up to 1 KiB
    static constexpr std::size_t chunk_bytes = 64U << 10;

    static std::size_t class_of(std::size_t bytes) { return (bytes + grain - 1) / grain; }
    /// Frames that are larger or more strictly aligned are few: the system allocates them.
    static bool is_pooled(const FunctionInfo& function) {
        return class_of(function.frame_bytes) < classes && function.frame_alignment <= grain;
    }
    static void* allocate_alone(const FunctionInfo& function);
    static void release_alone(void* memory, const FunctionInfo& function);
    void* carve(std::size_t size_class);
    void bury(void* memory, const FunctionInfo& function);

    bool checked_;
    std::array<Free*, classes> free_{};
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    std::size_t left_ = 0;  ///< bytes of the last chunk that no frame has had
    /// Only the owner writes.
    static void add_one(std::atomic<std::uint64_t>& count) {
        count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    std::atomic<std::uint64_t> allocated_{0};
    std::atomic<std::uint64_t> released_{0};
    runtime::SpinLock lock_;  ///< over `graves_`
    std::map<const std::byte*, const FunctionInfo*> graves_;
};

}  // namespace heddle::model::earth
