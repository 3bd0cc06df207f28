// Gives up a fiber without destroying it, because destroying it would unwind its stack. Needed for fibers
// that wait in the middle of a load or store, from where no exception can leave.
#pragma once

#include <atomic>
#include <boost/context/fiber.hpp>
#include <utility>

namespace heddle {

/// Keeps a fiber for good: destroying it would unwind it. What lies on its stack is lost.
inline void lose(boost::context::fiber&& fiber) {
    struct Lost {
        boost::context::fiber fiber;
        Lost* next;
    };
    // Reachable, so that a search for leaks does not find them.
    static std::atomic<Lost*> all{nullptr};
    auto* const lost = new Lost{std::move(fiber), all.load(std::memory_order_relaxed)};
    while (!all.compare_exchange_weak(lost->next, lost, std::memory_order_release)) {
    }
}

}  // namespace heddle
