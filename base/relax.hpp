// What a thread does between two looks at memory that another is about to write: nothing, cheaply.
#pragma once

namespace heddle {

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace heddle
