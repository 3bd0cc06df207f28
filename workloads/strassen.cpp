// The computations of Strassen's multiplication in Winograd's form. Sums of quarters are made in one pass,
// because they take as long as memory does.
#include "workloads/strassen.hpp"

#include <algorithm>
#include <vector>

#include "base/random.hpp"

namespace heddle::workloads::strassen {

namespace {

/// A column of each quarter.
template <class Number>
struct Quarters {
    /// `half`: rows of a quarter.
    Quarters(Number* numbers, std::size_t half, std::size_t column)
        : q11(numbers + column * 2 * half),
          q21(q11 + half),
          q12(numbers + (half + column) * 2 * half),
          q22(q12 + half) {}

    Number* q11;
    Number* q21;
    Number* q12;
    Number* q22;
};

std::array<double*, products> columns(const Seven& squares, std::size_t column) {
    std::array<double*, products> all{};
    for (std::size_t i = 0; i < products; ++i)
        all[i] = squares[i]->numbers().data() + column * squares[i]->rows();
    return all;
}

Cost operator*(double times, Cost cost) {
    return {times * cost.flops, times * cost.bytes};
}

Cost per_number_of_quarter(std::size_t rows, double additions, double numbers) {
    const double quarter = static_cast<double>(rows / 2) * static_cast<double>(rows / 2);
    return {additions * quarter, numbers * sizeof(double) * quarter};
}

}  // namespace

Square::Square(const Square& other) : Square(other.rows_) {
    std::ranges::copy(other.numbers(), numbers().begin());
}

void fill(std::uint64_t seed, std::uint64_t which, Square& square) {
    const Random random = Random(seed).split(which);
    for (std::size_t column = 0; column < square.rows(); ++column) {
        Random of_column = random.split(column);
        for (double& number : square.numbers().subspan(column * square.rows(), square.rows()))
            number = static_cast<double>(of_column.below(17)) - 8;
    }
}

void left_factors(const Square& a, const Seven& factors) {
    const std::size_t half = a.rows() / 2;
    for (std::size_t column = 0; column < half; ++column) {
        const Quarters<const double> from(a.numbers().data(), half, column);
        const auto to = columns(factors, column);
        double* __restrict const a11 = to[0];
        double* __restrict const a12 = to[1];
        double* __restrict const s4 = to[2];
        double* __restrict const a22 = to[3];
        double* __restrict const s1 = to[4];
        double* __restrict const s2 = to[5];
        double* __restrict const s3 = to[6];
        for (std::size_t i = 0; i < half; ++i) {
            const double sum = from.q21[i] + from.q22[i];
            const double rest = sum - from.q11[i];
            s1[i] = sum;
            s2[i] = rest;
            s3[i] = from.q11[i] - from.q21[i];
            s4[i] = from.q12[i] - rest;
            a11[i] = from.q11[i];
            a12[i] = from.q12[i];
            a22[i] = from.q22[i];
        }
    }
}

void right_factors(const Square& b, const Seven& factors) {
    const std::size_t half = b.rows() / 2;
    for (std::size_t column = 0; column < half; ++column) {
        const Quarters<const double> from(b.numbers().data(), half, column);
        const auto to = columns(factors, column);
        double* __restrict const b11 = to[0];
        double* __restrict const b21 = to[1];
        double* __restrict const b22 = to[2];
        double* __restrict const t4 = to[3];
        double* __restrict const t1 = to[4];
        double* __restrict const t2 = to[5];
        double* __restrict const t3 = to[6];
        for (std::size_t i = 0; i < half; ++i) {
            const double difference = from.q12[i] - from.q11[i];
            const double rest = from.q22[i] - difference;
            t1[i] = difference;
            t2[i] = rest;
            t3[i] = from.q22[i] - from.q12[i];
            t4[i] = rest - from.q21[i];
            b11[i] = from.q11[i];
            b21[i] = from.q21[i];
            b22[i] = from.q22[i];
        }
    }
}

void combine(const ConstSeven& factors, Square& c) {
    const std::size_t half = c.rows() / 2;
    std::array<const double*, products> p{};
    for (std::size_t column = 0; column < half; ++column) {
        for (std::size_t i = 0; i < products; ++i) p[i] = factors[i]->numbers().data() + column * half;
        const Quarters<double> to(c.numbers().data(), half, column);
        double* __restrict const c11 = to.q11;
        double* __restrict const c21 = to.q21;
        double* __restrict const c12 = to.q12;
        double* __restrict const c22 = to.q22;
        for (std::size_t i = 0; i < half; ++i) {
            const double u2 = p[0][i] + p[5][i];
            const double u3 = u2 + p[6][i];
            c11[i] = p[0][i] + p[1][i];
            c12[i] = u2 + p[4][i] + p[2][i];
            c21[i] = u3 - p[3][i];
            c22[i] = u3 + p[4][i];
        }
    }
}

void multiply(const Square& a, const Square& b, Square& c, std::size_t cutoff) {
    if (a.rows() <= cutoff) return tiles::set_product(a.rows(), a.numbers(), b.numbers(), c.numbers());
    std::vector<Square> all;
    all.reserve(3 * products);
    for (std::size_t i = 0; i < 3 * products; ++i) all.emplace_back(a.rows() / 2);
    Seven left{}, right{};
    ConstSeven found{};
    for (std::size_t i = 0; i < products; ++i) {
        left[i] = &all[i];
        right[i] = &all[products + i];
        found[i] = &all[2 * products + i];
    }
    left_factors(a, left);
    right_factors(b, right);
    for (std::size_t i = 0; i < products; ++i) multiply(*left[i], *right[i], all[2 * products + i], cutoff);
    combine(found, c);
}

Cost cost_of_factors(std::size_t rows) {
    return per_number_of_quarter(rows, 4, 11);
}
Cost cost_of_combining(std::size_t rows) {
    return per_number_of_quarter(rows, 7, 11);
}
Cost cost_of_product(std::size_t rows, std::size_t cutoff) {
    if (rows <= cutoff) {
        const double n = static_cast<double>(rows);
        return {2 * n * n * n, 0};
    }
    const Cost of_products = static_cast<double>(products) * cost_of_product(rows / 2, cutoff);
    const Cost both = 2 * cost_of_factors(rows), last = cost_of_combining(rows);
    return {of_products.flops + both.flops + last.flops, of_products.bytes + both.bytes + last.bytes};
}

}  // namespace heddle::workloads::strassen
