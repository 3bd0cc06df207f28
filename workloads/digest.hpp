// A digest of many numbers, by their bits. Two runs that computed the same numbers have the same digest, in
// whatever order they add them up.
#pragma once

#include <cstdint>
#include <cstring>

namespace heddle::workloads {

/// The bits of a number, and where it is, as a number below 2^40: sums of them are exact.
inline std::uint64_t digest(double value, std::uint64_t place) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    bits = (bits ^ place * 0x9e3779b97f4a7c15U) * 0xff51afd7ed558ccdU;
    return (bits ^ bits >> 29) * 0xc4ceb9fe1a85ec53U >> 24;
}
inline constexpr double digest_modulus = 1099511627776.0;

}  // namespace heddle::workloads
