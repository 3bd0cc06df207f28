// Computes stripes in vectors of 256 bits, on x86-64 processors with AVX2; block.cpp asks the processor
// first. No other file uses such instructions. Headers above the pragma are compiled without them.
#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

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

using Narrows = Narrow __attribute__((vector_size(bytes_avx2)));
using Wides = Wide __attribute__((vector_size(bytes_avx2)));
using UnsignedWides = std::uint16_t __attribute__((vector_size(bytes_avx2)));

template <class Kind>
struct Lanes256 : LanesOf<Kind, Narrows, Wides, UnsignedWides> {
    using typename LanesOf<Kind, Narrows, Wides, UnsignedWides>::Vector;
    static Vector max(Vector a, Vector b) {
        if constexpr (sizeof(Kind) == 1) return Vector(_mm256_max_epu8(__m256i(a), __m256i(b)));
        return Vector(_mm256_max_epi16(__m256i(a), __m256i(b)));
    }
    static Vector subtract(Vector a, Vector b) {
        if constexpr (sizeof(Kind) == 1) return Vector(_mm256_subs_epu8(__m256i(a), __m256i(b)));
        return Vector(_mm256_subs_epi16(__m256i(a), __m256i(b)));
    }
    static bool any_greater(Vector a, Vector b) {
        if constexpr (sizeof(Kind) == 1) {  // no comparison of unsigned numbers, but a difference
            const __m256i more = _mm256_subs_epu8(__m256i(a), __m256i(b));
            return _mm256_testz_si256(more, more) == 0;
        }
        return _mm256_movemask_epi8(__m256i(a > b)) != 0;
    }
    /// Every number `distance` places on; numbers of `filler` go before them.
    template <int distance>
    static Vector shift(Vector vector, Vector filler) {
        const __m256i all = __m256i(vector);
        const __m256i before =
            _mm256_permute2x128_si256(all, __m256i(filler), 0x02);  // filler, the lower half
        return Vector(_mm256_alignr_epi8(all, before, 16 - distance * static_cast<int>(sizeof(Kind))));
    }
};

}  // namespace

void stripe_rows_avx2(StripeRows<Narrow>& rows, bool affine) {
    run_stripe<Lanes256>(rows, affine);
}
void stripe_rows_avx2(StripeRows<Wide>& rows, bool affine) {
    run_stripe<Lanes256>(rows, affine);
}

}  // namespace heddle::workloads::alignment

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
