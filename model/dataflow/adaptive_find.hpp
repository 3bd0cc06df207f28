// A search that splits when an idle worker asks, as the loops of adaptive.hpp (Danjean et al., "Adaptive
// loops with Kaapi on multicore and grid", PASCO 2007): the first index for which a predicate holds. What
// lies to the right of an index that was found is left out.
//
//     const std::int64_t first = adaptive_find(strand, 0, n, 64, [&](std::int64_t i) { return a[i] == 0; });
#pragma once

#include "model/dataflow/adaptive_parts.hpp"

namespace heddle::dataflow {

namespace detail {

/// `found_` only falls, and each part looks at all of its indices below it, in order. So at the end it is the
/// least index.
template <class Predicate>
class Search {
public:
    Search(std::int64_t grain, const Predicate& predicate)
        : grain_(std::max<std::int64_t>(grain, 1)), predicate_(predicate) {}

    std::int64_t run(runtime::Strand& strand, Range range) {
        found_.store(range.end, std::memory_order_relaxed);
        parts_.start(strand.worker(), std::make_unique<Some>(*this, range));
        parts_.wait(strand);
        return found_.load(std::memory_order_relaxed);
    }

private:
    class Some final : public Part {
    public:
        Some(Search& search, Range range) : search_(search), left_(range, search.grain_) {}

        void run(Kaapi& self) override {
            for (Range now = take(); !now.empty(); now = take()) {
                for (std::int64_t i = now.begin; i < now.end; ++i) {
                    if (!call(self.worker(), search_.predicate_, i)) continue;
                    search_.finds(i);
                    return;
                }
                self.offer();
            }
        }
        bool split(runtime::Worker& worker, KaapiId& thief) override {
            left_.end_at(search_.found());
            const Range half = left_.take_back_half();
            if (half.empty()) return false;
            search_.parts_.start(worker, thief, std::make_unique<Some>(search_, half));
            return true;
        }

    private:
        Range take() {
            left_.end_at(search_.found());
            return left_.take_front();
        }

        Search& search_;
        Iterations left_;
    };

    std::int64_t found() const { return found_.load(std::memory_order_relaxed); }
    void finds(std::int64_t index) {
        std::int64_t least = found();
        while (index < least && !found_.compare_exchange_weak(least, index, std::memory_order_relaxed)) {
        }
    }

    std::int64_t grain_;
    const Predicate& predicate_;
    std::atomic<std::int64_t> found_{0};
    Parts parts_;
};

}  // namespace detail

/// The least index of [begin, end) for which predicate(index) holds; `end` if there is none. The predicate is
/// called once for each index below the answer, and at most once for each other one, on all workers of the
/// node that have nothing else to do. A part that has begun a piece of `grain` indices ends it.
template <class Predicate>
std::int64_t adaptive_find(runtime::Strand& strand, std::int64_t begin, std::int64_t end, std::int64_t grain,
                           const Predicate& predicate) {
    if (begin >= end) return end;
    detail::Search<Predicate> search(grain, predicate);
    return search.run(strand, {begin, end});
}

}  // namespace heddle::dataflow
