// Prints the condition and place of a failed assertion, and ends the process.
#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace heddle {

void assertion_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "heddle: %s:%d: broken assumption: %s\n", file, line, condition);
    std::abort();
}

}  // namespace heddle
