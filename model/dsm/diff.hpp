// What a node has changed in a page: runs of bytes. Exact to the byte, because several nodes may write
// neighbouring bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "model/dsm/arrays.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::dsm {

/// Appends the page's number, and runs of what differs: where, how many bytes, and these. A run of no bytes
/// ends it.
inline void append_diff(runtime::Bytes& out, PageId id, std::span<const std::byte> before,
                        std::span<const std::byte> after) {
    const auto append = [&](std::span<const std::byte> bytes) {
        out.insert(out.end(), bytes.begin(), bytes.end());
    };
    const auto append_run = [&](std::uint32_t at, std::uint32_t count) {
        append(runtime::bytes_of(at));
        append(runtime::bytes_of(count));
        append(after.subspan(at, count));
    };
    constexpr std::size_t block = 64;
    append(runtime::bytes_of(id));
    std::size_t at = 0;
    while (at < after.size()) {
        if (at % block == 0 && std::memcmp(&before[at], &after[at], block) == 0) {
            at += block;
            continue;
        }
        if (before[at] == after[at]) {
            ++at;
            continue;
        }
        std::size_t end = at + 1;
        while (end < after.size() && before[end] != after[end]) ++end;
        append_run(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end - at));
        at = end;
    }
    append_run(0, 0);
}

/// Reads what follows the page's number, and writes it. Returns how many bytes. Throws MalformedMessage.
inline std::size_t apply_diff(runtime::Reader& reader, std::span<std::byte> contents) {
    std::size_t sum = 0;
    for (;;) {
        const auto at = reader.get<std::uint32_t>();
        const auto count = reader.get<std::uint32_t>();
        reader.check();
        if (count == 0) return sum;
        if (at > contents.size() || count > contents.size() - at)
            throw runtime::MalformedMessage("it changes bytes beyond a page");
        const auto bytes = reader.get_bytes(count);
        reader.check();
        std::memcpy(&contents[at], bytes.data(), count);
        sum += count;
    }
}

}  // namespace heddle::dsm
