// Handles the memory faults of the process (SIGSEGV, SIGBUS). Stack guards and shared pages register handlers
// here, each for its own addresses. A fault that none of them knows ends the process as if no handler were
// installed.
#pragma once

#include <cstdint>
#include <optional>

namespace heddle {

struct MemoryFault {
    std::uintptr_t address = 0;  ///< in the page that was accessed
    std::optional<bool> write;   ///< nothing where the processor does not tell
};

class MemoryFaults {
public:
    /// True if it knows the address: the access is then tried again. Called in a signal handler on the
    /// thread that accesses. Allocates nothing, unless it knows that the thread was in no allocator.
    using Handler = bool (*)(const MemoryFault& fault);

    /// `handler` is asked about every fault from now on, in the order of these calls; never removed. A second
    /// call with the same handler does nothing.
    static void ask(Handler handler);

    /// Which stack the handler of a signal runs on.
    enum class Stack : std::uint8_t {
        own,            ///< where the fault occurred: a handler may then switch to another stack
        of_the_thread,  ///< SignalStack, where the thread has one
    };
    /// Handles that signal (SIGSEGV, SIGBUS) from now on, also where a library has replaced the handler. What
    /// was installed before gets the faults that no handler here knows. `own` is for good.
    static void handle(int signal, Stack stack);
};

}  // namespace heddle
