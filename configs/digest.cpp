// SHA-256 by the library nettle; a file's digest is computed once.
#include "configs/digest.hpp"

#include <fmt/format.h>
#include <nettle/sha2.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

namespace heddle::configs {

namespace {

class Sha256 {
public:
    Sha256() { sha256_init(&context_); }
    void add(std::string_view bytes) {
        sha256_update(&context_, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
    }
    std::string digits() {
        std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
        sha256_digest(&context_, digest.size(), digest.data());
        std::string text;
        for (const std::uint8_t byte : digest) text += fmt::format("{:02x}", byte);
        return text;
    }

private:
    sha256_ctx context_{};
};

}  // namespace

std::string sha256(std::string_view text) {
    Sha256 digest;
    digest.add(text);
    return digest.digits();
}

std::string sha256_of_file(const std::string& path) {
    std::error_code problem;
    if (!std::filesystem::is_regular_file(path, problem)) return {};
    std::ifstream file(path, std::ios::binary);
    if (!file) return {};
    Sha256 digest;
    std::vector<char> buffer(std::size_t{1} << 20);
    while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0)
        digest.add({buffer.data(), static_cast<std::size_t>(file.gcount())});
    return file.bad() ? std::string() : digest.digits();
}

const std::string& FileDigests::of(const std::string& path) {
    const auto known = known_.find(path);
    return known != known_.end() ? known->second : known_.emplace(path, sha256_of_file(path)).first->second;
}

}  // namespace heddle::configs
