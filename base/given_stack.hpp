// Gives Boost.Context a stack that the caller owns: the fiber that runs on the stack does not free it.
#pragma once

#include <boost/context/stack_context.hpp>
#include <boost/context/stack_traits.hpp>

namespace heddle {

struct GivenStack {
    using traits_type = boost::context::stack_traits;

    boost::context::stack_context stack;

    boost::context::stack_context allocate() const { return stack; }
    void deallocate(boost::context::stack_context& /*stack*/) const {}
};

}  // namespace heddle
