// Has malloc keep what is given back, as Heddle's native runs do (host/heap.cpp). Peers that make and end
// tasks while the time runs call it first: otherwise their times are those of the system's pages. Includes
// nothing of Heddle.
#pragma once

#include <malloc.h>

namespace heddle::bench {

inline void keep_freed_memory() {
    constexpr int mib = 1 << 20;
    mallopt(M_MMAP_THRESHOLD, 32 * mib);  // the most that glibc permits
    mallopt(M_TRIM_THRESHOLD, 512 * mib);
    mallopt(M_TOP_PAD, 64 * mib);
}

}  // namespace heddle::bench
