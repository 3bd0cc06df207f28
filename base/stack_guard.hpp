// Reports a full stack: a write to its guard page ends the process with a message instead of a bare
// signal. It allocates no stacks. In builds with sanitizers, which handle the signal themselves, it does
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle {

/// While it lives, a write into the guard pages of some stacks ends the process with exit code 2.
class StackGuard {
public:
    /// Stacks side by side in memory: each takes `distance` bytes, of which the lowest `guard` are its guard.
    struct Stacks {
        const char* begin = nullptr;
        std::size_t distance = 0;
        std::size_t guard = 0;
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;  ///< of each stack, as the message says
        std::string owner;  ///< for the message: "worker 3"; of several stacks, what their number follows
        std::string setting = "schedule.stack";  ///< that makes them larger
    };
    explicit StackGuard(Stacks stacks);
    ~StackGuard();
    StackGuard(const StackGuard&) = delete;
    StackGuard& operator=(const StackGuard&) = delete;

private:
    Stacks stacks_;
};

/// While it lives, the calling thread handles signals on a stack of its own: on a full one it could not.
/// Every thread that runs on guarded stacks needs one.
class SignalStack {
public:
    SignalStack();
    ~SignalStack();
    SignalStack(const SignalStack&) = delete;
    SignalStack& operator=(const SignalStack&) = delete;

private:
    void* memory_ = nullptr;
};

}  // namespace heddle
