// Sets the bounds of the C library's heap, where it has them.
#include "host/heap.hpp"

#include <malloc.h>

namespace heddle::host {

void keep_freed_memory() {
#ifdef M_TRIM_THRESHOLD
    constexpr int mib = 1 << 20;
    ::mallopt(M_MMAP_THRESHOLD, 32 * mib);  // the largest that glibc takes
    ::mallopt(M_TRIM_THRESHOLD, 512 * mib);
    ::mallopt(M_TOP_PAD, mib);
#endif
}

}  // namespace heddle::host
