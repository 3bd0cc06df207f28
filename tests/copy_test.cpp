// Tests which bytes memory moves for a copy, against lines counted one by one, and that copies arrive whole.
#include "runtime/core/copy.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <list>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace heddle::runtime {
namespace {

constexpr Cache roomy{64, 1U << 20};

/// Counts line by line. Sweeps of one side use lines; without room each sweep moves its lines again.
double counted(const Copy& copy, const Cache& cache) {
    double lines = 0, most = 0;
    for (const bool kept : {true, false}) {
        double sum = 0, of_first = 0;
        for (const Copy::Strides& strides : {copy.to, copy.from}) {
            std::set<std::uint64_t> all;
            std::uint64_t swept = 0;
            for (std::uint64_t i = 0; i < copy.outer; ++i) {
                std::set<std::uint64_t> sweep;
                for (std::uint64_t j = 0; j < copy.inner; ++j) {
                    const std::uint64_t begin = i * strides.sweep + j * strides.piece;
                    for (std::uint64_t byte = begin; byte < begin + copy.bytes; ++byte)
                        sweep.insert(byte / cache.line);
                }
                if (i == 0) of_first += static_cast<double>(sweep.size());
                swept += sweep.size();
                all.insert(sweep.begin(), sweep.end());
            }
            sum += static_cast<double>(kept ? all.size() : swept);
        }
        most = of_first * static_cast<double>(cache.line);
        lines = sum;
        if (kept && most <= static_cast<double>(cache.bytes)) break;
    }
    return lines * static_cast<double>(cache.line);
}

TEST(Copy, AContiguousOneReadsAndWritesItsLines) {
    EXPECT_EQ(Copy::contiguous(0).bytes_moved(roomy), 0);
    EXPECT_EQ(Copy::contiguous(1).bytes_moved(roomy), 128);
    EXPECT_EQ(Copy::contiguous(6400).bytes_moved(roomy), 12800);
    EXPECT_EQ(Copy::contiguous(6401).bytes_moved(roomy), 12928);
    EXPECT_EQ(Copy::contiguous(1 << 30).bytes_moved({64, 0}), 2.0 * (1 << 30));
}

// 1000 numbers of 8 bytes, 256 bytes apart, into a row: 1000 lines are read, 125 written. With lines of 8
// bytes only the numbers move.
TEST(Copy, AStridedOneMovesWholeLines) {
    const Copy gather = Copy::strided(1000, 8, 8, 256);
    EXPECT_EQ(gather.bytes_moved(roomy), (1000 + 125) * 64);
    EXPECT_EQ(gather.bytes_moved({8, 1U << 20}), 2 * 8000);
    EXPECT_EQ(gather.bytes_moved({128, 1U << 20}), (1000 + 63) * 128);
}

// A matrix of 256 x 256 numbers of 8 bytes. By rows 2 x 8192 lines. Transposed, each sweep writes 256 lines,
// of which the next seven sweeps use the rest: if the cache holds them, 2 x 8192 lines; if not, 8192 + 65536.
TEST(Copy, ATransposedOneNeedsCacheForItsLines) {
    const Copy rows = Copy::tile(256, 256, 8, 2048, 2048);
    const Copy transposed = Copy::transposed(256, 256, 8, 2048, 2048);
    EXPECT_EQ(rows.bytes_moved({64, 1024}), 2 * 8192 * 64);
    EXPECT_EQ(transposed.bytes_moved({64, 32U << 10}), 2 * 8192 * 64);
    EXPECT_EQ(transposed.bytes_moved({64, 1024}), (8192 + 65536) * 64);
    // Tile by tile of 16 x 16 numbers, the small cache is enough: 256 tiles of 2 x 32 lines.
    const Copy tile = Copy::transposed(16, 16, 8, 2048, 2048);
    EXPECT_EQ(256 * tile.bytes_moved({64, 4096}), 2 * 8192 * 64);
}

// Shapes whose strides are multiples of the line, or whose pieces are: there the count is exact.
TEST(Copy, LinesAreThoseThatAreTouched) {
    for (const Cache& cache : {Cache{64, 1U << 20}, Cache{64, 512}, Cache{32, 2048}}) {
        for (const std::uint64_t bytes : {8U, 64U, 192U}) {
            for (const std::uint64_t inner : {1U, 3U, 16U}) {
                for (const std::uint64_t outer : {1U, 2U, 16U}) {
                    for (const std::uint64_t gap : {0U, 256U}) {
                        const std::uint64_t stride = (bytes + gap) * inner + 64 * (16 - inner);
                        const Copy::Strides rows{bytes + gap, stride};
                        const Copy::Strides columns{(bytes + gap) * outer, bytes + gap};
                        for (const auto& to : {rows, columns}) {
                            const Copy copy{bytes, inner, outer, to, rows};
                            if (bytes == 8 && gap == 0 && inner % 8 != 0) continue;  // ends within a line
                            EXPECT_EQ(copy.bytes_moved(cache), counted(copy, cache))
                                << bytes << " bytes, " << inner << " x " << outer << ", gap " << gap
                                << ", line " << cache.line << (&to == &rows ? "" : " columns");
                        }
                    }
                }
            }
        }
    }
}

TEST(Copy, ArrivesWhole) {
    std::vector<std::uint32_t> from(12 * 9), to(9 * 12);
    std::iota(from.begin(), from.end(), 1U);
    Copy::transposed(9, 12, 4, 9 * 4, 12 * 4).carry_out(to.data(), from.data());
    for (std::size_t row = 0; row < 9; ++row)
        for (std::size_t column = 0; column < 12; ++column)
            EXPECT_EQ(to[column * 9 + row], from[row * 12 + column]);
    std::vector<std::uint32_t> packed(9);
    Copy::strided(9, 4, 4, 12 * 4).carry_out(packed.data(), from.data());
    for (std::size_t row = 0; row < 9; ++row) EXPECT_EQ(packed[row], from[row * 12]);
    Copy::contiguous(4 * 12 * 9).carry_out(to.data(), from.data());
    EXPECT_EQ(to, from);
}

}  // namespace
}  // namespace heddle::runtime
