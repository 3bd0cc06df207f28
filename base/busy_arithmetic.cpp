// Six sequences of numbers that do not wait for each other (steps as in Marsaglia's xorshift).
#include "base/busy_arithmetic.hpp"

namespace heddle {

void busy_arithmetic(std::uint32_t steps) {
    volatile std::uint64_t value = 1;  // unknown to the compiler
    std::uint64_t a = value, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5;
    for (std::uint32_t i = 0; i < steps; ++i) {
        a ^= a << 13U;
        b ^= b >> 7U;
        c += c << 17U;
        d ^= d << 5U;
        e += e >> 9U;
        f ^= f << 3U;
    }
    value = a + b + c + d + e + f;
}

}  // namespace heddle
