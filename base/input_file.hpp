// Reads whole files into memory, within a limit: a file that never ends is refused instead of filling the
// memory. Understands no format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace heddle {

/// How much a reader takes in. A regular file says its size beforehand; a pipe or a device does not.
struct InputLimits {
    std::uint64_t file_bytes = std::uint64_t{16} << 30;
    std::uint64_t stream_bytes = std::uint64_t{256} << 20;
    bool text = true;  ///< refuse a zero byte that more text follows: then the file is binary
};

/// The whole of a file, pipe or device. Throws Error, with `path` as its place, if it cannot be read, if it
/// is a directory, if it is larger than `limits` or than half of the machine's memory, or if it is not text.
std::string read_input(const std::string& path, const InputLimits& limits = {});

/// The text behind the mark that spreadsheets and some editors put in front of UTF-8.
inline std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace heddle
