// Keeps the stacks of fibers that have ended, for the fibers to come.
#pragma once

#include <atomic>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace heddle::inprocess {

/// Stacks of one size that are free again. A backend leaves them to the next one: tests make hundreds of
/// thousands, and the system takes longer for new stacks than a small run does.
class KeptStacks {
public:
    explicit KeptStacks(std::size_t bytes) : bytes_(bytes) {}
    ~KeptStacks() {
        for (boost::context::stack_context& stack : free_)
            boost::context::protected_fixedsize_stack(bytes_).deallocate(stack);
    }
    KeptStacks(const KeptStacks&) = delete;
    KeptStacks& operator=(const KeptStacks&) = delete;

    /// Those that an earlier backend left, if there are any of this size.
    static std::unique_ptr<KeptStacks> take(std::size_t bytes) {
        std::unique_ptr<KeptStacks> left(left_.exchange(nullptr));
        return left && left->bytes_ == bytes ? std::move(left) : std::make_unique<KeptStacks>(bytes);
    }
    static void leave(std::unique_ptr<KeptStacks> stacks) {
        const std::unique_ptr<KeptStacks> earlier(left_.exchange(stacks.release()));
    }

    boost::context::stack_context allocate() {
        if (free_.empty()) return boost::context::protected_fixedsize_stack(bytes_).allocate();
        const boost::context::stack_context stack = free_.back();
        free_.pop_back();
        return stack;
    }
    void deallocate(boost::context::stack_context& stack) {
        constexpr std::size_t most = 64;
        if (free_.size() < most)
            free_.push_back(stack);
        else
            boost::context::protected_fixedsize_stack(bytes_).deallocate(stack);
    }

private:
    /// Invariant: what is here belongs to no backend. Backends of several threads may take and leave at a
    /// time.
    static inline std::atomic<KeptStacks*> left_{nullptr};

    std::size_t bytes_;
    std::vector<boost::context::stack_context> free_;
};

/// As Boost.Context wants it: copied into each fiber.
struct StackAllocator {
    using traits_type = boost::context::protected_fixedsize_stack::traits_type;

    boost::context::stack_context allocate() const { return stacks->allocate(); }
    void deallocate(boost::context::stack_context& stack) const { stacks->deallocate(stack); }

    KeptStacks* stacks;
};

}  // namespace heddle::inprocess
