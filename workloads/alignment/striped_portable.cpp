// Computes stripes in vectors of 128 bits, by vector extensions of GCC and Clang, on every processor.
#include "workloads/alignment/striped.hpp"

#include <bit>
#include <limits>
#include <utility>

namespace heddle::workloads::alignment {

namespace {

using Narrows = Narrow __attribute__((vector_size(bytes_portable)));
using Wides = Wide __attribute__((vector_size(bytes_portable)));
using UnsignedWides = std::uint16_t __attribute__((vector_size(bytes_portable)));

template <class Kind>
struct Lanes128 : LanesOf<Kind, Narrows, Wides, UnsignedWides> {
    using typename LanesOf<Kind, Narrows, Wides, UnsignedWides>::Vector;
    static Vector max(Vector a, Vector b) { return a > b ? a : b; }
    static Vector subtract(Vector a, Vector b) { return max(a, b + std::numeric_limits<Kind>::min()) - b; }
    static bool any_greater(Vector a, Vector b) {
        using Halves = std::uint64_t __attribute__((vector_size(bytes_portable)));
        const auto halves = std::bit_cast<Halves>(a > b);
        return (halves[0] | halves[1]) != 0;
    }
    /// Every number `distance` places on; numbers of `filler` go before them.
    template <int distance>
    static Vector shift(Vector vector, Vector filler) {
        constexpr int count = sizeof(Vector) / sizeof(Kind);
        return [&]<int... places>(std::integer_sequence<int, places...>) {
            return __builtin_shufflevector(filler, vector,
                                           (places < distance ? places : count + places - distance)...);
        }
        (std::make_integer_sequence<int, count>());
    }
};

}  // namespace

void stripe_rows_portable(StripeRows<Narrow>& rows, bool affine) {
    run_stripe<Lanes128>(rows, affine);
}
void stripe_rows_portable(StripeRows<Wide>& rows, bool affine) {
    run_stripe<Lanes128>(rows, affine);
}

}  // namespace heddle::workloads::alignment
