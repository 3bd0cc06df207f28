// A round of the workload overlap: the data, their sum, and the computation. The benchmarks that measure
// other libraries use them too (bench/native), so nothing here needs a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::workloads::overlap {

/// The computation: steps of Knuth's linear congruential generator, each of which needs the one before.
inline constexpr std::uint64_t factor = 6364136223846793005U;
inline constexpr std::uint64_t summand = 1442695040888963407U;

inline std::uint64_t computed(std::uint64_t begin, std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps; ++i) begin = begin * factor + summand;
    return begin;
}

/// The same without the steps, by squaring.
constexpr std::uint64_t after_steps(std::uint64_t begin, std::uint64_t steps) {
    std::uint64_t times = 1, plus = 0, power = factor, sum = summand;
    for (; steps != 0; steps >>= 1) {
        if ((steps & 1) != 0) {
            times *= power;
            plus = plus * power + sum;
        }
        sum *= power + 1;
        power *= power;
    }
    return times * begin + plus;
}

/// The data of a round.
inline void fill(std::uint64_t round, std::span<std::uint8_t> data) {
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] =
            static_cast<std::uint8_t>(((round * 0x9e3779b97f4a7c15U) ^ (i * 0xff51afd7ed558ccdU)) >> 56);
}

/// The acknowledgement.
inline std::uint64_t sum_of(std::span<const std::uint8_t> data) {
    std::uint64_t sum = 0;
    for (const std::uint8_t byte : data) sum = (sum + byte) * 31;
    return sum;
}

}  // namespace heddle::workloads::overlap
