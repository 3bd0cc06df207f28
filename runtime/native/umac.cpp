// The three layers of UMAC's hash. The first multiplies pairs of words of a block, and takes nearly all of
// the time. The second is a polynomial over the blocks. The third makes 32 bits of each round's value.
#include "runtime/native/umac.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace heddle::native {

namespace {

__extension__ using Wide = unsigned __int128;
using Sums = std::array<std::uint64_t, 2>;

static_assert(std::endian::native == std::endian::little, "words of a message are read as they lie");

constexpr std::size_t group_bytes = 32;  ///< the first layer takes so many at a time
constexpr std::uint64_t narrow_blocks = 1 << 14;

// --- the first layer

template <class BlockKey>
Sums hash_words(const BlockKey& block_key, const std::byte* data, std::size_t bytes) {
    const std::uint32_t* key = block_key.words.data();
    Sums sums{};
    for (std::size_t at = 0; at < bytes; at += group_bytes, key += 8) {
        std::uint32_t words[8];
        std::memcpy(words, data + at, sizeof words);
        for (std::size_t round = 0; round < sums.size(); ++round) {
            const std::uint32_t* const own = key + 4 * round;
            for (std::size_t i = 0; i < 4; ++i)
                sums[round] += std::uint64_t{words[i] + own[i]} * std::uint64_t{words[i + 4] + own[i + 4]};
        }
    }
    return sums;
}

#if defined(__x86_64__)

// The second round's key is the first's, four words further.

__attribute__((target("avx2"))) Sums hash_groups(const std::uint32_t* key, const std::byte* data,
                                                 std::size_t bytes) {
    __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (std::size_t at = 0; at < bytes; at += group_bytes, key += 8) {
        const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + at));
        for (std::size_t round = 0; round < 2; ++round) {
            const __m256i own = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(key + 4 * round));
            const __m256i added = _mm256_add_epi32(words, own);
            const __m256i low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(added));
            const __m256i high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(added, 1));
            sums[round] = _mm256_add_epi64(sums[round], _mm256_mul_epu32(low, high));
        }
    }
    Sums result{};
    for (std::size_t round = 0; round < 2; ++round) {
        std::uint64_t lanes[4];
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), sums[round]);
        result[round] = lanes[0] + lanes[1] + lanes[2] + lanes[3];
    }
    return result;
}

constexpr std::size_t pair_bytes = 2 * group_bytes;
constexpr std::size_t pair_words = 24;

/// For each pair of groups: what is added to their first halves, to their second halves, and by the second
/// round to their second halves. The second round adds the second of these to the first halves.
template <class BlockKey>
void pair_words_of(BlockKey& key) {
    auto* to = key.paired.data();
    for (std::size_t pair = 0; pair < key.paired.size() / pair_words; ++pair)
        for (std::size_t part = 0; part < 3; ++part)
            for (std::size_t group = 0; group < 2; ++group)
                to = std::copy_n(key.words.data() + 16 * pair + 8 * group + 4 * part, 4, to);
}

__attribute__((target("avx2"))) __m256i halves(const std::byte* group) {
    const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(group));
    const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(group + group_bytes));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

/// `sums` and the products of the words of both.
__attribute__((target("avx2"))) __m256i with_products(__m256i sums, __m256i first, __m256i second) {
    const __m256i even = _mm256_mul_epu32(first, second);
    const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(first, 32), _mm256_srli_epi64(second, 32));
    return _mm256_add_epi64(sums, _mm256_add_epi64(even, odd));
}

/// Two groups at a time, each in a half of the registers. So no word has to change its place, which costs
/// more than to multiply.
template <class BlockKey>
__attribute__((target("avx2"))) Sums hash_256(const BlockKey& key, const std::byte* data, std::size_t bytes) {
    if (bytes < pair_bytes) return hash_groups(key.words.data(), data, bytes);
    const auto* keys = reinterpret_cast<const __m256i*>(key.paired.data());
    __m256i one = _mm256_setzero_si256();
    __m256i two = one;
    std::size_t at = 0;
    for (; at + pair_bytes <= bytes; at += pair_bytes, keys += 3) {
        const __m256i first = halves(data + at);
        const __m256i second = halves(data + at + group_bytes / 2);
        const __m256i between = _mm256_load_si256(keys + 1);
        one = with_products(one, _mm256_add_epi32(first, _mm256_load_si256(keys)),
                            _mm256_add_epi32(second, between));
        two = with_products(two, _mm256_add_epi32(first, between),
                            _mm256_add_epi32(second, _mm256_load_si256(keys + 2)));
    }
    const __m256i both = _mm256_add_epi64(_mm256_unpacklo_epi64(one, two), _mm256_unpackhi_epi64(one, two));
    const __m128i whole = _mm_add_epi64(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    Sums sums;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sums.data()), whole);
    if (at == bytes) return sums;
    const Sums rest = hash_groups(key.words.data() + at / 4, data + at, bytes - at);
    return {sums[0] + rest[0], sums[1] + rest[1]};
}

template <class BlockKey>
__attribute__((target("avx512f,avx512dq,avx2"))) Sums hash_512(const BlockKey& block_key,
                                                               const std::byte* data, std::size_t bytes) {
    const std::uint32_t* key = block_key.words.data();
    constexpr __mmask8 all = 0xff;  // without it gcc 12 warns of the operand that no mask takes
    __m512i sums[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    std::size_t at = 0;
    for (; at + 2 * group_bytes <= bytes; at += 2 * group_bytes, key += 16) {
        const __m512i words = _mm512_loadu_si512(data + at);
        for (std::size_t round = 0; round < 2; ++round) {
            const __m512i added = _mm512_add_epi32(words, _mm512_loadu_si512(key + 4 * round));
            // A group's two halves are each other's factors. Both places where they meet would make the same
            // products of even words; the second makes those of odd words instead.
            const __m512i other = _mm512_maskz_shuffle_i64x2(all, added, added, 0xb1);
            sums[round] = _mm512_add_epi64(
                sums[round], _mm512_maskz_mul_epu32(all, _mm512_mask_srli_epi64(added, 0xcc, added, 32),
                                                    _mm512_mask_srli_epi64(other, 0xcc, other, 32)));
        }
    }
    Sums result = hash_groups(key, data + at, bytes - at);
    for (std::size_t round = 0; round < 2; ++round) {
        std::uint64_t lanes[8];
        _mm512_storeu_si512(lanes, sums[round]);
        for (const std::uint64_t lane : lanes) result[round] += lane;
    }
    return result;
}

#endif

// --- the second layer: modulo 2^64 - 59, and from block 16384 on modulo 2^128 - 159

constexpr std::uint64_t narrow_offset = 59;
constexpr std::uint64_t wide_offset = 159;

std::uint64_t add_narrow(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t sum = a + b;
    return sum < b ? sum + narrow_offset : sum;
}

/// `key` is below 2^57.
std::uint64_t multiply_narrow(std::uint64_t key, std::uint64_t value) {
    const Wide product = static_cast<Wide>(key) * value;
    const auto high = static_cast<std::uint64_t>(product >> 64);
    return add_narrow(high * narrow_offset, static_cast<std::uint64_t>(product));
}

std::uint64_t step_narrow(std::uint64_t key, std::uint64_t value, std::uint64_t word) {
    constexpr std::uint64_t word_end = ~std::uint64_t{0} << 32;
    if (word < word_end) return add_narrow(multiply_narrow(key, value), word);
    value = add_narrow(multiply_narrow(key, value), -narrow_offset - 1);
    return add_narrow(multiply_narrow(key, value), word - narrow_offset);
}

Wide add_wide(Wide a, Wide b) {
    const Wide sum = a + b;
    return sum < b ? sum + wide_offset : sum;
}

/// Both halves of `key` are below 2^57.
Wide multiply_wide(Wide key, Wide value) {
    const auto key_low = static_cast<std::uint64_t>(key), key_high = static_cast<std::uint64_t>(key >> 64);
    const auto low = static_cast<std::uint64_t>(value), high = static_cast<std::uint64_t>(value >> 64);
    const Wide middle = static_cast<Wide>(high) * key_low + static_cast<Wide>(low) * key_high;
    const Wide first = static_cast<Wide>(low) * key_low;
    const Wide below = first + (middle << 64);
    const Wide above = static_cast<Wide>(high) * key_high + (middle >> 64) + (below < first ? 1 : 0);
    // `above` is below 2^122: its product with the offset has at most two bits more than fit.
    const Wide part = static_cast<Wide>(static_cast<std::uint64_t>(above)) * wide_offset;
    const Wide rest = (above >> 64) * wide_offset + (part >> 64);
    const Wide folded = (rest << 64) | static_cast<std::uint64_t>(part);
    return add_wide(add_wide(below, folded), (rest >> 64) * wide_offset);
}

Wide step_wide(Wide key, Wide value, Wide word) {
    constexpr Wide word_end = ~Wide{0} << 96;
    if (word < word_end) return add_wide(multiply_wide(key, value), word);
    value = add_wide(multiply_wide(key, value), ~Wide{0} - wide_offset);
    return add_wide(multiply_wide(key, value), word - wide_offset);
}

// --- keys

using AesBlock = std::array<std::uint8_t, AES_BLOCK_SIZE>;

void store(std::uint8_t* to, std::uint64_t value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
        to[sizeof value - 1 - i] = static_cast<std::uint8_t>(value >> (8 * i));
}

/// The most significant byte first, as all numbers of keys.
template <class Number>
Number load(const std::uint8_t* from) {
    Number value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i) value = static_cast<Number>(value << 8 | from[i]);
    return value;
}

/// Keys of layers, derived from the whole's by AES in counter mode.
template <std::size_t size>
std::array<std::uint8_t, size> derived(const aes128_ctx& key, std::uint64_t purpose) {
    std::array<std::uint8_t, size> result;
    for (std::size_t at = 0; at < size; at += AES_BLOCK_SIZE) {
        AesBlock block;
        store(block.data(), purpose);
        store(block.data() + 8, at / AES_BLOCK_SIZE + 1);
        aes128_encrypt(&key, block.size(), block.data(), block.data());
        std::copy_n(block.data(), std::min<std::size_t>(size - at, block.size()), result.data() + at);
    }
    return result;
}

constexpr std::uint64_t last_modulus = (std::uint64_t{1} << 36) - 5;
constexpr std::uint64_t narrow_mask = 0x01ff'ffff'01ff'ffff;

}  // namespace

Umac::Umac(const Key& key) : block_{} {
    aes128_ctx whole;
    aes128_set_encrypt_key(&whole, key.data());
    const auto pad = derived<16>(whole, 0);
    aes128_set_encrypt_key(&pad_key_, pad.data());
    const auto first = derived<sizeof block_key_.words>(whole, 1);
    for (std::size_t i = 0; i < block_key_.words.size(); ++i)
        block_key_.words[i] = load<std::uint32_t>(first.data() + 4 * i);
#if defined(__x86_64__)
    pair_words_of(block_key_);
#endif
    const auto second = derived<24 * rounds>(whole, 2);
    const auto third = derived<64 * rounds>(whole, 3);
    const auto masks = derived<4 * rounds>(whole, 4);
    for (std::size_t round = 0; round < rounds; ++round) {
        const std::uint8_t* const own = second.data() + 24 * round;
        polynomials_[round] = {};
        polynomials_[round].key = load<std::uint64_t>(own) & narrow_mask;
        polynomials_[round].key_wide = static_cast<Wide>(load<std::uint64_t>(own + 8) & narrow_mask) << 64 |
                                       (load<std::uint64_t>(own + 16) & narrow_mask);
        for (std::size_t i = 0; i < last_key_[round].size(); ++i)
            last_key_[round][i] = load<std::uint64_t>(third.data() + 64 * round + 8 * i) % last_modulus;
        last_mask_[round] = load<std::uint32_t>(masks.data() + 4 * round);
    }
    use(best());
}

Umac::Vectors Umac::best() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return Vectors::of_512_bits;
    if (__builtin_cpu_supports("avx2")) return Vectors::of_256_bits;
#endif
    return Vectors::none;
}

void Umac::use(Vectors vectors) {
    hash_ = hash_words<BlockKey>;
#if defined(__x86_64__)
    if (vectors == Vectors::of_256_bits) hash_ = hash_256<BlockKey>;
    if (vectors == Vectors::of_512_bits) hash_ = hash_512<BlockKey>;
#else
    static_cast<void>(vectors);
#endif
}

void Umac::begin(std::uint64_t number) {
    number_ = number;
    blocks_ = 0;
    filled_ = 0;
}

void Umac::update(std::span<const std::byte> piece) {
    if (filled_ > 0) {
        const auto part = piece.first(std::min(piece.size(), block_bytes - filled_));
        std::ranges::copy(part, block_.begin() + static_cast<std::ptrdiff_t>(filled_));
        filled_ += part.size();
        piece = piece.subspan(part.size());
        if (filled_ < block_bytes) return;
        add_block(block_.data(), block_bytes, block_bytes);
        filled_ = 0;
    }
    for (; piece.size() >= block_bytes; piece = piece.subspan(block_bytes))
        add_block(piece.data(), block_bytes, block_bytes);
    std::ranges::copy(piece, block_.begin());
    filled_ = piece.size();
}

void Umac::add_block(const std::byte* data, std::size_t padded_bytes, std::size_t bytes) {
    const Sums sums = hash_(block_key_, data, padded_bytes);
    for (std::size_t round = 0; round < rounds; ++round)
        add_sum(polynomials_[round], sums[round] + 8 * bytes);
    ++blocks_;
}

void Umac::add_sum(Polynomial& polynomial, std::uint64_t sum) const {
    if (blocks_ == 0) {
        polynomial.pending = sum;  // of a single block there is no polynomial
    } else if (blocks_ < narrow_blocks) {
        if (blocks_ == 1) polynomial.value = step_narrow(polynomial.key, 1, polynomial.pending);
        polynomial.value = step_narrow(polynomial.key, polynomial.value, sum);
    } else if (blocks_ % 2 == 0) {
        polynomial.pending = sum;
    } else {
        if (blocks_ == narrow_blocks + 1) {
            constexpr std::uint64_t modulus = -narrow_offset;
            const std::uint64_t whole =
                polynomial.value >= modulus ? polynomial.value - modulus : polynomial.value;
            polynomial.value_wide = step_wide(polynomial.key_wide, 1, whole);
        }
        polynomial.value_wide = step_wide(polynomial.key_wide, polynomial.value_wide,
                                          static_cast<Wide>(polynomial.pending) << 64 | sum);
    }
}

Umac::Wide Umac::value_of(Polynomial& polynomial) const {
    if (blocks_ == 1) return polynomial.pending;
    constexpr std::uint64_t narrow_modulus = -narrow_offset;
    const std::uint64_t narrow =
        polynomial.value >= narrow_modulus ? polynomial.value - narrow_modulus : polynomial.value;
    if (blocks_ <= narrow_blocks) return narrow;
    constexpr Wide wide_modulus = ~Wide{0} - (wide_offset - 1);
    constexpr Wide end_mark = Wide{1} << 63;
    if (blocks_ == narrow_blocks + 1) polynomial.value_wide = step_wide(polynomial.key_wide, 1, narrow);
    const Wide last =
        blocks_ % 2 == 0 ? end_mark << 64 : static_cast<Wide>(polynomial.pending) << 64 | end_mark;
    const Wide value = step_wide(polynomial.key_wide, polynomial.value_wide, last);
    return value >= wide_modulus ? value - wide_modulus : value;
}

Umac::Tag Umac::finish() {
    if (filled_ > 0 || blocks_ == 0) {
        const std::size_t padded =
            std::max(group_bytes, (filled_ + group_bytes - 1) / group_bytes * group_bytes);
        std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled_),
                  block_.begin() + static_cast<std::ptrdiff_t>(padded), std::byte{});
        add_block(block_.data(), padded, filled_);
    }
    // Two nonces share a block of the pad, and numbers mostly follow each other.
    if (const std::uint64_t even = number_ & ~std::uint64_t{1}; even != pad_number_) {
        pad_ = {};
        store(pad_.data(), even);
        aes128_encrypt(&pad_key_, pad_.size(), pad_.data(), pad_.data());
        pad_number_ = even;
    }
    Tag tag;
    for (std::size_t round = 0; round < rounds; ++round) {
        const Wide value = value_of(polynomials_[round]);
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < 8; ++i)
            sum += static_cast<std::uint16_t>(value >> (16 * (7 - i))) * last_key_[round][i];
        const std::uint32_t word = static_cast<std::uint32_t>(sum % last_modulus) ^ last_mask_[round] ^
                                   load<std::uint32_t>(pad_.data() + 8 * (number_ & 1) + 4 * round);
        for (std::size_t i = 0; i < 4; ++i)
            tag[4 * round + i] = static_cast<std::byte>(word >> (8 * (3 - i)));
    }
    return tag;
}

}  // namespace heddle::native
