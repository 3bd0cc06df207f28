// Tests copies to memory that another core reads: whole, whatever their ends, by both kinds of stores; and
// the choice between these by the time that ordinary copies take.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <vector>

#include "runtime/native/streaming_copy.hpp"

namespace heddle::native {

namespace {

using namespace std::chrono_literals;

std::vector<std::byte> numbers(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i % 251);
    return bytes;
}

/// Checks that a copy writes its bytes, and none before or behind them.
void expect_copied(std::size_t place, std::size_t count,
                   const std::function<void(std::byte*, std::span<const std::byte>)>& copy) {
    constexpr std::size_t margin = 64;
    const auto from = numbers(count + 1);
    const std::byte untouched{255};
    std::vector<std::byte> to(place + count + margin, untouched);
    copy(to.data() + place, std::span(from).subspan(1));
    for (std::size_t i = 0; i < to.size(); ++i) {
        const bool within = i >= place && i < place + count;
        ASSERT_EQ(to[i], within ? from[i - place + 1] : untouched) << place << ", " << count << ", " << i;
    }
}

constexpr std::size_t large = 64 << 10;

}  // namespace

TEST(NativeStreamingCopy, CopiesAllBytesAndNoOther) {
    for (const std::size_t count : {0, 1, 15, 63, 64, 65, 127, 128, 4095, 4096, 4200})
        for (std::size_t place = 0; place <= 64; ++place) expect_copied(place, count, copy_by_streaming);
}

TEST(NativeStreamingCopy, CopiesAllBytesWhereverItFindsTheOtherCore) {
    CopyToOtherCore copier;
    const auto copy = [&](std::byte* to, std::span<const std::byte> from) { copier.copy(to, from); };
    for (const auto taken : {1ns, 1'000'000ns}) {
        for (int i = 0; i < 2; ++i) copier.judge(large, taken);
        for (const std::size_t count : {std::size_t{0}, std::size_t{100}, streaming_bytes_min, large + 33})
            expect_copied(7, count, copy);
    }
}

// 64 KiB take 6us from a core whose lines come in 25 ns, 27us from one whose lines take 160 (an AMD EPYC).
TEST(NativeStreamingCopy, StreamsToACoreThatIsFar) {
    CopyToOtherCore copier;
    copier.judge(large, 6us);
    EXPECT_FALSE(copier.streams());
    copier.judge(large, 27us);
    EXPECT_FALSE(copier.streams()) << "a single one was perhaps interrupted";
    copier.judge(large, 6us);
    copier.judge(large, 27us);
    EXPECT_FALSE(copier.streams());
    copier.judge(large, 27us);
    EXPECT_TRUE(copier.streams());
    copier.judge(large, 27us);
    EXPECT_TRUE(copier.streams());
    copier.judge(large, 6us);
    EXPECT_FALSE(copier.streams()) << "the core has come near";
}

}  // namespace heddle::native
