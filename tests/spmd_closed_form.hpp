// For tests: what a closed form of a collective algorithm is, and what many of them count with: rounds,
// trees, powers of two.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tests/spmd_interpreter.hpp"

namespace heddle::spmd::testing_spmd {

/// What all ranks send together, and the time. p ranks; n: Task::count.
struct ClosedForm {
    using Sum = Sent (*)(std::uint64_t p, std::uint64_t n, const Task& task);
    using Duration = Cost (*)(std::uint64_t p, std::uint64_t n, const Task& task);

    Sum sent;
    Duration time;
    /// In a row, if messages of one rank travel together; 0: as many as `time` has.
    std::uint64_t (*latencies)(std::uint64_t p) = nullptr;
    /// Of `time`. Of ranks that act for two, how much each has depends on its place.
    bool powers_of_two_only = false;
};

inline std::uint64_t lg(std::uint64_t p) {  // rounded up
    return static_cast<std::uint64_t>(std::bit_width(p - 1));
}

/// A k-nomial tree, or rounds of radix k: e + 1 levels with e = floor(log_k (p-1)). The farthest one has
/// floor((p-1) / k^e) distances, each other one k-1.
template <std::uint64_t k>
struct Radix {
    static std::uint64_t levels(std::uint64_t p) {
        std::uint64_t count = 0;
        for (std::uint64_t step = 1; step < p; step *= k) ++count;
        return count;
    }
    static std::uint64_t distances(std::uint64_t p) {
        std::uint64_t count = 0;
        for (std::uint64_t step = 1; step < p; step *= k) count += std::min(k - 1, (p - 1) / step);
        return count;
    }
    /// Blocks that ranks other than the root have in their subtrees, all together.
    static std::uint64_t below_root(std::uint64_t p) {
        std::uint64_t blocks = 0;
        for (std::uint64_t v = 1; v < p; ++v) {
            std::uint64_t reach = 1;
            while (v / reach % k == 0) reach *= k;
            blocks += std::min(reach, p - v);
        }
        return blocks;
    }
    /// Digits other than 0 of the numbers below p.
    static std::uint64_t hops(std::uint64_t p) {
        std::uint64_t count = 0;
        for (std::uint64_t j = 0; j < p; ++j)
            for (std::uint64_t rest = j; rest > 0; rest /= k) count += rest % k > 0 ? 1 : 0;
        return count;
    }
};

/// q: the largest power of two up to p; r: how many ranks are too many.
struct Powers {
    explicit Powers(std::uint64_t p) : q(std::bit_floor(p)), r(p - q) {}

    /// Messages of ranks that exchange with each other in `rounds` rounds, and of those that left.
    std::uint64_t messages(std::uint64_t rounds) const { return q * rounds + 2 * r; }
    /// So many rounds in a row, and two more if ranks left.
    std::uint64_t in_a_row(std::uint64_t rounds) const { return rounds + (r > 0 ? 2 : 0); }
    bool leaves(RankId rank) const { return rank < 2 * r && rank % 2 == 0; }

    std::uint64_t q;
    std::uint64_t r;
};

inline Sent each(std::uint64_t messages, std::uint64_t n) {
    return {messages, messages * n};
}
inline Cost in_rounds(std::uint64_t count, std::uint64_t n) {
    return Cost::of(count, count * n);
}

inline std::uint64_t segments(std::uint64_t n, const Task& task) {
    return std::max<std::uint64_t>(1, (n + task.segment - 1) / task.segment);
}

using Forms = std::map<std::pair<Operation, std::string>, ClosedForm>;

}  // namespace heddle::spmd::testing_spmd
