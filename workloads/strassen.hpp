// Strassen's multiplication of matrices in Winograd's form: 7 products of halves and 15 additions (Higham:
// "Accuracy and Stability of Numerical Algorithms", second edition, section 23.2.2). These are the parts that
// programs make tasks of, and the whole as plain calls. It includes nothing of the scheduler.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "workloads/tile_kernels.hpp"

namespace heddle::workloads::strassen {

/// `rows` x `rows` numbers, column by column. A new square has no values yet, because it is written next.
class Square {
public:
    explicit Square(std::size_t rows) : rows_(rows), numbers_(new double[rows * rows]) {}
    Square(const Square& other);
    Square(Square&& other) noexcept
        : rows_(std::exchange(other.rows_, 0)), numbers_(std::move(other.numbers_)) {}
    Square& operator=(Square other) noexcept {
        std::swap(rows_, other.rows_);
        std::swap(numbers_, other.numbers_);
        return *this;
    }
    ~Square() = default;

    std::size_t rows() const { return rows_; }
    tiles::Tile numbers() { return {numbers_.get(), rows_ * rows_}; }
    tiles::ConstTile numbers() const { return {numbers_.get(), rows_ * rows_}; }

private:
    std::size_t rows_;
    std::unique_ptr<double[]> numbers_;  // NOLINT(modernize-avoid-c-arrays): not set to zero
};

/// Integers from -8 to 8, so that no sum or product is rounded. `which`: of the matrices of a seed.
void fill(std::uint64_t seed, std::uint64_t which, Square& square);

constexpr std::size_t products = 7;
using Seven = std::array<Square*, products>;
using ConstSeven = std::array<const Square*, products>;

/// The left factors of the seven products, each of half as many rows: quarters of A, and sums of them.
void left_factors(const Square& a, const Seven& factors);
/// The right factors, of B.
void right_factors(const Square& b, const Seven& factors);
/// A B, of the seven products.
void combine(const ConstSeven& factors, Square& c);

/// C := A B. Squares of more than `cutoff` rows are divided; their rows must be even.
void multiply(const Square& a, const Square& b, Square& c, std::size_t cutoff);

/// What these computations take: `left_factors` and `right_factors` 4 additions for each number of a quarter,
/// `combine` 7, and each reads and writes 11 numbers for it.
struct Cost {
    double flops = 0;
    double bytes = 0;
};
Cost cost_of_factors(std::size_t rows);
Cost cost_of_combining(std::size_t rows);
Cost cost_of_product(std::size_t rows, std::size_t cutoff);

}  // namespace heddle::workloads::strassen
