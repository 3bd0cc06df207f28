// The bytes that a node has changed in a page, as runs. They are exact to the byte, because several nodes may
// write neighbouring bytes. They are applied a word at a time, because a worker may read the page meanwhile.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "model/dsm/arrays.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::dsm {

/// Seven bits a byte, the lowest first. All but the last byte have their highest bit set.
inline void append_number(runtime::Bytes& out, std::uint32_t number) {
    for (; number >= 0x80; number >>= 7) out.push_back(std::byte(number | 0x80));
    out.push_back(std::byte(number));
}

/// Throws MalformedMessage.
inline std::uint32_t get_number(runtime::Reader& reader) {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        const auto byte = reader.get<std::uint8_t>();
        number |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80 && number <= std::numeric_limits<std::uint32_t>::max())
            return static_cast<std::uint32_t>(number);
    }
    throw runtime::MalformedMessage("it has a number that is too large");
}

/// Appends the page's number, and runs of what differs: how many bytes are equal before it, how many differ,
/// and these. A run of no bytes ends it. Runs are often short: of a double, each step of an iteration changes
/// the lower bytes only.
inline void append_diff(runtime::Bytes& out, PageId id, std::span<const std::byte> before,
                        std::span<const std::byte> after) {
    const auto append = [&](std::span<const std::byte> bytes) {
        out.insert(out.end(), bytes.begin(), bytes.end());
    };
    const auto append_run = [&](std::size_t equal, std::span<const std::byte> bytes) {
        append_number(out, static_cast<std::uint32_t>(equal));
        append_number(out, static_cast<std::uint32_t>(bytes.size()));
        append(bytes);
    };
    constexpr std::size_t block = 64;
    append(runtime::bytes_of(id));
    std::size_t at = 0;
    std::size_t last = 0;  // the end of the last run
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
        append_run(at - last, after.subspan(at, end - at));
        at = last = end;
    }
    append_run(0, {});
}

/// Puts bytes into a page that workers of this node read and write meanwhile. What goes into one aligned word
/// of eight bytes goes there at once, and leaves the word's other bytes as they are.
class WordWriter {
public:
    /// `contents` begins at a multiple of eight and has a multiple of eight bytes.
    explicit WordWriter(std::span<std::byte> contents) : contents_(contents) {}

    void put(std::size_t at, std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const std::size_t within = at % word_bytes;
            const std::size_t count = std::min(word_bytes - within, bytes.size());
            if (at - within != word_) flush(), word_ = at - within;
            std::memcpy(&value_[within], bytes.data(), count);
            std::memset(&mask_[within], 0xff, count);
            at += count;
            bytes = bytes.subspan(count);
        }
    }
    /// Writes the last word. The caller must call it at the end.
    void flush() {
        const auto mask = std::bit_cast<std::uint64_t>(mask_);
        if (mask == 0) return;
        const std::atomic_ref<std::uint64_t> there(*reinterpret_cast<std::uint64_t*>(&contents_[word_]));
        const auto value = std::bit_cast<std::uint64_t>(value_);
        if (~mask == 0) {
            there.store(value, std::memory_order_relaxed);
        } else {
            std::uint64_t old = there.load(std::memory_order_relaxed);
            while (!there.compare_exchange_weak(old, (old & ~mask) | (value & mask),
                                                std::memory_order_relaxed)) {
            }
        }
        mask_ = {};
    }

private:
    static constexpr std::size_t word_bytes = sizeof(std::uint64_t);

    std::span<std::byte> contents_;
    std::size_t word_ = 0;
    std::array<std::byte, word_bytes> value_{};
    std::array<std::byte, word_bytes> mask_{};  // which bytes of value_ are new
};

/// Reads what follows the page's number, and writes it, as WordWriter does. Returns how many bytes. Throws
/// MalformedMessage.
inline std::size_t apply_diff(runtime::Reader& reader, std::span<std::byte> contents) {
    std::size_t sum = 0;
    std::size_t at = 0;
    WordWriter writer(contents);
    for (;;) {
        const std::uint32_t equal = get_number(reader);
        const std::uint32_t count = get_number(reader);
        reader.check();
        if (count == 0) break;
        const std::size_t left = contents.size() - at;
        if (equal > left || count > left - equal)
            throw runtime::MalformedMessage("it changes bytes beyond a page");
        const auto bytes = reader.get_bytes(count);
        reader.check();
        writer.put(at + equal, bytes);
        at += std::size_t{equal} + count;
        sum += count;
    }
    writer.flush();
    return sum;
}

}  // namespace heddle::dsm
