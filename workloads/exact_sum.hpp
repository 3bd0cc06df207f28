// Sums of random numbers that are the same in any order of addition, though answers are doubles.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace heddle::workloads {

/// The upper bits of a number, 30 at most. `count` of them, added in doubles in any order, give an exact sum.
constexpr double summand(std::uint64_t value, std::uint64_t count) {
    constexpr int exact_bits = 53;
    const int bits = std::clamp(exact_bits - static_cast<int>(std::bit_width(count)), 1, 30);
    return static_cast<double>(value >> (64 - bits));
}

}  // namespace heddle::workloads
