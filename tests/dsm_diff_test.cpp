// Tests diffs of shared pages: the changed bytes are replaced and their neighbours stay. No reader sees half
// a word.
#include "model/dsm/diff.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace heddle::dsm {
namespace {

struct alignas(8) TestPage {
    std::array<std::byte, 512> bytes{};
};

runtime::Bytes diff_of(const TestPage& before, const TestPage& after) {
    runtime::Bytes diff;
    append_diff(diff, 7, before.bytes, after.bytes);
    return diff;
}

std::size_t put_in_place(const runtime::Bytes& diff, TestPage& page) {
    runtime::Reader reader(diff);
    EXPECT_EQ(reader.get<PageId>(), 7U);
    const std::size_t sum = apply_diff(reader, page.bytes);
    EXPECT_TRUE(reader.done());
    return sum;
}

TEST(Diff, BringsEachChangedByteAndNoOther) {
    Random random(1);
    for (int round = 0; round < 1000; ++round) {
        TestPage before;
        for (std::byte& byte : before.bytes) byte = std::byte(random());
        TestPage mine = before;
        TestPage home = before;
        TestPage expected = before;
        std::size_t changed = 0;
        // This node changes even bytes, the home itself odd ones, both mostly a few.
        const std::uint64_t often = 1 + random.below(20);
        for (std::size_t at = 0; at < before.bytes.size(); ++at) {
            if (random.below(often) != 0) continue;
            const std::byte value = before.bytes[at] ^ std::byte(1 + random.below(255));
            (at % 2 == 0 ? mine : home).bytes[at] = expected.bytes[at] = value;
            changed += at % 2 == 0;
        }
        EXPECT_EQ(put_in_place(diff_of(before, mine), home), changed);
        ASSERT_EQ(home.bytes, expected.bytes) << "round " << round;
    }
}

TEST(Diff, OfAWordIsSeenWholeByAReader) {
    // They differ in their first and last byte, so that a diff has two runs for a word.
    constexpr std::uint64_t first = 0x1100000000000011;
    constexpr std::uint64_t second = 0x2200000000000022;
    TestPage of_first;
    TestPage of_second;
    std::memcpy(&of_first.bytes[256], &first, sizeof first);
    std::memcpy(&of_second.bytes[256], &second, sizeof second);
    const auto forth = diff_of(of_first, of_second);
    const auto back = diff_of(of_second, of_first);
    TestPage page = of_first;
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> torn{0};
    std::thread reader([&] {
        const std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(&page.bytes[256]));
        while (!done) {
            const std::uint64_t seen = word.load(std::memory_order_relaxed);
            if (seen != first && seen != second) torn = seen;
        }
    });
    for (int round = 0; round < 2'000'000; ++round) put_in_place(round % 2 == 0 ? forth : back, page);
    done = true;
    reader.join();
    EXPECT_EQ(torn, 0U) << std::hex << torn;
}

// Jacobi's method, for example, changes the lower bytes of each number.
TEST(Diff, OfTheLowerBytesOfEachNumberIsNoLongerThanThePage) {
    Random random(2);
    TestPage before;
    for (std::byte& byte : before.bytes) byte = std::byte(random());
    TestPage after = before;
    for (std::size_t at = 0; at < after.bytes.size(); ++at)
        if (at % 8 < 6) after.bytes[at] ^= std::byte(1 + random.below(255));
    const runtime::Bytes diff = diff_of(before, after);
    EXPECT_LE(diff.size(), 1.1 * static_cast<double>(after.bytes.size()));
    EXPECT_EQ(put_in_place(diff, before), 6 * after.bytes.size() / 8);
    EXPECT_EQ(before.bytes, after.bytes);
}

TEST(Diff, NumbersOfAnySizeComeBack) {
    for (const std::uint32_t number : {0U, 1U, 127U, 128U, 16383U, 16384U, 1U << 24, 1U << 28, ~0U}) {
        runtime::Bytes bytes;
        append_number(bytes, number);
        runtime::Reader reader(bytes);
        EXPECT_EQ(get_number(reader), number);
        EXPECT_TRUE(reader.done());
    }
    // 2^32, and a sixth byte.
    for (const std::vector<std::uint8_t>& wrong : {std::vector<std::uint8_t>{128, 128, 128, 128, 16},
                                                   std::vector<std::uint8_t>{129, 128, 128, 128, 128, 0}}) {
        runtime::Reader reader(std::as_bytes(std::span(wrong)));
        EXPECT_THROW(get_number(reader), runtime::MalformedMessage);
    }
}

TEST(Diff, WhichLeavesThePageIsRefused) {
    TestPage page;
    for (const auto& [equal, count] :
         std::vector<std::pair<std::uint32_t, std::uint32_t>>{{512, 1}, {505, 8}, {~0U, 2}, {2, ~0U}}) {
        runtime::Bytes diff;
        append_number(diff, equal);
        append_number(diff, count);
        diff.resize(diff.size() + 64, std::byte{1});
        runtime::Reader reader(diff);
        EXPECT_THROW(apply_diff(reader, page.bytes), runtime::MalformedMessage);
    }
    EXPECT_EQ(page.bytes, TestPage{}.bytes);
}

}  // namespace
}  // namespace heddle::dsm
