// Protects payloads by UMAC and by nettle's AES-256-GCM.
#include "runtime/native/payload_cipher.hpp"

#include <nettle/gcm.h>
#include <sodium.h>

#include <algorithm>

#include "base/assert.hpp"
#include "runtime/native/umac.hpp"

namespace heddle::native {

namespace {

const std::uint8_t* raw(const std::byte* bytes) {
    return reinterpret_cast<const std::uint8_t*>(bytes);
}

std::uint8_t* raw(std::byte* bytes) {
    return reinterpret_cast<std::uint8_t*>(bytes);
}

/// A frame's number in the last bytes of a nonce, the most significant first.
template <std::size_t size>
std::array<std::uint8_t, size> nonce_of(std::uint64_t sequence) {
    std::array<std::uint8_t, size> nonce{};
    for (std::size_t i = 0; i < sizeof sequence; ++i)
        nonce[size - 1 - i] = static_cast<std::uint8_t>(sequence >> (8 * i));
    return nonce;
}

/// A key for one purpose, derived from a direction's.
template <std::size_t size>
std::array<std::uint8_t, size> derived(const DirectionKey& key, std::uint64_t purpose) {
    static_assert(crypto_kdf_KEYBYTES == sizeof(DirectionKey) && size >= crypto_kdf_BYTES_MIN);
    std::array<std::uint8_t, size> result;
    HEDDLE_ASSERT(crypto_kdf_derive_from_key(result.data(), size, purpose, "heddleFR", key.data()) == 0);
    return result;
}

class Authenticated final : public PayloadCipher {
public:
    explicit Authenticated(const DirectionKey& key)
        : umac_(derived<sizeof(Umac::Key)>(key, purpose_authenticate)) {}
    std::size_t tag_bytes() const override { return sizeof(Umac::Tag); }
    bool encrypts() const override { return false; }
    void begin(std::uint64_t sequence) override { umac_.begin(sequence); }
    void seal(std::span<const std::byte> piece, std::byte*) override { umac_.update(piece); }
    void open(std::span<std::byte> piece) override { umac_.update(piece); }
    PayloadTag finish() override {
        PayloadTag tag{};
        std::ranges::copy(umac_.finish(), tag.begin());
        return tag;
    }

private:
    static constexpr std::uint64_t purpose_authenticate = 1;

    Umac umac_;
};

class Encrypted final : public PayloadCipher {
public:
    explicit Encrypted(const DirectionKey& key) {
        gcm_aes256_set_key(&state_, derived<AES256_KEY_SIZE>(key, purpose_encrypt).data());
    }
    std::size_t tag_bytes() const override { return GCM_DIGEST_SIZE; }
    bool encrypts() const override { return true; }
    void begin(std::uint64_t sequence) override {
        gcm_aes256_set_iv(&state_, GCM_IV_SIZE, nonce_of<GCM_IV_SIZE>(sequence).data());
    }
    void seal(std::span<const std::byte> piece, std::byte* to) override {
        gcm_aes256_encrypt(&state_, piece.size(), raw(to), raw(piece.data()));
    }
    void open(std::span<std::byte> piece) override {
        gcm_aes256_decrypt(&state_, piece.size(), raw(piece.data()), raw(piece.data()));
    }
    PayloadTag finish() override {
        PayloadTag tag;
        gcm_aes256_digest(&state_, tag.size(), raw(tag.data()));
        return tag;
    }

private:
    static constexpr std::uint64_t purpose_encrypt = 2;

    gcm_aes256_ctx state_;
};

class Unprotected final : public PayloadCipher {
public:
    std::size_t tag_bytes() const override { return 0; }
    bool encrypts() const override { return false; }
    void begin(std::uint64_t) override {}
    void seal(std::span<const std::byte>, std::byte*) override {}
    void open(std::span<std::byte>) override {}
    PayloadTag finish() override { return {}; }
};

}  // namespace

std::unique_ptr<PayloadCipher> make_cipher(Protection protection, const DirectionKey& key) {
    if (protection == Protection::local) return std::make_unique<Unprotected>();
    if (protection == Protection::encryption) return std::make_unique<Encrypted>(key);
    return std::make_unique<Authenticated>(key);
}

}  // namespace heddle::native
