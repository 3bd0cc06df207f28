// Stacks of simulated workers: a reservation of address space, committed as touched, with a guard page below
// each stack; and small stacks that lie close together. It switches no stacks.
#pragma once

#include <atomic>
#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/given_stack.hpp"
#include "base/guard_pages.hpp"
#include "base/stack_guard.hpp"

namespace heddle::sim {

class Stacks {
public:
    /// Room for `count` stacks of `stack_bytes`, with a guard page below each, and for as many small ones. A
    /// worker that writes into a guard page ends the process (base/stack_guard.hpp); with more stacks than
    /// the kernel has mappings for there are no guard pages. Throws Error where there is no address space.
    Stacks(std::uint64_t count, std::uint64_t stack_bytes);
    ~Stacks();
    Stacks(const Stacks&) = delete;
    Stacks& operator=(const Stacks&) = delete;

    /// A small stack, and how much of it must be free where a task begins: what a task may need (see
    /// runtime::NodeProgram::shallow) and what the scheduler needs where it throws.
    static constexpr std::size_t small_bytes = 16U << 10;
    static constexpr std::size_t reserve = 8U << 10;

    /// One after the other; they are freed together. Large ones may be taken by several threads at once.
    boost::context::stack_context next_large();
    boost::context::stack_context next_small();

    /// False if a worker has written below a small stack.
    bool small_ones_held() const;

private:
    /// Small stacks lie close together, in huge pages: a thousand nodes use more pages than a processor knows
    /// by heart. The odd number of lines between them keeps their tops out of one another's cache sets.
    static constexpr std::size_t small_distance = small_bytes + 21 * std::size_t{64};

    char* reserve_memory(std::size_t bytes) const;
    std::uint64_t* mark_below(std::uint64_t small_stack) const {
        return reinterpret_cast<std::uint64_t*>(small_ + small_stack * small_distance);
    }

    std::uint64_t count_;
    std::size_t stack_bytes_;
    std::size_t page_;
    GuardPages guard_pages_;
    std::size_t guard_;  ///< bytes below each large stack
    std::size_t distance_;
    std::atomic<std::uint64_t> large_used_{0};
    std::uint64_t small_used_ = 0;
    char* large_ = nullptr;
    char* small_ = nullptr;
    std::optional<StackGuard> guards_;
};

}  // namespace heddle::sim
