// Stripes in vectors of 256 bits, for x86-64 processors with AVX2; block.cpp asks whether this one has it.
// The only file with instructions of a processor. What is included before the pragma stays free of them.
#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "workloads/alignment/stripe_rows.hpp"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#include "workloads/alignment/striped.hpp"

namespace heddle::workloads::alignment {

namespace {

struct Lanes256 {
    static constexpr std::size_t size = numbers_avx2;
    using Vector = std::int16_t __attribute__((vector_size(32)));

    static Vector load(const std::int16_t* from) {
        Vector vector;
        std::memcpy(&vector, from, sizeof vector);
        return vector;
    }
    static void store(std::int16_t* to, Vector vector) { std::memcpy(to, &vector, sizeof vector); }
    static Vector splat(std::int16_t number) { return Vector{} + number; }
    static Vector max(Vector a, Vector b) { return Vector(_mm256_max_epi16(__m256i(a), __m256i(b))); }
    static bool any_greater(Vector a, Vector b) { return _mm256_movemask_epi8(__m256i(a > b)) != 0; }
    /// Every number `distance` places on; numbers of `filler` go before them.
    template <int distance>
    static Vector shift(Vector vector, Vector filler) {
        const __m256i all = __m256i(vector);
        const __m256i before =
            _mm256_permute2x128_si256(all, __m256i(filler), 0x02);  // filler, the lower half
        return Vector(_mm256_alignr_epi8(all, before, 16 - 2 * distance));
    }
};

}  // namespace

void stripe_rows_avx2_linear(StripeRows& rows) {
    StripeRun<Lanes256, false>(rows).run();
}
void stripe_rows_avx2_affine(StripeRows& rows) {
    StripeRun<Lanes256, true>(rows).run();
}

}  // namespace heddle::workloads::alignment

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
