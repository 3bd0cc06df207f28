// The pseudorandom numbers of the NAS Parallel Benchmarks (Bailey et al., RNR-94-007, section 2.3). Their
// inputs are made of them, so the published answers need these and no better ones.
#pragma once

#include <cstdint>

namespace heddle::workloads {

/// x(k + 1) = 5^13 x(k) mod 2^46, from x(0) = 314159265 on. The k-th number is x(k) / 2^46, k from 1 on.
class NasRandom {
public:
    static constexpr unsigned bits = 46;

    /// The generator after so many numbers.
    explicit NasRandom(std::uint64_t skipped = 0) {
        for (std::uint64_t power = multiplier; skipped != 0; skipped >>= 1, power = times(power, power))
            if ((skipped & 1) != 0) state_ = times(state_, power);
    }

    /// The next number, times 2^46.
    std::uint64_t next() { return state_ = times(state_, multiplier); }
    /// The next number: above 0 and below 1, exactly.
    double next_fraction() { return static_cast<double>(next()) * 0x1p-46; }

private:
    static constexpr std::uint64_t multiplier = 1'220'703'125;  // 5^13

    /// The product modulo 2^64 has the same last bits.
    static constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) {
        return a * b & ((std::uint64_t{1} << bits) - 1);
    }

    std::uint64_t state_ = 314'159'265;
};

}  // namespace heddle::workloads
