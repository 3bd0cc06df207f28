// Pauses the processor briefly while a thread waits for another thread to write to memory. After many pauses
// it yields the core, because the other thread may need one.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle {

/// One short pause of the processor.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Gives the caller's core to another thread. A world whose threads share cores sets it before they run.
/// Null in a world whose threads of control take turns by themselves.
inline std::atomic<void (*)()> yield_core{nullptr};

/// Waits in a loop: `for (Patience patience; !ready(); patience.wait()) {}`. Pauses at first, because most
/// waits end within a few instructions of the other thread; later yields, because that thread was preempted.
class Patience {
public:
    void wait() {
        relax();
        if (++pauses_ % pauses_max != 0) return;
        if (void (*const yield)() = yield_core.load(std::memory_order_relaxed)) yield();
    }

private:
    static constexpr std::uint32_t pauses_max = 64;  ///< some microseconds

    std::uint32_t pauses_ = 0;
};

}  // namespace heddle
