// Lets one worker's thread sleep and other threads wake it. It holds at most one permit: unpark gives one,
// park takes it or waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/native/socket.hpp"

namespace heddle::native {

class Parker {
public:
    /// Waits for a permit until `deadline`, at first spinning for `spin`. Its owner only. May return for no
    /// reason.
    void park(Deadline deadline, std::chrono::nanoseconds spin);

    /// Takes the permit, if there is one. Its owner only, which waits elsewhere.
    bool take();

    /// The owner is about to sleep elsewhere, where the thread that unparks it must wake it. False: there is
    /// a permit. Its owner only.
    bool go_elsewhere();
    /// It has come back. The permit, if there is one, stays.
    void come_back();

    /// Leaves a permit; what was written before is seen by the woken. Any thread. No system call unless the
    /// owner sleeps. True: the owner sleeps elsewhere, and the caller must wake it.
    bool unpark();

private:
    enum State : std::uint32_t { empty, permit, asleep, elsewhere };

    // On a line of its own: unparks of one worker must not slow down its neighbour.
    alignas(64) std::atomic<std::uint32_t> state_{empty};
};

}  // namespace heddle::native
