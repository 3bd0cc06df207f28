// The interface between tile.cpp and the vector code (striped_*.cpp) of an alignment: the rows of one stripe
// of the matrix, as numbers relative to a base.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workloads/alignment/block.hpp"

namespace heddle::workloads::alignment {

template <class Number>
struct StripeRows {
    // The rows: from `row` up to before `row_end`. Arrays with a value a row begin at row 0.
    std::size_t row;
    std::size_t row_end;  ///< afterwards less, where a row had an H above `stop`: the row after that one
    const Letter* letters;
    const Number* left_h;  ///< H left of and above the row's first cell
    const Number* left_e;  ///< E of the row's first cell
    Number* right_h;
    Number* right_e;

    // The columns, in the order of Columns::Profile.
    std::size_t vectors;
    const Number* scores;
    Number* h;  ///< of the row above; afterwards of the last row
    Number* f;
    std::size_t last_vector;  ///< where the last column is
    std::size_t last_number;

    Number open;
    Number extend;
    Number zero;    ///< no H is less: 0, or something that is known to be less than every H
    Number least;   ///< zero - open: no E matters that is less
    Number stop;    ///< the largest H with which nothing in the next row can be too large for a number
    long loss_max;  ///< the difference between the largest number and `least`

    // The best: only an H above the limit is one. It is raised to the largest found.
    Number limit;
    bool found;
    std::size_t best_row;
    Number* best_h;  ///< H of that row
};

void stripe_rows_portable(StripeRows<Narrow>& rows, bool affine);
void stripe_rows_portable(StripeRows<Wide>& rows, bool affine);
constexpr std::size_t bytes_portable = 16;  ///< of a vector

#if defined(__x86_64__)
void stripe_rows_avx2(StripeRows<Narrow>& rows, bool affine);
void stripe_rows_avx2(StripeRows<Wide>& rows, bool affine);
#endif
constexpr std::size_t bytes_avx2 = 32;

/// How many numbers a vector holds.
template <class Number>
constexpr std::size_t numbers_of(Path path) {
    return (path == Path::avx2 ? bytes_avx2 : bytes_portable) / sizeof(Number);
}

}  // namespace heddle::workloads::alignment
