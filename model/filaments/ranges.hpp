// The ranges of shared memory that a run of filaments will read and write. If a phase declares them, pages
// are fetched without hardware traps (runtime::Trigger::checked), and without executing the filaments
// (PhaseOptions::skip).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/dsm/shared_memory.hpp"

namespace heddle::filaments {

class Ranges {
public:
    template <class T>
    void reads(dsm::Shared<T> array, std::uint64_t first, std::uint64_t count) {
        add(dsm::reading(array, first, count));
    }
    template <class T>
    void writes(dsm::Shared<T> array, std::uint64_t first, std::uint64_t count) {
        add(dsm::writing(array, first, count));
    }

    /// Declares work beyond the phase's units, for where filaments are not executed.
    void work(std::uint64_t units) { units_ += units; }
    std::uint64_t units() const { return units_; }

    void clear() { count_ = units_ = 0; }

    /// Adds what another one declares, as part of ranges that lie on the same pages or side by side, so that
    /// there are `most` at most, and no more than few. False: there would be more.
    bool absorb(const Ranges& other, std::size_t page_bytes, std::size_t most) {
        for (const dsm::Range& range : other.all())
            if (range.bytes != 0 && !absorb(range, page_bytes, most)) return false;
        return true;
    }

    std::span<const dsm::Range> all() const {
        return count_ <= few ? std::span(first_.data(), count_) : std::span<const dsm::Range>(many_);
    }

private:
    static constexpr std::size_t few = 16;

    bool absorb(const dsm::Range& range, std::size_t page_bytes, std::size_t most) {
        const std::uint64_t end = range.offset + range.bytes;
        for (dsm::Range& into : std::span(first_).first(count_)) {
            const std::uint64_t into_end = into.offset + into.bytes;
            // What lies between is on pages of both.
            if (into.access != range.access || range.offset >= into_end + page_bytes ||
                into.offset >= end + page_bytes)
                continue;
            into.offset = std::min(into.offset, range.offset);
            into.bytes = std::max(into_end, end) - into.offset;
            return true;
        }
        if (count_ == std::min(most, few)) return false;
        first_[count_++] = range;
        return true;
    }
    void add(const dsm::Range& range) {
        if (count_ < few) [[likely]] {
            first_[count_] = range;
        } else {
            if (count_ == few) many_.assign(first_.begin(), first_.end());
            many_.push_back(range);
        }
        ++count_;
    }

    std::array<dsm::Range, few> first_;
    std::vector<dsm::Range> many_;  ///< all of them, if they are more than few
    std::size_t count_ = 0;
    std::uint64_t units_ = 0;
};

}  // namespace heddle::filaments
