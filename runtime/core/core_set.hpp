// A set of cores of one node, a bit for each, which any thread of the node may read and change. A thread that
// looks at all cores reads one cache line instead of one for each worker.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>

#include "base/ids.hpp"

namespace heddle::runtime {

class CoreSet {
public:
    enum class Initially : std::uint8_t { empty, full };

    CoreSet(CoreId cores, Initially initially)
        : cores_(cores),
          others_(cores > word_bits ? std::make_unique<Word[]>((cores - 1) / word_bits) : nullptr) {
        if (initially == Initially::full)
            for (CoreId core = 0; core < cores; ++core) add(core);
    }

    void add(CoreId core) { word(core).fetch_or(bit(core), std::memory_order_seq_cst); }

    /// True where it was in the set: of several that remove it, one is told so.
    bool remove(CoreId core) {
        return (word(core).fetch_and(~bit(core), std::memory_order_seq_cst) & bit(core)) != 0;
    }

    bool contains(CoreId core) const { return (word(core).load(std::memory_order_seq_cst) & bit(core)) != 0; }

    /// Looks at 64 cores at a time: others may come and go meanwhile.
    bool empty() const {
        if (first_.load(std::memory_order_seq_cst) != 0) return false;
        for (const Word& word : others())
            if (word.load(std::memory_order_seq_cst) != 0) return false;
        return true;
    }

    /// As `empty` looks.
    CoreId size() const {
        int count = std::popcount(first_.load(std::memory_order_seq_cst));
        for (const Word& word : others()) count += std::popcount(word.load(std::memory_order_seq_cst));
        return static_cast<CoreId>(count);
    }

    /// Calls `found(core)` for the cores of the set, from `begin` on and round to it, until one call returns
    /// true. Returns whether one did.
    template <class Found>
    bool any_from(CoreId begin, const Found& found) const {
        return any_between(begin, cores_, found) || any_between(0, begin, found);
    }

private:
    static constexpr CoreId word_bits = 64;
    static constexpr std::uint64_t bit(CoreId core) { return std::uint64_t{1} << core % word_bits; }

    using Word = std::atomic<std::uint64_t>;

    std::span<const Word> others() const { return {others_.get(), others_ ? (cores_ - 1) / word_bits : 0}; }
    const Word& word(CoreId core) const { return core < word_bits ? first_ : others_[core / word_bits - 1]; }
    Word& word(CoreId core) { return core < word_bits ? first_ : others_[core / word_bits - 1]; }

    template <class Found>
    bool any_between(CoreId begin, CoreId end, const Found& found) const {
        while (begin < end) {
            const CoreId next_word = (begin / word_bits + 1) * word_bits;
            std::uint64_t left =
                word(begin).load(std::memory_order_seq_cst) & (~std::uint64_t{0} << begin % word_bits);
            for (; left != 0; left &= left - 1) {
                const CoreId core = next_word - word_bits + static_cast<CoreId>(std::countr_zero(left));
                if (core >= end) return false;
                if (found(core)) return true;
            }
            begin = next_word;
        }
        return false;
    }

    CoreId cores_;
    Word first_{0};  // most nodes need no more
    std::unique_ptr<Word[]> others_;
};

}  // namespace heddle::runtime
