// What block.cpp hands to the vector code: rows of one stripe, in 16-bit numbers relative to a base that
// block.cpp chose so that none overflows. Not for others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workloads/alignment/scoring.hpp"

namespace heddle::workloads::alignment {

struct StripeRows {
    // The rows: from `row` up to before `row_end`. Arrays with a value a row begin at row 0.
    std::size_t row;
    std::size_t row_end;
    const Letter* letters;
    const std::int16_t* left_h;  ///< H left of and above the row's first cell
    const std::int16_t* left_e;  ///< E of the row's first cell
    std::int16_t* right_h;
    std::int16_t* right_e;

    // The columns, in the order of Columns::Stripe.
    std::size_t vectors;
    const std::int16_t* scores;
    std::int16_t* h;  ///< of the row above; afterwards of the last row
    std::int16_t* f;
    std::size_t last_vector;  ///< where the last column is
    std::size_t last_number;

    std::int16_t open;
    std::int16_t extend;
    std::int16_t zero;   ///< no H is less: 0, or something that is known to be less than every H
    std::int16_t least;  ///< zero - open: no E matters that is less
    long loss_max;       ///< the difference between the largest number and `least`

    // The best: only an H above the limit is one. It is raised to the largest found.
    std::int16_t limit;
    bool found;
    std::size_t best_row;
    std::int16_t* best_h;  ///< H of that row
};

using StripeFunction = void (*)(StripeRows&);
void stripe_rows_portable_linear(StripeRows& rows);
void stripe_rows_portable_affine(StripeRows& rows);
constexpr std::size_t numbers_portable = 8;  ///< in a vector

#if defined(__x86_64__)
void stripe_rows_avx2_linear(StripeRows& rows);
void stripe_rows_avx2_affine(StripeRows& rows);
#endif
constexpr std::size_t numbers_avx2 = 16;

}  // namespace heddle::workloads::alignment
