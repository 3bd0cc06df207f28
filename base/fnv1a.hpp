// FNV-1a (Fowler, Noll, Vo: the 64-bit hash of draft-eastlake-fnv): a number that follows from what is added
// alone, so that it is the same in every process and every run. It does not resist texts that are chosen to
// collide; SHA-256 (configs/digest.hpp) does.
#pragma once

#include <cstdint>
#include <string_view>

namespace heddle {

class Fnv1a {
public:
    /// `mixed_in`: into FNV's offset basis, so that other numbers follow.
    explicit constexpr Fnv1a(std::uint64_t mixed_in = 0) : value_(0xcbf29ce484222325U ^ mixed_in) {}

    /// A byte; or a whole word in one step, which does not give what its eight bytes give.
    constexpr void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001b3U; }
    constexpr void add_text(std::string_view text) {
        for (const char letter : text) add(static_cast<unsigned char>(letter));
    }

    constexpr std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_;
};

}  // namespace heddle
