// Computes SHA-256 digests (FIPS 180-4) of texts and files, as hexadecimal digits.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace heddle::configs {

/// The digest of a text: 64 hexadecimal digits.
std::string sha256(std::string_view text);

/// The digest of a file's contents. Empty if the path does not name a regular file that this process can
/// read: a device or a pipe has no contents that a second reader would see.
std::string sha256_of_file(const std::string& path);

/// Digests of files, each read once in the life of this object.
class FileDigests {
public:
    const std::string& of(const std::string& path);

private:
    std::map<std::string, std::string> known_;
};

}  // namespace heddle::configs
