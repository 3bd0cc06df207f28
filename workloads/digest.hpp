// A digest of many numbers, by their bits. Two runs that computed the same numbers have the same digest, in
// whatever order they add them up. And how far numbers are from known ones.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace heddle::workloads {

/// The bits of a number, and where it is, as a number below 2^40: sums of them are exact.
inline std::uint64_t digest(double value, std::uint64_t place) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    bits = (bits ^ place * 0x9e3779b97f4a7c15U) * 0xff51afd7ed558ccdU;
    return (bits ^ bits >> 29) * 0xc4ceb9fe1a85ec53U >> 24;
}

/// The sum of digests modulo 2^40, which a number of an answer holds exactly.
inline double short_digest(std::uint64_t sum) {
    return static_cast<double>(sum % (std::uint64_t{1} << 40));
}

/// Lets `deviation` be that of `found` from `known` if it is larger. What is no number is infinitely far:
/// std::max would not notice it.
inline void deviate(double& deviation, double found, double known) {
    const double difference = std::fabs(found - known);
    if (difference <= deviation) return;
    deviation = std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

/// The same of an array from a known one, relative to it, in the L2 norm: `wrong` is the sum of the squares
/// of all differences, `known` that of the known numbers.
inline void deviate_in_norm(double& deviation, double wrong, double known) {
    deviate(deviation, std::sqrt(wrong / known), 0);
}

}  // namespace heddle::workloads
