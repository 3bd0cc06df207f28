// Counts solutions of the n-queens problem up to the eight symmetries of the square. Of the boards that
// rotate or mirror into each other, it searches one, and counts it as often as there are different ones. Runs
// no tasks.
//
// A board's border is where the queens of its four sides are, counted along each side, clockwise from the top
// left corner. The queens of the borders are placed first, and a board is left out if an image has a lesser
// border, compared as words. If images have the same border, all columns are compared at the end.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "workloads/queens.hpp"

namespace heddle::workloads {

/// The most queens of a board whose symmetries are used.
inline constexpr int symmetric_queens_max = 23;

/// OEIS A002562 from n = 1 on, and 1 for no queens: solutions that no symmetry turns into each other.
inline constexpr std::array<double, symmetric_queens_max + 1> known_fundamental_queens = {1,
                                                                                          1,
                                                                                          0,
                                                                                          0,
                                                                                          1,
                                                                                          2,
                                                                                          1,
                                                                                          6,
                                                                                          12,
                                                                                          46,
                                                                                          92,
                                                                                          341,
                                                                                          1787,
                                                                                          9233,
                                                                                          45752,
                                                                                          285053,
                                                                                          1846955,
                                                                                          11977939,
                                                                                          83263591,
                                                                                          621012754,
                                                                                          4878666808,
                                                                                          39333324973,
                                                                                          336376244042,
                                                                                          3029242658210};

/// The columns of the queens, row by row.
using QueensColumns = std::array<std::uint8_t, symmetric_queens_max>;
/// Of the queens in the first row, last column, last row and first column.
using QueensBorder = std::array<std::uint8_t, 4>;

/// How many of the eight symmetries of a square of n leave a border as it is; 0 if an image is less.
inline unsigned symmetries_of_least(const QueensBorder& border, std::uint32_t n) {
    unsigned same = 0;
    for (std::size_t turn = 0; turn < 4; ++turn) {
        for (const bool mirrored : {false, true}) {
            QueensBorder image{};
            for (std::size_t side = 0; side < 4; ++side) {
                const std::uint8_t place = border[(mirrored ? 8 - turn - side : turn + side) % 4];
                image[side] = mirrored ? static_cast<std::uint8_t>(n - 1 - place) : place;
            }
            if (image < border) return 0;
            if (image == border) ++same;
        }
    }
    return same;
}

/// The same of a full board of n queens, compared by border, and then by all columns.
inline unsigned symmetries_of_least(const QueensColumns& columns, std::uint32_t n) {
    const auto place = [](std::size_t at) { return static_cast<std::uint8_t>(at); };
    const auto transposed = [&](const QueensColumns& board) {
        QueensColumns rows{};
        for (std::size_t row = 0; row < n; ++row) rows[board[row]] = place(row);
        return rows;
    };
    const auto border = [&](const QueensColumns& board) {
        const QueensColumns rows = transposed(board);
        return QueensBorder{board[0], rows[n - 1], place(n - 1U - board[n - 1]), place(n - 1U - rows[0])};
    };
    if (n == 0) return 8;
    const auto own = std::pair(border(columns), columns);
    unsigned same = 0;
    QueensColumns turned = columns;
    for (int turn = 0; turn < 4; ++turn) {
        QueensColumns upside_down{};
        for (std::size_t row = 0; row < n; ++row) upside_down[row] = turned[n - 1 - row];
        for (const QueensColumns& board : {turned, upside_down}) {
            const auto image = std::pair(border(board), board);
            if (image < own) return 0;
            if (image == own) ++same;
        }
        turned = transposed(upside_down);
    }
    return same;
}

/// What a search has found.
struct ClassesFound {
    std::uint64_t solutions = 0;
    std::uint64_t placements = 0;   ///< boards visited
    std::uint64_t fundamental = 0;  ///< solutions that no symmetry turns into each other

    ClassesFound& operator+=(const ClassesFound& other) {
        solutions += other.solutions;
        placements += other.placements;
        fundamental += other.fundamental;
        return *this;
    }
};

/// A board that may be the least of its images when it is full. Queens are placed in the first row, the last
/// column, the last row, the first column, and then row by row.
class LeastBoard {
public:
    static LeastBoard empty(int n) {
        LeastBoard board;
        board.size_ = static_cast<std::uint32_t>(n);
        return board;
    }

    bool full() const { return rows_ == all(); }
    /// Whether all borders have their queens.
    bool has_border() const { return size_ == 0 || (has(rows_) && has(columns_)); }

    /// Calls visit(next board) for each place of the next queen.
    template <class Visit>
    void places(const Visit& visit) const {
        if (full()) return;
        const std::uint32_t last = size_ - 1;
        if (has_border()) {
            const auto row = static_cast<std::uint32_t>(std::countr_one(rows_));
            for (std::uint32_t column = 1; column < last; ++column) place(row, column, visit);
        } else if ((rows_ & 1U) == 0) {
            // The image that is mirrored is less if the queen is in the right half. In the middle, the last
            // row's queen would be in the same column, unless it is the only one.
            for (std::uint32_t at = 0; at < (size_ == 1 ? 1 : size_ / 2); ++at) place(0, at, visit);
        } else {
            // No border's queen is nearer to a corner than the first one.
            const std::uint32_t first = columns_of_[0];
            for (std::uint32_t at = first; at + first <= last; ++at) {
                if ((columns_ >> last & 1U) == 0) {
                    place(at, last, visit);
                } else if ((rows_ >> last & 1U) == 0) {
                    place(last, at, visit);
                } else {
                    place(at, 0, visit);
                }
            }
        }
    }

    /// Of a full board: itself and its images, if it is the least.
    ClassesFound found_here() const {
        const unsigned same = full() ? symmetries_of_least(columns_of_, size_) : 0;
        if (same == 0) return {0, 1, 0};
        return {8 / same, 1, 1};
    }

private:
    friend class LeastSearch;

    std::uint32_t all() const { return (1U << size_) - 1; }
    bool has(std::uint32_t lines) const { return (lines & 1U) != 0 && (lines >> (size_ - 1) & 1U) != 0; }

    QueensBorder border() const {
        const auto row_in = [this](std::uint32_t column) {
            std::uint8_t row = 0;
            while ((rows_ >> row & 1U) == 0 || columns_of_[row] != column) ++row;
            return row;
        };
        const std::uint32_t last = size_ - 1;
        return {columns_of_[0], row_in(last), static_cast<std::uint8_t>(last - columns_of_[last]),
                static_cast<std::uint8_t>(last - row_in(0))};
    }

    template <class Visit>
    void place(std::uint32_t row, std::uint32_t column, const Visit& visit) const {
        const std::uint32_t falls = size_ - 1 - row + column;
        if (((rows_ >> row | columns_ >> column) & 1U) != 0) return;
        if (((rising_ >> (row + column) | falling_ >> falls) & 1U) != 0) return;
        LeastBoard next = *this;
        next.rows_ |= 1U << row;
        next.columns_ |= 1U << column;
        next.rising_ |= std::uint64_t{1} << (row + column);
        next.falling_ |= std::uint64_t{1} << falls;
        next.columns_of_[row] = static_cast<std::uint8_t>(column);
        if (!has_border() && next.has_border()) {
            next.same_border_ = static_cast<std::uint8_t>(symmetries_of_least(next.border(), size_));
            if (next.same_border_ == 0) return;
        }
        visit(next);
    }

    std::uint64_t rising_ = 0;   ///< diagonals taken: bit row + column
    std::uint64_t falling_ = 0;  ///< bit n - 1 - row + column
    std::uint32_t rows_ = 0;
    std::uint32_t columns_ = 0;
    std::uint32_t size_ = 0;
    std::uint8_t same_border_ = 0;  ///< symmetries that leave the border as it is
    QueensColumns columns_of_{};    ///< by row
};

/// Fills the rows of a board whose borders have their queens.
class LeastSearch {
public:
    explicit LeastSearch(const LeastBoard& board) : board_(board) {}

    ClassesFound run() {
        fill(board_.rows_, board_.columns_, board_.rising_, board_.falling_);
        return found_;
    }

private:
    void fill(std::uint32_t rows, std::uint32_t columns, std::uint64_t rising, std::uint64_t falling) {
        ++found_.placements;
        if (rows == board_.all()) return end();
        const auto row = static_cast<std::uint32_t>(std::countr_one(rows));
        const std::uint32_t falls = board_.size_ - 1 - row;
        const auto taken = static_cast<std::uint32_t>(rising >> row | falling >> falls);
        for (std::uint32_t queens = ~(columns | taken) & board_.all(); queens != 0; queens &= queens - 1) {
            const std::uint32_t queen = queens & (~queens + 1);
            board_.columns_of_[row] = static_cast<std::uint8_t>(std::countr_zero(queen));
            fill(rows | 1U << row, columns | queen, rising | std::uint64_t{queen} << row,
                 falling | std::uint64_t{queen} << falls);
        }
    }
    void end() {
        const unsigned same =
            board_.same_border_ == 1 ? 1 : symmetries_of_least(board_.columns_of_, board_.size_);
        if (same == 0) return;
        found_.solutions += 8 / same;
        ++found_.fundamental;
    }

    LeastBoard board_;
    ClassesFound found_;
};

inline ClassesFound search(const LeastBoard& board) {
    if (board.has_border()) return LeastSearch(board).run();
    ClassesFound found = board.found_here();
    board.places([&](const LeastBoard& next) { found += search(next); });
    return found;
}

}  // namespace heddle::workloads
