// Calls a function on another stack.
#include "runtime/strands/large_stack.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <exception>
#include <utility>

#include "base/fiber_notes.hpp"
#include "base/fiber_switch.hpp"

namespace heddle::runtime {

void on_large_stack(const std::function<void()>& function) {
    namespace context = boost::context;
    constexpr std::size_t bytes = std::size_t{64} << 20;
    FiberNotes notes;
    std::exception_ptr failure;
    context::fiber fiber(std::allocator_arg, notes.noted(context::protected_fixedsize_stack(bytes)),
                         [&](context::fiber&& caller) {
                             notes.after_entry();
                             try {
                                 function();
                             } catch (...) {
                                 failure = std::current_exception();
                             }
                             notes.before_exit();
                             return std::move(caller);
                         });
    notes.before_resume();
    fiber = resumed(std::move(fiber));
    notes.after_resume();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace heddle::runtime
