// Makes, combines and stores the keys of a run, with X25519 and BLAKE2b by libsodium.
#include "runtime/native/keys.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::native {

using host::Descriptor;
using host::error_text;

static_assert(crypto_scalarmult_BYTES == sizeof(Key));
static_assert(crypto_scalarmult_SCALARBYTES == sizeof(Key));

Key make_key() {
    HEDDLE_ASSERT(sodium_init() >= 0);
    Key key;
    randombytes_buf(key.data(), key.size());
    return key;
}

KeyPair make_key_pair() {
    KeyPair pair{make_key(), {}};
    crypto_scalarmult_base(pair.shown.data(), pair.secret.data());
    return pair;
}

namespace {

std::string hexadecimal(const std::array<unsigned char, 32>& bytes) {
    std::array<char, 2 * sizeof bytes + 1> text;
    sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
    return text.data();
}

std::optional<std::array<unsigned char, 32>> bytes_of_hexadecimal(std::string_view text) {
    std::array<unsigned char, 32> bytes;
    std::size_t size = 0;
    if (text.size() != 2 * bytes.size() ||
        sodium_hex2bin(bytes.data(), bytes.size(), text.data(), text.size(), nullptr, &size, nullptr) ||
        size != bytes.size())
        return std::nullopt;
    return bytes;
}

}  // namespace

std::string text_of(const PublicKey& key) {
    return hexadecimal(key);
}

std::optional<PublicKey> public_key_from(std::string_view text) {
    return bytes_of_hexadecimal(text);
}

std::optional<Key> pair_key(const KeyPair& own, const PublicKey& other) {
    HEDDLE_ASSERT(sodium_init() >= 0);
    Key product;
    if (crypto_scalarmult(product.data(), own.secret.data(), other.data())) return std::nullopt;
    // Both sides hash the public keys in the same order.
    const auto [first, second] = std::minmax(own.shown, other);
    constexpr std::string_view label = "heddle pair key";
    Key key;
    crypto_generichash_state state;
    crypto_generichash_init(&state, product.data(), product.size(), key.size());
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(label.data()), label.size());
    crypto_generichash_update(&state, first.data(), first.size());
    crypto_generichash_update(&state, second.data(), second.size());
    crypto_generichash_final(&state, key.data(), key.size());
    sodium_memzero(product.data(), product.size());
    return key;
}

Credentials::Credentials(const KeyPair& own, const std::vector<PublicKey>& of_nodes) {
    std::vector<Key> pairs;
    for (const PublicKey& key : of_nodes) {
        const auto pair = pair_key(own, key);
        if (!pair) throw Error(fmt::format("node {} has published a key that is none", pairs.size()));
        pairs.push_back(*pair);
    }
    pairs_ = std::make_shared<const std::vector<Key>>(std::move(pairs));
}

std::optional<Key> Credentials::key_with(NodeId peer) const {
    if (pairs_ && peer < pairs_->size()) return (*pairs_)[peer];
    return shared_;
}

namespace {

bool write_hexadecimal(const Descriptor& file, const Key& key) {
    const std::string text = hexadecimal(key) + '\n';
    return write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

KeyInMemory keep_in_memory(const Key& key) {
    Descriptor file(memfd_create("heddle-key", MFD_CLOEXEC));
    if (!file || fchmod(file.get(), 0600) || !write_hexadecimal(file, key))
        throw Error(fmt::format("cannot keep the run's key in memory: {}", error_text(errno)));
    std::string path = fmt::format("/proc/{}/fd/{}", getpid(), file.get());
    return {std::move(file), std::move(path)};
}

void write_key_file(const std::filesystem::path& path, const Key& key) {
    const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file || !write_hexadecimal(file, key))
        throw Error(fmt::format("cannot write the key file {}: {}", path.string(), error_text(errno)));
}

Key read_key_file(const std::filesystem::path& path) {
    const Location where{path.string(), 0};
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status))
        throw Error(fmt::format("cannot read the run's key: {}", error_text(errno)), {}, where);
    if (!S_ISREG(status.st_mode) || (status.st_mode & 077))
        throw Error("the run's key is open to others", "chmod 600 the key file, and make a new key", where);
    std::array<char, 256> text;
    const auto count = read(file.get(), text.data(), text.size());
    std::string_view hex(text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    while (!hex.empty() && (hex.back() == '\n' || hex.back() == '\r' || hex.back() == ' '))
        hex.remove_suffix(1);
    const auto key = bytes_of_hexadecimal(hex);
    if (!key) throw Error("not a key: 64 hexadecimal digits are expected", {}, where);
    return *key;
}

}  // namespace heddle::native
