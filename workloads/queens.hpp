// Boards of the n-queens problem with rows as bit masks, and the known numbers of solutions. Runs no tasks.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/settings.hpp"
#include "runtime/run/program.hpp"

namespace heddle::workloads {

/// The rows above: columns taken, and diagonals as they reach the next row. Bit i is column i.
struct QueensBoard {
    std::uint32_t columns = 0;
    std::uint32_t left = 0;
    std::uint32_t right = 0;
    std::uint16_t rows_left = 0;
    std::uint16_t size = 0;

    static QueensBoard empty(int n) {
        return {0, 0, 0, static_cast<std::uint16_t>(n), static_cast<std::uint16_t>(n)};
    }

    bool full() const { return rows_left == 0; }
    std::uint32_t free() const { return ~(columns | left | right) & ((1U << size) - 1); }

    QueensBoard with(std::uint32_t queen) const {
        return {columns | queen, (left | queen) << 1, (right | queen) >> 1,
                static_cast<std::uint16_t>(rows_left - 1), size};
    }

    /// Calls visit(next board) for each place of the next queen. Of a full board there is none.
    template <class Visit>
    void places(Visit&& visit) const {
        for (std::uint32_t queens = full() ? 0 : free(); queens != 0; queens &= queens - 1)
            visit(with(queens & (~queens + 1)));
    }
};

/// What a search has found: full boards, and boards visited.
struct QueensFound {
    std::uint64_t solutions = 0;
    std::uint64_t placements = 0;

    QueensFound& operator+=(const QueensFound& other) {
        solutions += other.solutions;
        placements += other.placements;
        return *this;
    }
};

inline QueensFound search(const QueensBoard& board) {
    QueensFound found{board.full() ? 1U : 0U, 1};
    board.places([&](const QueensBoard& next) { found += search(next); });
    return found;
}

/// About how many boards `search` would visit: the mean of some descents, each to a random next board, which
/// count the boards beside them at each step (Knuth: "Estimating the efficiency of backtrack programs", Math.
/// Comp. 29, 1975). Its expectation is exact.
inline double estimate_placements(const QueensBoard& board, std::uint32_t descents, Random random) {
    double sum = 0;
    for (std::uint32_t i = 0; i < descents; ++i) {
        double boards = 1;
        QueensBoard at = board;
        sum += boards;
        while (!at.full() && at.free() != 0) {
            std::uint32_t queens = at.free();
            const auto places = static_cast<std::uint64_t>(std::popcount(queens));
            for (std::uint64_t left = random.below(places); left != 0; --left) queens &= queens - 1;
            boards *= static_cast<double>(places);
            sum += boards;
            at = at.with(queens & (~queens + 1));
        }
    }
    return sum / descents;
}

inline runtime::Answer answer_of(const QueensFound& found) {
    return {{"solutions", static_cast<double>(found.solutions)},
            {"placements", static_cast<double>(found.placements)}};
}

/// OEIS A000170, n = 0 to 23. Doubles have them exactly.
inline constexpr std::array<double, 24> known_queens = {1,
                                                        1,
                                                        0,
                                                        0,
                                                        2,
                                                        10,
                                                        4,
                                                        40,
                                                        92,
                                                        352,
                                                        724,
                                                        2680,
                                                        14200,
                                                        73712,
                                                        365596,
                                                        2279184,
                                                        14772512,
                                                        95815104,
                                                        666090624,
                                                        4968057848,
                                                        39029188884,
                                                        314666222712,
                                                        2691008701644,
                                                        24233937684440};

/// The most queens of a board that is searched everywhere: more take too long.
inline constexpr int queens_max = 18;

}  // namespace heddle::workloads
