// Computes the rows of a stripe of an alignment in vectors of 8-bit or 16-bit numbers, for any width of
// vectors. Only striped_*.cpp include it, and each compiles it for other instructions. So everything is in an
// unnamed namespace, and includes come before.
//
// Rows go one after the other, and a row's vectors from left to right, each of which has cells that are
// `vectors` columns apart (Farrar, Bioinformatics 23, 2007). E has to cross from the last vector to the next
// number of the first: a second pass, which ends where it changes nothing more. Where E could pass through a
// whole number, a prefix maximum over the numbers gives every E that enters at once (Daily, BMC
// Bioinformatics 17, 2016), and one second pass is still enough.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "workloads/alignment/stripe_rows.hpp"

namespace heddle::workloads::alignment {
namespace {

/// What the lanes of all processors have in common. Theirs add: the larger of two, whether any is greater,
/// shift.
template <class Kind, class NarrowVector, class WideVector, class UnsignedVector>
struct LanesOf {
    using Number = Kind;
    using Vector = std::conditional_t<std::is_same_v<Kind, Narrow>, NarrowVector, WideVector>;
    static constexpr std::size_t size = sizeof(Vector) / sizeof(Number);

    static Vector load(const Number* from) {
        Vector vector;
        std::memcpy(&vector, from, sizeof vector);
        return vector;
    }
    static void store(Number* to, Vector vector) { std::memcpy(to, &vector, sizeof vector); }
    static Vector splat(Number number) { return Vector{} + number; }
    /// A difference that fits, of which `b` may be too large for a number by 2^8 or 2^16.
    static Vector difference(Vector a, Vector b) {
        using Unsigned = std::conditional_t<std::is_same_v<Kind, Narrow>, NarrowVector, UnsignedVector>;
        return Vector(Unsigned(a) - Unsigned(b));
    }
};

template <class Lanes, bool affine>
class StripeRun {
    using Number = typename Lanes::Number;
    using Vector = typename Lanes::Vector;
    static constexpr std::size_t size = Lanes::size;

public:
    explicit StripeRun(StripeRows<Number>& task)
        : task_(task),
          h_(task.h),
          f_(task.f),
          end_(task.vectors * size),
          loss_(static_cast<long>(task.vectors) * task.extend),
          open_(Lanes::splat(task.open)),
          extend_(Lanes::splat(task.extend)),
          slack_(Lanes::splat(static_cast<Number>(task.open - task.extend))),
          zero_(Lanes::splat(task.zero)),
          least_(Lanes::splat(task.least)) {
        if constexpr (!affine) return;
        for (std::size_t k = 0; k < size; ++k) {
            const long loss = static_cast<long>(task.last_number - k) * loss_;
            const long lost = k > task.last_number ? task.loss_max : std::min(loss, task.loss_max);
            losses_[k] = static_cast<Number>(lost);
            losing_[k] = static_cast<Number>(task.least + lost);
        }
    }

    void run() {
        Vector watched = Lanes::splat(std::min(task_.limit, task_.stop));
        for (std::size_t i = task_.row; i < task_.row_end; ++i) {
            const Vector most = compute(i);
            if (!Lanes::any_greater(most, watched)) [[likely]]
                continue;
            const Number largest = largest_of(most);
            if (largest > task_.limit) {
                task_.found = true;
                task_.best_row = i;
                task_.limit = largest;
                std::memcpy(task_.best_h, h_, end_ * sizeof(Number));
            }
            if (largest > task_.stop) task_.row_end = i + 1;
            watched = Lanes::splat(std::min(task_.limit, task_.stop));
        }
    }

private:
    /// What the cells of a row hand on from vector to vector.
    struct Carried {
        Vector diagonal;  ///< H of the row above, one column before
        Vector e;
        Vector most;  ///< the largest H so far
    };

    /// Computes row i and returns the largest H of each number of its vectors.
    Vector compute(std::size_t i) {
        const Number* scores = task_.scores + task_.letters[i] * end_;
        Carried carried{
            Lanes::template shift<1>(Lanes::load(h_ + end_ - size), Lanes::splat(task_.left_h[i])),
            Lanes::template shift<1>(least_, Lanes::splat(task_.left_e[i])), zero_};
        // Two loops, because of affine gaps E of the last column is needed, which is not stored.
        const std::size_t last = affine ? task_.last_vector * size : 0;
#pragma GCC unroll 4
        for (std::size_t at = 0; at < last; at += size) cells(scores, at, carried);
        const Vector e_last = carried.e;
#pragma GCC unroll 4
        for (std::size_t at = last; at < end_; at += size) cells(scores, at, carried);

        Vector entering = Lanes::template shift<1>(carried.e, least_);
        if constexpr (affine) task_.right_e[i] = right_e(entering, e_last);
        spread(entering);
        cross(entering);
        task_.right_h[i] = h_[last + task_.last_number + (affine ? 0 : task_.last_vector * size)];
        return carried.most;
    }

    [[gnu::always_inline]] void cells(const Number* scores, std::size_t at, Carried& carried) {
        const Vector above = Lanes::load(h_ + at);
        Vector f = above - open_;
        if constexpr (affine) {
            f = Lanes::max(f, Lanes::load(f_ + at) - extend_);
            Lanes::store(f_ + at, f);
        }
        const Vector other = Lanes::max(Lanes::max(carried.diagonal + Lanes::load(scores + at), zero_), f);
        const Vector h = Lanes::max(other, carried.e);
        Lanes::store(h_ + at, h);
        // Where H is E, to extend it costs no more than to open another gap: so `other` is enough.
        carried.e = affine ? Lanes::max(carried.e - extend_, other - open_) : h - open_;
        carried.most = Lanes::max(carried.most, h);
        carried.diagonal = above;
    }

    /// An E that is not greater changes no H, here or to the right: it is not above 0, or opening a gap here
    /// is as good.
    Vector enough(std::size_t at) const {
        const Vector h = Lanes::load(h_ + at);
        return affine ? Lanes::max(h - slack_, zero_) : h;
    }

    /// E of the last column: `within` its number, or from what enters it or the numbers before.
    Number right_e(Vector entering, Vector within) const {
        const Number crossed = largest_of(Lanes::difference(Lanes::max(entering, losing_), losses_));
        return static_cast<Number>(std::max<int>(crossed - static_cast<int>(task_.last_vector) * task_.extend,
                                                 within[task_.last_number]));
    }

    /// From the E that enter each number from the one before: those that enter from any.
    void spread(Vector& entering) const {
        // Mostly no E outlives all columns of a number; then the first step changes nothing, nor do the
        // others.
        Vector once = entering;
        take_over<1>(once);
        if (!Lanes::any_greater(once, Lanes::max(entering, enough(0)))) return;
        entering = once;
        take_over<2>(entering);
        take_over<4>(entering);
        if constexpr (size > 8) take_over<8>(entering);
        if constexpr (size > 16) take_over<16>(entering);
    }

    /// The row again, with the E that enter each number's first column. They raise no H above the largest of
    /// the row, from which they come.
    void cross(Vector e) {
        const auto pass = [&](std::size_t at) {
            Lanes::store(h_ + at, Lanes::max(Lanes::load(h_ + at), e));
            e = Lanes::subtract(e, extend_);
        };
        // Once the E that the row itself has are enough, they stay so: opening a gap at h is one of them. To
        // look after each vector would cost more than some vectors too many: where it ends is hard to
        // predict.
        constexpr std::size_t group = 8 * size;
        std::size_t at = 0;
        for (; at + group <= end_; at += group) {
            if (at > 0 && !Lanes::any_greater(e, enough(at))) return;
#pragma GCC unroll 8
            for (std::size_t ahead = 0; ahead < group; ahead += size) pass(at + ahead);
        }
        for (; at < end_; at += size) pass(at);
    }

    /// Each number becomes the one `distance` before it, less the loss, where that is larger.
    template <int distance>
    void take_over(Vector& entering) const {
        const long loss = distance * loss_;
        if (loss > task_.loss_max) return;
        const Vector from = Lanes::template shift<distance>(entering, least_);
        const Vector kept = Lanes::max(from, Lanes::splat(static_cast<Number>(task_.least + loss)));
        entering = Lanes::max(entering, Lanes::difference(kept, Lanes::splat(static_cast<Number>(loss))));
    }

    static Number largest_of(Vector vector) {
        vector = Lanes::max(vector, Lanes::template shift<1>(vector, vector));
        vector = Lanes::max(vector, Lanes::template shift<2>(vector, vector));
        vector = Lanes::max(vector, Lanes::template shift<4>(vector, vector));
        if constexpr (size > 8) vector = Lanes::max(vector, Lanes::template shift<8>(vector, vector));
        if constexpr (size > 16) vector = Lanes::max(vector, Lanes::template shift<16>(vector, vector));
        return vector[size - 1];
    }

    StripeRows<Number>& task_;
    Number* h_;
    Number* f_;
    std::size_t end_;
    long loss_;  // of an E that passes through all columns of a number
    Vector open_, extend_, slack_, zero_, least_;
    // For each number: what its E loses until it is in that of the last column, and the least E of which
    // something is left then. Where nothing can be left, both are as large as possible.
    Vector losses_{}, losing_{};
};

template <template <class> class Lanes, class Number>
void run_stripe(StripeRows<Number>& rows, bool affine) {
    if (affine)
        StripeRun<Lanes<Number>, true>(rows).run();
    else
        StripeRun<Lanes<Number>, false>(rows).run();
}

}  // namespace
}  // namespace heddle::workloads::alignment
