// Switches to another stack by Boost.Context. All switches are made here.
#pragma once

#include <boost/context/fiber.hpp>
#include <utility>

namespace heddle {

/// Goes on with `fiber`. Returns when a fiber switches back: that fiber, as it is suspended now.
//
// ThreadSanitizer counts the calls of each fiber (base/fiber_notes.hpp). The call of this function is counted
// for the fiber that goes on, and its return too, later. So they balance if it is a function everywhere, and
// calls none of Boost's. Inlined in some places only, a fiber would return more often than it is called.
#if defined(__SANITIZE_THREAD__)
[[gnu::noinline, gnu::flatten]]
#else
[[gnu::always_inline]]
#endif
inline boost::context::fiber
resumed(boost::context::fiber&& fiber) {
    return std::move(fiber).resume();
}

}  // namespace heddle
