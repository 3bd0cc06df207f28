// Reads the thread's processor clock.
#include "host/thread_time.hpp"

#include <time.h>

namespace heddle::host {

double thread_seconds() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace heddle::host
