// Computes UMAC tags of 64 bits (RFC 4418) of a message that comes in pieces. The tags equal those of the
// library nettle. Large messages take a fraction of nettle's time, because their hash uses vectors of 256 or
// 512 bits on processors that have them.
#pragma once

#include <nettle/aes.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::native {

class Umac {
public:
    using Key = std::array<std::uint8_t, 16>;
    using Tag = std::array<std::byte, 8>;

    explicit Umac(const Key& key);

    /// Begins a message. The nonce is the number in 8 bytes, the most significant first; no number may be
    /// used twice.
    void begin(std::uint64_t number);
    void update(std::span<const std::byte> piece);
    Tag finish();

    /// For tests: which code hashes.
    enum class Vectors : std::uint8_t { none, of_256_bits, of_512_bits };
    static Vectors best();
    void use(Vectors vectors);

    static constexpr std::size_t block_bytes = 1024;

private:
    __extension__ using Wide = unsigned __int128;

    static constexpr std::size_t rounds = 2;  ///< each makes 32 bits of the tag
    static constexpr std::size_t toeplitz_words = 4;

    using Sums = std::array<std::uint64_t, rounds>;
    struct BlockKey {
        std::array<std::uint32_t, block_bytes / 4 + toeplitz_words*(rounds - 1)> words;
        /// The words in the order in which vectors of 256 bits take them, 24 for 64 bytes.
        alignas(32) std::array<std::uint32_t, block_bytes / 64 * 24> paired;
    };
    using Hash = Sums (*)(const BlockKey& key, const std::byte* data, std::size_t bytes);

    /// The second layer of one round: a polynomial over the sums of the blocks.
    struct Polynomial {
        std::uint64_t key;
        Wide key_wide;
        std::uint64_t value;
        Wide value_wide;
        std::uint64_t pending;  ///< the first half of the next wide word
    };

    void add_block(const std::byte* data, std::size_t padded_bytes, std::size_t bytes);
    void add_sum(Polynomial& polynomial, std::uint64_t sum) const;
    Wide value_of(Polynomial& polynomial) const;

    BlockKey block_key_;
    std::array<Polynomial, rounds> polynomials_;
    std::array<std::array<std::uint64_t, 8>, rounds> last_key_;
    std::array<std::uint32_t, rounds> last_mask_;
    aes128_ctx pad_key_;
    std::array<std::uint8_t, AES_BLOCK_SIZE> pad_{};
    std::uint64_t pad_number_ = 1;  ///< of an even number; odd: none
    Hash hash_;

    std::uint64_t number_ = 0;
    std::uint64_t blocks_ = 0;
    std::size_t filled_ = 0;
    alignas(64) std::array<std::byte, block_bytes> block_;
};

}  // namespace heddle::native
