// Tells the sanitizers when a thread switches from one stack to another, because they cannot detect it. In
// builds without sanitizers it does nothing. It switches no stacks: Boost.Context does.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace heddle {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

/// The notes on one fiber that is resumed from, and suspends to, a plain thread. Each switch is told twice:
/// before it by the side that leaves, after it by the side that arrives.
//
// ThreadSanitizer counts the calls of each fiber. So what tells it of a switch is inlined: a function would
// be called on one fiber and return on the other.
class FiberNotes {
public:
    FiberNotes() = default;
    FiberNotes(const FiberNotes&) = delete;
    FiberNotes& operator=(const FiberNotes&) = delete;
    ~FiberNotes() {
#if defined(__SANITIZE_THREAD__)
        if (own_.fiber != nullptr) __tsan_destroy_fiber(own_.fiber);
#endif
    }

    /// Memory was a stack, or becomes one. AddressSanitizer keeps notes on the frames of a fiber that never
    /// returns, and would find them wrong in what comes to the same place.
    static void clear(const void* begin, std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
        __asan_unpoison_memory_region(begin, bytes);
#else
        (void)begin;
        (void)bytes;
#endif
    }

    /// The fiber's stack.
    void lies_at(const void* bottom, std::size_t bytes) {
        clear(bottom, bytes);
        own_.bottom = running_.bottom = bottom;
        own_.bytes = running_.bytes = bytes;
    }

    /// Above this fiber another one runs, with a stack of its own, until `runs_itself`: then a switch to this
    /// fiber is a switch to that stack. May be called on either stack.
    void runs(FiberNotes& above) {
#if defined(__SANITIZE_THREAD__)
        (void)above.fiber();
#endif
        running_ = above.own_;
    }
    void runs_itself() {
        running_ = own_;
    }

    /// A stack allocator of Boost.Context that notes where the fiber's stack lies.
    template <class Allocator>
    struct Noted {
        using traits_type = typename Allocator::traits_type;

        Allocator allocator;
        FiberNotes* notes;

        auto allocate() {
            auto stack = allocator.allocate();
            notes->lies_at(static_cast<const char*>(stack.sp) - stack.size, stack.size);
            return stack;
        }
        template <class Stack>
        void deallocate(Stack& stack) {
            clear(static_cast<const char*>(stack.sp) - stack.size, stack.size);
            allocator.deallocate(stack);
        }
    };
    template <class Allocator>
    Noted<Allocator> noted(const Allocator& allocator) {
        return {allocator, this};
    }

    /// The thread: just before and just after it resumes the fiber.
    [[gnu::always_inline]] void before_resume() {
#if defined(__SANITIZE_ADDRESS__)
        note_resumer();
        __sanitizer_start_switch_fiber(&thread_fake_stack_, running_.bottom, running_.bytes);
#endif
#if defined(__SANITIZE_THREAD__)
        thread_ = __tsan_get_current_fiber();
        resumed_ = this;
        __tsan_switch_to_fiber(fiber(), 0);
#endif
    }
    [[gnu::always_inline]] void after_resume() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(thread_fake_stack_, nullptr, nullptr);
#endif
#if defined(__SANITIZE_THREAD__)
        // Written only if it is set: another thread may be resuming the fiber by now.
        if (ended_) {
            __tsan_switch_to_fiber(thread_, 0);
            ended_ = false;
        }
#endif
    }

    /// The same, if it resumed the fiber to unwind it: it may be another stack above the fiber that has
    /// ended, and that one does not know to which stack it returned.
    [[gnu::always_inline]] void after_unwind() {
        after_resume();
#if defined(__SANITIZE_ADDRESS__)
        arrive(resumer_.bottom, resumer_.bytes, nullptr, nullptr);
#endif
#if defined(__SANITIZE_THREAD__)
        if (__tsan_get_current_fiber() != thread_) __tsan_switch_to_fiber(thread_, 0);
#endif
    }

    /// The fiber: first thing it does, just before and just after it suspends, and last thing it does. If
    /// another fiber switched to it for the first time, the first thing is `after_switch`.
    void after_entry() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(nullptr, &thread_bottom_, &thread_bytes_);
#endif
    }
    [[gnu::always_inline]] void before_suspend() {
        leave(&fake_stack_);
    }
    void after_suspend() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(fake_stack_, &thread_bottom_, &thread_bytes_);
#endif
    }
    // Functions of the fiber still return, or are unwound. ThreadSanitizer counts them off the stack that it
    // is told of, so the thread tells it of the switch.
    void before_exit() {
#if defined(__SANITIZE_THREAD__)
        resumed_->ended_ = true;
        resumed_->thread_ = thread_;
#else
        leave(nullptr);
#endif
    }

    /// Fiber to fiber: just before it, and just after another fiber has switched here. The thread goes along:
    /// it need not be the one that resumed `next` the last time.
    [[gnu::always_inline]] void before_switch_to([[maybe_unused]] FiberNotes& next) {
        next.thread_bottom_ = thread_bottom_;
        next.thread_bytes_ = thread_bytes_;
        next.thread_ = thread_;
        next.resumed_ = resumed_;
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(&fake_stack_, next.running_.bottom, next.running_.bytes);
#endif
#if defined(__SANITIZE_THREAD__)
        __tsan_switch_to_fiber(next.fiber(), 0);
#endif
    }
    void after_switch() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
#endif
    }

private:
#if defined(__SANITIZE_ADDRESS__)
    /// The thread stays on its stack, and AddressSanitizer takes another one for its stack. Tells which it
    /// took before.
    static void arrive(const void* bottom, std::size_t bytes, const void** before,
                       std::size_t* bytes_before) {
        void* fake_stack = nullptr;
        __sanitizer_start_switch_fiber(&fake_stack, bottom, bytes);
        __sanitizer_finish_switch_fiber(fake_stack, before, bytes_before);
    }

    void note_resumer() {
        // It tells of a stack only when it takes another one: for a moment it takes the fiber's.
        arrive(running_.bottom, running_.bytes, &resumer_.bottom, &resumer_.bytes);
        arrive(resumer_.bottom, resumer_.bytes, nullptr, nullptr);
    }
#endif

    [[gnu::always_inline]] void leave([[maybe_unused]] void** fake_stack) {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(fake_stack, thread_bottom_, thread_bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
        __tsan_switch_to_fiber(thread_, 0);
#endif
    }

    struct Stack {
        const void* bottom = nullptr;
        std::size_t bytes = 0;
        void* fiber = nullptr;  ///< ThreadSanitizer's
    };

#if defined(__SANITIZE_THREAD__)
    void* fiber() {
        if (running_.fiber == nullptr) {
            if (own_.fiber == nullptr) own_.fiber = __tsan_create_fiber(0);
            running_.fiber = own_.fiber;
        }
        return running_.fiber;
    }
#endif

    Stack own_;
    Stack running_;                   ///< where a switch to this fiber goes on
    [[maybe_unused]] Stack resumer_;  ///< of the thread that resumed the fiber
    [[maybe_unused]] void* fake_stack_ = nullptr;
    [[maybe_unused]] void* thread_fake_stack_ = nullptr;
    [[maybe_unused]] const void* thread_bottom_ = nullptr;
    [[maybe_unused]] std::size_t thread_bytes_ = 0;
    [[maybe_unused]] void* thread_ = nullptr;
    [[maybe_unused]] FiberNotes* resumed_ =
        nullptr;  ///< that the thread resumed, and calls `after_resume` of
    [[maybe_unused]] bool ended_ = false;
};

/// How a thread of control that may be a fiber tells of a stack of its own above it.
class FiberNotesLink {
public:
    void follow(FiberNotes& notes) { notes_ = &notes; }
    void runs(FiberNotes& above) {
        if (notes_) notes_->runs(above);
    }
    void runs_itself() {
        if (notes_) notes_->runs_itself();
    }
    [[gnu::always_inline]] void before_resume() {
        if (notes_) notes_->before_resume();
    }
    [[gnu::always_inline]] void after_unwind() {
        if (notes_) notes_->after_unwind();
    }

private:
    FiberNotes* notes_ = nullptr;
};

#else

/// Without sanitizers: no operation does anything.
class FiberNotes {
public:
    template <class Allocator>
    Allocator noted(const Allocator& allocator) {
        return allocator;
    }
    static void clear(const void* /*begin*/, std::size_t /*bytes*/) {}
    void lies_at(const void* /*bottom*/, std::size_t /*bytes*/) {}
    void runs(FiberNotes& /*above*/) {}
    void runs_itself() {}
    void before_resume() {}
    void after_resume() {}
    void after_unwind() {}
    void after_entry() {}
    void before_suspend() {}
    void after_suspend() {}
    void before_exit() {}
    void before_switch_to(FiberNotes& /*next*/) {}
    void after_switch() {}
};

class FiberNotesLink {
public:
    void follow(FiberNotes& /*notes*/) {}
    void runs(FiberNotes& /*above*/) {}
    void runs_itself() {}
    void before_resume() {}
    void after_unwind() {}
};

#endif

}  // namespace heddle
