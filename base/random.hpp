// Generates all random numbers of a run from a seed. A generator can be split: a child stream depends only on
// the parent's seed and the child's key. So results do not depend on the order of calls.
#pragma once

#include <cstdint>

namespace heddle {

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014) with
/// keyed splitting. Satisfies UniformRandomBitGenerator.
class Random {
public:
    using result_type = std::uint64_t;

    explicit constexpr Random(std::uint64_t seed) : seed_(mix(seed)), state_(seed_) {}

    /// The stream of `key` below this one. How many numbers were drawn from this one does not matter.
    constexpr Random split(std::uint64_t key) const { return Random(seed_ ^ mix(key + golden)); }

    constexpr std::uint64_t operator()() {
        state_ += golden;
        return mix(state_);
    }

    /// A number in [0, bound), without bias that could be measured (error below bound / 2^64).
    constexpr std::uint64_t below(std::uint64_t bound) {
        return static_cast<std::uint64_t>((static_cast<Wide>((*this)()) * bound) >> 64);
    }

    /// A number in [0, 1).
    constexpr double uniform() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~result_type{0}; }

private:
    __extension__ using Wide = unsigned __int128;

    static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

    static constexpr std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    std::uint64_t seed_;
    std::uint64_t state_;
};

}  // namespace heddle
