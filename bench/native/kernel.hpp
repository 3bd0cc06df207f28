// The work of a task in benchmarks that vary the grain of tasks, the same in all programs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/native/outcome.hpp"

namespace heddle::bench {

/// A chain of multiplications: no step can begin before the last one has ended.
inline void work_steps(std::uint64_t count) {
    std::uint64_t value = count | 1;
    for (; count > 0; --count) {
        value = value * 0x9e3779b97f4a7c15U + 1;
        asm volatile("" : "+r"(value));
    }
}

/// Nanoseconds of a step on a core that does nothing else: the fastest of several tries.
inline double step_nanoseconds() {
    constexpr std::uint64_t steps = 2'000'000;
    double best = 1e9;
    for (int i = 0; i < 10; ++i) {
        const double start = seconds_now();
        work_steps(steps);
        best = std::min(best, (seconds_now() - start) * 1e9 / static_cast<double>(steps));
    }
    return best;
}

/// `width` tasks in each of `steps` rows. Which tasks of the row before a task waits for:
struct Pattern {
    enum class Kind : std::uint8_t {
        pair,     ///< x and x + 1 (round the end): two
        stencil,  ///< x - 1, x and x + 1, without those that are not there (Task Bench's stencil_1d)
        trivial,  ///< none
        chain     ///< x
    };
    Kind kind = Kind::pair;
    std::uint32_t width = 1;
    std::uint32_t steps = 1;

    static Pattern named(std::string_view name, std::uint32_t width, std::uint32_t steps) {
        const Kind kind = name == "pair"      ? Kind::pair
                          : name == "stencil" ? Kind::stencil
                          : name == "chain"   ? Kind::chain
                                              : Kind::trivial;
        return {kind, width, steps};
    }

    /// Calls visit(x of the predecessor in the row before).
    template <class Visit>
    void predecessors(std::uint32_t x, Visit&& visit) const {
        if (kind == Kind::chain) visit(x);
        if (kind == Kind::pair) {
            visit(x);
            visit((x + 1) % width);
        }
        if (kind == Kind::stencil) {
            for (std::uint32_t from = x == 0 ? 0 : x - 1; from <= x + 1 && from < width; ++from) visit(from);
        }
    }
};

}  // namespace heddle::bench
