// An inclusive prefix sum that splits when an idle worker asks, as the loops of adaptive.hpp (Roch, Traore,
// Bernard: "On-line adaptive parallel prefix computation", Euro-Par 2006; Danjean et al., PASCO 2007). It is
// a sequential loop of n - 1 operations while no worker asks.
//
//     adaptive_prefix_sum(strand, in.begin(), in.end(), out.begin(), 64, std::plus<>());
#pragma once

#include <iterator>
#include <optional>

#include "model/dataflow/adaptive_parts.hpp"

namespace heddle::dataflow {

namespace detail {

/// Parts are linked from left to right. One of them is the front: it knows the sum of all before it, and all
/// to its left have ended. The other ones scan from their own first element on. When the front has ended, its
/// thread tells the next part the sum before it, so that this one becomes the front, and starts a part that
/// adds that sum to what the next part has scanned until then. No thread waits for another one.
template <class In, class Out, class Operator>
class PrefixSum {
    using Value = std::iter_value_t<Out>;
    using Sum = std::optional<Value>;  ///< empty: of no elements

public:
    PrefixSum(In in, Out out, std::int64_t grain, const Operator& combine)
        : in_(in), out_(out), grain_(std::max<std::int64_t>(grain, 1)), combine_(combine) {}

    void run(runtime::Strand& strand, std::int64_t size) {
        parts_.start(strand.worker(), std::make_unique<Scan>(*this, Range{0, size}));
        parts_.wait(strand);
    }

private:
    class Scan final : public Part {
    public:
        Scan(PrefixSum& sums, Range range)
            : sums_(sums), left_(range), begin_(range.begin), scanned_(range.begin) {}

        void run(Kaapi& self) override {
            Sum sum;
            bool knows = begin_ == 0;  // there is nothing before it
            for (std::int64_t to = begin_;;) {
                const Range now = next(to, sum);
                if (!knows && is_front()) {
                    knows = true;
                    // What was scanned since the front came here is in no part that adds the sum before.
                    sums_.add_before(self.worker(), *before_, {to_add_from_, to});
                    sum = sum ? Value(call(self.worker(), sums_.combine_, *before_, *sum)) : *before_;
                }
                if (now.empty()) break;
                sums_.scan(self.worker(), now, sum);
                to = now.end;
                self.offer();
            }
            if (knows) sums_.pass_on(self.worker(), next_, std::move(*sum));
        }

        bool split(runtime::Worker& worker, KaapiId& thief) override {
            auto half = std::make_unique<Scan>(sums_, Range{});
            {
                const runtime::SpinLock::Guard guard(lock_);
                const Range taken = left_.take_back_half(sums_.grain_);
                if (taken.empty()) return false;
                half->left_ = taken;
                half->begin_ = half->scanned_ = taken.begin;
                half->next_ = std::exchange(next_, half.get());
            }
            sums_.parts_.start(worker, thief, std::move(half));
            return true;
        }

    private:
        friend class PrefixSum;

        /// The part is scanned to there, with that sum. Takes the next piece; nothing at the end of the part.
        Range next(std::int64_t to, const Sum& sum) {
            const runtime::SpinLock::Guard guard(lock_);
            scanned_ = to;
            const Range now = left_.take_front(sums_.grain_);
            if (now.empty()) {
                has_ended_ = true;
                own_sum_ = sum;
            }
            return now;
        }
        bool is_front() {
            const runtime::SpinLock::Guard guard(lock_);
            return is_front_;
        }
        /// The front comes here. False if the part has ended: then the front goes on to the next one.
        bool become_front(const Value& before) {
            const runtime::SpinLock::Guard guard(lock_);
            if (has_ended_) return false;
            is_front_ = true;
            before_ = before;
            to_add_from_ = scanned_;
            return true;
        }
        /// Of a part to which the front has come: what was scanned without the sum before it.
        Range scanned_without(bool has_become_front) const {
            return {begin_, has_become_front ? to_add_from_ : scanned_};
        }

        PrefixSum& sums_;
        runtime::SpinLock lock_;  ///< over what follows
        Range left_;
        std::int64_t begin_;
        std::int64_t scanned_;          ///< from `begin_` to here
        Scan* next_ = nullptr;          ///< fixed when this has ended
        bool has_ended_ = false;        ///< before or after it has become the front
        Sum own_sum_;                   ///< fixed when this has ended
        bool is_front_ = false;         ///< fixed once it is true or the part has ended, as what follows
        Sum before_;                    ///< the sum of all before it
        std::int64_t to_add_from_ = 0;  ///< `scanned_` at that moment
    };

    class Add final : public Part {
    public:
        Add(PrefixSum& sums, Value before, Range range)
            : sums_(sums), before_(std::move(before)), left_(range, sums.grain_) {}

        void run(Kaapi& self) override {
            for (Range now = left_.take_front(); !now.empty(); now = left_.take_front()) {
                sums_.add_before(self.worker(), before_, now);
                self.offer();
            }
        }
        bool split(runtime::Worker& worker, KaapiId& thief) override {
            const Range half = left_.take_back_half();
            if (half.empty()) return false;
            sums_.parts_.start(worker, thief, std::make_unique<Add>(sums_, before_, half));
            return true;
        }

    private:
        PrefixSum& sums_;
        Value before_;
        Iterations left_;
    };

    auto& out(std::int64_t i) { return out_[static_cast<std::iter_difference_t<Out>>(i)]; }

    void scan(runtime::Worker& worker, Range range, Sum& sum) {
        for (std::int64_t i = range.begin; i < range.end; ++i) {
            const auto& value = in_[static_cast<std::iter_difference_t<In>>(i)];
            sum = sum ? Value(call(worker, combine_, *sum, value)) : Value(value);
            out(i) = *sum;
        }
    }
    void add_before(runtime::Worker& worker, const Value& before, Range range) {
        for (std::int64_t i = range.begin; i < range.end; ++i)
            out(i) = call(worker, combine_, before, out(i));
    }

    /// The front has ended: `sum` is that of all to its end, where `next` begins.
    void pass_on(runtime::Worker& worker, Scan* next, Value sum) {
        for (; next != nullptr; next = next->next_) {
            const bool goes_on = next->become_front(sum);
            const Range without = next->scanned_without(goes_on);
            if (!without.empty()) parts_.start(worker, std::make_unique<Add>(*this, sum, without));
            if (goes_on) return;
            sum = call(worker, combine_, sum, *next->own_sum_);
        }
    }

    In in_;
    Out out_;
    std::int64_t grain_;
    const Operator& combine_;
    Parts parts_;
};

}  // namespace detail

/// Writes result[i] = first[0] + ... + first[i] for each i, where + is combine(a, b): associative, and not
/// necessarily commutative. `result` may be `first`. Elements are distinct objects, unlike those of
/// vector<bool>. Pieces of `grain` elements run on all workers of the node that have nothing else to do.
/// Which terms are added first depends on what is stolen, so floating-point sums differ in their last bits.
template <std::random_access_iterator In, std::random_access_iterator Out, class Operator>
void adaptive_prefix_sum(runtime::Strand& strand, In first, In last, Out result, std::int64_t grain,
                         const Operator& combine) {
    if (first == last) return;
    detail::PrefixSum<In, Out, Operator> sums(first, result, grain, combine);
    sums.run(strand, static_cast<std::int64_t>(last - first));
}

}  // namespace heddle::dataflow
