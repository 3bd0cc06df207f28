// What a run of filaments will read and write. A phase may declare it: then memory is fetched without
// hardware (runtime::Trigger::checked), and without executing the filaments (PhaseOptions::skip).
#pragma once

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

    std::span<const dsm::Range> all() const {
        return count_ <= few ? std::span(first_.data(), count_) : std::span<const dsm::Range>(many_);
    }

private:
    static constexpr std::size_t few = 16;

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
