// Stacks of workers: one reservation of address space for all, committed as it is touched, with a guard page
// below each stack. Switches nothing.
#pragma once

#include <boost/context/stack_context.hpp>
#include <boost/context/stack_traits.hpp>
#include <cstddef>
#include <cstdint>

namespace heddle::sim {

class Stacks {
public:
    /// Room for `count` stacks. Throws Error where there is no address space.
    Stacks(std::uint64_t count, std::uint64_t stack_bytes);
    ~Stacks();
    Stacks(const Stacks&) = delete;
    Stacks& operator=(const Stacks&) = delete;

    /// For Boost.Context: hands out one stack after the other; they are freed together.
    struct Allocator {
        using traits_type = boost::context::stack_traits;

        Stacks* stacks;

        boost::context::stack_context allocate() const { return stacks->next(); }
        void deallocate(boost::context::stack_context& /*stack*/) const {}
    };
    Allocator allocator() { return {this}; }

private:
    boost::context::stack_context next();

    std::uint64_t count_;
    std::size_t stack_bytes_;
    std::size_t distance_;
    std::uint64_t used_ = 0;
    char* begin_ = nullptr;
};

}  // namespace heddle::sim
