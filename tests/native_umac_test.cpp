// Tests UMAC against the library nettle, an independent program. Tags are equal for messages of all lengths
// around the ends of groups, blocks and the change of polynomial. Messages come in pieces of any size, and
// each kind of vectors is tried.
#include <gtest/gtest.h>
#include <nettle/umac.h>

#include <cstring>
#include <vector>

#include "base/random.hpp"
#include "runtime/native/umac.hpp"

namespace heddle::native {

namespace {

using Vectors = Umac::Vectors;

constexpr Umac::Key key{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

Umac::Tag tag_of_nettle(std::span<const std::byte> message, std::uint64_t number) {
    umac64_ctx state;
    umac64_set_key(&state, key.data());
    std::uint8_t nonce[8];
    for (std::size_t i = 0; i < 8; ++i) nonce[7 - i] = static_cast<std::uint8_t>(number >> (8 * i));
    umac64_set_nonce(&state, sizeof nonce, nonce);
    umac64_update(&state, message.size(), reinterpret_cast<const std::uint8_t*>(message.data()));
    Umac::Tag tag;
    umac64_digest(&state, tag.size(), reinterpret_cast<std::uint8_t*>(tag.data()));
    return tag;
}

std::vector<std::byte> random_bytes(std::size_t count) {
    Random random(count);
    std::vector<std::byte> bytes(count + 8);
    for (std::size_t at = 0; at < count; at += 8) {
        const std::uint64_t word = random();
        std::memcpy(bytes.data() + at, &word, sizeof word);
    }
    bytes.resize(count);
    return bytes;
}

class NativeUmac : public testing::TestWithParam<Vectors> {
protected:
    void SetUp() override {
        if (GetParam() > Umac::best()) GTEST_SKIP() << "this processor has no such vectors";
        umac_.use(GetParam());
    }
    Umac umac_{key};
};

}  // namespace

TEST_P(NativeUmac, TagsAreThoseOfNettle) {
    const std::vector<std::byte> bytes = random_bytes(5000);
    for (std::size_t size = 0; size <= bytes.size(); size += size < 2200 ? 1 : 61) {
        const auto message = std::span(bytes).first(size);
        umac_.begin(size);
        umac_.update(message);
        ASSERT_EQ(umac_.finish(), tag_of_nettle(message, size)) << size << " bytes";
    }
}

TEST_P(NativeUmac, PiecesOfAnySizeMakeTheTagOfTheWhole) {
    const std::vector<std::byte> bytes = random_bytes(100'000);
    Random random(5);
    for (std::uint64_t number = 0; number < 40; ++number) {
        umac_.begin(number);
        for (std::span<const std::byte> left(bytes); !left.empty();) {
            const auto piece = left.first(std::min<std::size_t>(left.size(), random.below(3000)));
            umac_.update(piece);
            left = left.subspan(piece.size());
        }
        ASSERT_EQ(umac_.finish(), tag_of_nettle(bytes, number));
    }
}

// 16 MiB are hashed modulo 2^64 - 59, what follows modulo 2^128 - 159. Bytes of 255 make the largest words.
TEST_P(NativeUmac, HugeMessagesHaveTheTagsOfNettle) {
    constexpr std::size_t narrow = std::size_t{16} << 20;
    std::vector<std::byte> bytes = random_bytes(2 * narrow);
    for (const int kind : {0, 1}) {
        if (kind == 1) std::ranges::fill(bytes, std::byte{255});
        for (const std::size_t size : {narrow - 1, narrow, narrow + 1, narrow + 1024, narrow + 1025,
                                       narrow + 2048, narrow + 2049, narrow + 5000, 2 * narrow}) {
            const auto message = std::span(bytes).first(size);
            umac_.begin(size);
            umac_.update(message);
            ASSERT_EQ(umac_.finish(), tag_of_nettle(message, size)) << size << " bytes";
        }
    }
}

TEST_P(NativeUmac, AChangedBitChangesTheTag) {
    std::vector<std::byte> bytes = random_bytes(1500);
    const Umac::Tag right = tag_of_nettle(bytes, 7);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 37) {
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        umac_.begin(7);
        umac_.update(bytes);
        EXPECT_NE(umac_.finish(), right);
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
}

INSTANTIATE_TEST_SUITE_P(All, NativeUmac,
                         testing::Values(Vectors::none, Vectors::of_256_bits, Vectors::of_512_bits));

}  // namespace heddle::native
