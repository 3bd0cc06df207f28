// Stripes in vectors of 128 bits, by the vector extensions of GCC and Clang: for every processor.
#include "workloads/alignment/striped.hpp"

#include <bit>

namespace heddle::workloads::alignment {

namespace {

struct Lanes128 {
    static constexpr std::size_t size = numbers_portable;
    using Vector = std::int16_t __attribute__((vector_size(16)));

    static Vector load(const std::int16_t* from) {
        Vector vector;
        std::memcpy(&vector, from, sizeof vector);
        return vector;
    }
    static void store(std::int16_t* to, Vector vector) { std::memcpy(to, &vector, sizeof vector); }
    static Vector splat(std::int16_t number) { return Vector{} + number; }
    static Vector max(Vector a, Vector b) { return a > b ? a : b; }
    static bool any_greater(Vector a, Vector b) {
        using Halves = std::uint64_t __attribute__((vector_size(16)));
        const auto halves = std::bit_cast<Halves>(a > b);
        return (halves[0] | halves[1]) != 0;
    }
    /// Every number `distance` places on; numbers of `filler` go before them.
    template <int distance>
    static Vector shift(Vector vector, Vector filler) {
        if constexpr (distance == 1)
            return __builtin_shufflevector(filler, vector, 0, 8, 9, 10, 11, 12, 13, 14);
        if constexpr (distance == 2)
            return __builtin_shufflevector(filler, vector, 0, 1, 8, 9, 10, 11, 12, 13);
        if constexpr (distance == 4) return __builtin_shufflevector(filler, vector, 0, 1, 2, 3, 8, 9, 10, 11);
    }
};

}  // namespace

void stripe_rows_portable_linear(StripeRows& rows) {
    StripeRun<Lanes128, false>(rows).run();
}
void stripe_rows_portable_affine(StripeRows& rows) {
    StripeRun<Lanes128, true>(rows).run();
}

}  // namespace heddle::workloads::alignment
