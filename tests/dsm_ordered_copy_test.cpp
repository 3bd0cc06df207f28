// Copies that touch pages in ascending order.
#include "model/dsm/ordered_copy.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace heddle::dsm {
namespace {

TEST(OrderedCopy, NoPartLiesInTwoPages) {
    EXPECT_EQ(bytes_within_pages(4096, 8192, 10'000), 4096U);
    EXPECT_EQ(bytes_within_pages(4096, 8192, 100), 100U);
    EXPECT_EQ(bytes_within_pages(4095, 8192, 100), 1U);
    EXPECT_EQ(bytes_within_pages(4096, 8191, 100), 1U);
    EXPECT_EQ(bytes_within_pages(4196, 8392, 10'000), 3896U);
}

TEST(OrderedCopy, CopiesEachElementWhereverBothSidesBegin) {
    for (std::size_t from = 0; from < 6; ++from) {
        for (std::size_t to = 0; to < 6; ++to) {
            for (const std::size_t count : {0, 1, 511, 512, 513, 3000}) {
                std::vector<std::uint64_t> source(from + count), target(to + count + 1, 7);
                std::iota(source.begin(), source.end(), 1);
                copy_in_order(source.data() + from, count, target.data() + to);
                for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(target[to + i], from + i + 1);
                ASSERT_EQ(target.back(), 7U);
                if (to > 0) {
                    ASSERT_EQ(target[to - 1], 7U);
                }
            }
        }
    }
}

}  // namespace
}  // namespace heddle::dsm
