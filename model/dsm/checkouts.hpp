// Checkouts of pages that a node has, without their locks: each worker publishes its pages in a slot of its
// own. What is done when another node wants such a page is not decided here (pages.hpp).
//
// A worker publishes its pages first, and then reads whether each is open. A handler that may take a page
// away closes it first, and then reads the slots. All of that is sequentially consistent, so the worker, the
// handler or both see each other. A handler that finds its page in a slot says there that it waits, and reads
// the slot again. The worker clears its slot at the end, and then reads whether a handler waits.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "model/dsm/arrays.hpp"

namespace heddle::dsm {

class Checkouts {
public:
    /// Neighbouring pages.
    struct Span {
        PageId first = 0;
        std::uint64_t count = 0;

        /// Whether it fits into a slot.
        bool is_short() const { return count >> count_bits == 0 && first >> (64 - count_bits) == 0; }
        bool has(PageId page) const { return page - first < count; }
    };

    /// What one checkout has, of any worker's. Each span is one number, so that a reader sees no half of one.
    class alignas(64) Slot {
    public:
        static constexpr std::size_t most = 7;

        bool is_free() const { return spans_[0].load(std::memory_order_acquire) == 0; }
        void set(std::size_t place, const Span& span) {
            spans_[place].store(span.first << count_bits | span.count, std::memory_order_release);
        }
        Span get(std::size_t place) const {
            const std::uint64_t both = spans_[place].load(std::memory_order_acquire);
            return {both >> count_bits, both & ((std::uint64_t{1} << count_bits) - 1)};
        }
        /// After what was set, and before pages are read. Also after what was cleared: returns whether a
        /// handler waits for a page that was here.
        bool publish() { return waits_.exchange(false, std::memory_order_seq_cst); }
        /// If it has the page, its worker will know that a handler waits.
        bool keeps(PageId page) {
            if (!has(page)) return false;
            waits_.exchange(true, std::memory_order_seq_cst);
            return has(page);
        }

    private:
        bool has(PageId page) const {
            (void)waits_.load(std::memory_order_seq_cst);
            for (std::size_t place = 0; place < most; ++place) {
                const Span span = get(place);
                if (span.count == 0) return false;
                if (span.has(page)) return true;
            }
            return false;
        }

        std::atomic<bool> waits_{false};
        std::array<std::atomic<std::uint64_t>, most> spans_{};
    };

    explicit Checkouts(CoreId cores) : slots_(std::size_t{cores} * each) {}

    /// On that worker. Null: all are in use.
    Slot* free_slot(CoreId core) {
        for (std::size_t i = 0; i < each; ++i)
            if (slots_[core * each + i].is_free()) return &slots_[core * each + i];
        return nullptr;
    }

    /// For what has closed the page before.
    bool keep(PageId page) {
        bool kept = false;
        for (Slot& slot : slots_) kept = slot.keeps(page) || kept;
        return kept;
    }
    bool any() const {
        return std::ranges::any_of(slots_, [](const Slot& slot) { return !slot.is_free(); });
    }
    /// Of that worker's, on it.
    bool any(CoreId core) const {
        return std::ranges::any_of(std::span(slots_).subspan(core * each, each),
                                   [](const Slot& slot) { return !slot.is_free(); });
    }

private:
    static constexpr unsigned count_bits = 24;
    static constexpr std::size_t each = 2;  ///< a worker: a checkout within another one is rare

    std::vector<Slot> slots_;
};

}  // namespace heddle::dsm
