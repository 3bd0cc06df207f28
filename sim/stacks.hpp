// Allocates the stacks of simulated workers, and other memory that the workers use as often. It reserves
// address space, which the system commits as it is touched, with a guard page below each stack. It switches
// no stacks.
#pragma once

#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/given_stack.hpp"
#include "base/guard_pages.hpp"
#include "base/stack_guard.hpp"

namespace heddle::sim {

class Stacks {
public:
    /// Room for `count` stacks of `stack_bytes`, with a guard page below each, and `beside_bytes` above each.
    /// A worker that writes into a guard page ends the process (base/stack_guard.hpp); with more stacks than
    /// the kernel has mappings for there are no guard pages. Throws Error where there is no address space.
    Stacks(std::uint64_t count, std::uint64_t stack_bytes, std::uint64_t beside_bytes = 0);
    ~Stacks();
    Stacks(const Stacks&) = delete;
    Stacks& operator=(const Stacks&) = delete;

    /// For each number below `count` once; they are freed together.
    boost::context::stack_context stack(std::uint64_t number);

    /// What lies above a stack, at a border of lines of the cache. The first kilobyte of the one and the last
    /// three of the other are one page: of thousands of workers a processor does not know all pages by heart.
    std::span<std::byte> beside(std::uint64_t number) const;

private:
    char* top(std::uint64_t number) const;

    std::uint64_t count_;
    std::size_t stack_bytes_;
    std::size_t beside_bytes_;
    std::size_t page_;
    GuardPages guard_pages_;
    std::size_t guard_;  ///< bytes below each large stack
    std::size_t distance_;
    char* memory_ = nullptr;
    std::optional<StackGuard> guards_;
};

}  // namespace heddle::sim
