// The stacks of a node's strands: pooled, each with a guard page below it, and committed by the system as
// they are touched. A stack keeps its fiber when its strand has ended, so that the next strand begins with a
// switch.
#pragma once

#include <atomic>
#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/fiber_notes.hpp"
#include "base/guard_pages.hpp"
#include "base/recorder.hpp"
#include "base/stack_guard.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::runtime {

class Strand;

struct StrandStack {
    boost::context::fiber idle;  ///< its fiber while no strand has it; empty before the first one
    boost::context::stack_context memory;
    Strand* strand = nullptr;  ///< that it belongs to; null in the pool
    StrandStack* next = nullptr;
    std::uint64_t* mark = nullptr;  ///< the lowest word of a stack without a guard page
    [[no_unique_address]] FiberNotes notes;
    /// With a recorder: while the strand is left, by its tasks; while it runs, by what lies below.
    TaskWork declared;
};

/// The stacks that were made for one node. Workers keep those that they use again, and give some back where
/// they have many.
class StrandStacks {
public:
    /// `stack_bytes` is rounded up to pages.
    explicit StrandStacks(std::uint64_t stack_bytes);
    ~StrandStacks();
    StrandStacks(const StrandStacks&) = delete;
    StrandStacks& operator=(const StrandStacks&) = delete;

    /// A chain of at least one and at most `most` stacks. Throws Error where there is no address space.
    StrandStack* take(std::uint32_t most);
    void give_back(StrandStack* chain);

    /// Throws Error if the strand that had this stack has written below it.
    void check(const StrandStack& stack) const {
        if (stack.mark && *stack.mark != mark) [[unlikely]]
            refuse_overflow();
    }

    /// While no worker runs.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& slab : slabs_)
            for (const StrandStack& stack : slab->stacks()) visit(stack);
    }

    /// Unwinds every strand that has not ended. No worker runs any more.
    void unwind();

private:
    static constexpr std::uint64_t mark = 0x6c656464696e6821;

    /// Stacks side by side in memory, one mapping.
    class Slab {
    public:
        Slab(std::uint32_t count, std::size_t stack_bytes);
        ~Slab();
        Slab(const Slab&) = delete;
        Slab& operator=(const Slab&) = delete;

        std::vector<StrandStack>& stacks() { return stacks_; }

    private:
        GuardPages guards_;
        std::size_t bytes_ = 0;
        char* memory_ = nullptr;
        std::optional<StackGuard> guard_;
        std::vector<StrandStack> stacks_;  // does not grow: what is in it does not move
    };

    StrandStack* take_free(std::uint32_t most);
    [[noreturn]] void refuse_overflow() const;

    std::size_t stack_bytes_;
    std::atomic<std::uint32_t> made_{0};  ///< slabs
    SpinLock lock_;                       ///< over all below
    StrandStack* free_ = nullptr;
    std::vector<std::unique_ptr<Slab>> slabs_;
};

}  // namespace heddle::runtime
