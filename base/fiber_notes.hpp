// Tells the sanitizers when a thread switches from one stack to another, because they cannot detect it. In
// builds without sanitizers it does nothing. It switches no stacks: Boost.Context does. A thread must resume
// a fiber once before another fiber may switch to it directly.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace heddle {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

/// The notes on one fiber that is resumed from, and suspends to, a plain thread. Each switch is told twice:
/// before it by the side that leaves, after it by the side that arrives.
class FiberNotes {
public:
    FiberNotes() = default;
    FiberNotes(const FiberNotes&) = delete;
    FiberNotes& operator=(const FiberNotes&) = delete;
    ~FiberNotes() {
#if defined(__SANITIZE_THREAD__)
        if (fiber_ != nullptr) __tsan_destroy_fiber(fiber_);
#endif
    }

    /// A stack allocator of Boost.Context that notes where the fiber's stack lies.
    template <class Allocator>
    struct Noted {
        using traits_type = typename Allocator::traits_type;

        Allocator allocator;
        FiberNotes* notes;

        auto allocate() {
            auto stack = allocator.allocate();
            notes->bottom_ = static_cast<const char*>(stack.sp) - stack.size;
            notes->bytes_ = stack.size;
            return stack;
        }
        template <class Stack>
        void deallocate(Stack& stack) {
            allocator.deallocate(stack);
        }
    };
    template <class Allocator>
    Noted<Allocator> noted(const Allocator& allocator) {
        return {allocator, this};
    }

    /// The thread: just before and just after it resumes the fiber.
    void before_resume() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(&thread_fake_stack_, bottom_, bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
        if (fiber_ == nullptr) fiber_ = __tsan_create_fiber(0);
        thread_ = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(fiber_, 0);
#endif
    }
    void after_resume() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(thread_fake_stack_, nullptr, nullptr);
#endif
    }

    /// The fiber: first thing it does, just before and just after it suspends, and last thing it does.
    void after_entry() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(nullptr, &thread_bottom_, &thread_bytes_);
#endif
    }
    void before_suspend() {
        leave(&fake_stack_);
    }
    void after_suspend() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(fake_stack_, &thread_bottom_, &thread_bytes_);
#endif
    }
    void before_exit() {
        leave(nullptr);
    }

    /// Fiber to fiber: just before it, and just after another fiber has switched here. The thread goes along:
    /// it need not be the one that resumed `next` the last time.
    void before_switch_to([[maybe_unused]] FiberNotes& next) {
        next.thread_bottom_ = thread_bottom_;
        next.thread_bytes_ = thread_bytes_;
        next.thread_ = thread_;
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(&fake_stack_, next.bottom_, next.bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
        __tsan_switch_to_fiber(next.fiber_, 0);
#endif
    }
    void after_switch() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
#endif
    }

private:
    void leave([[maybe_unused]] void** fake_stack) {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(fake_stack, thread_bottom_, thread_bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
        __tsan_switch_to_fiber(thread_, 0);
#endif
    }

    [[maybe_unused]] const void* bottom_ = nullptr;
    [[maybe_unused]] std::size_t bytes_ = 0;
    [[maybe_unused]] void* fake_stack_ = nullptr;
    [[maybe_unused]] void* thread_fake_stack_ = nullptr;
    [[maybe_unused]] const void* thread_bottom_ = nullptr;
    [[maybe_unused]] std::size_t thread_bytes_ = 0;
    [[maybe_unused]] void* fiber_ = nullptr;
    [[maybe_unused]] void* thread_ = nullptr;
};

#else

/// Without sanitizers: no operation does anything.
class FiberNotes {
public:
    template <class Allocator>
    Allocator noted(const Allocator& allocator) {
        return allocator;
    }
    void before_resume() {}
    void after_resume() {}
    void after_entry() {}
    void before_suspend() {}
    void after_suspend() {}
    void before_exit() {}
    void before_switch_to(FiberNotes& /*next*/) {}
    void after_switch() {}
};

#endif

}  // namespace heddle
