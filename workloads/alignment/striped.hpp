// How rows of a stripe are computed in vectors of 16-bit numbers, whatever a vector is. For striped_*.cpp
// only: each compiles it for other instructions, so everything is in an unnamed namespace, and includes come
// before.
//
// Rows go one after the other, and a row's vectors from left to right, each of which has cells that are
// `vectors` columns apart (Farrar, Bioinformatics 23, 2007). E has to cross from the last vector to the next
// number of the first; mostly that changes nothing, which one comparison shows. Where it does, a prefix
// maximum over the numbers gives every E that enters at once (Daily, BMC Bioinformatics 17, 2016), and one
// more pass is enough.
#pragma once

#include <algorithm>
#include <cstring>

#include "workloads/alignment/stripe_rows.hpp"

namespace heddle::workloads::alignment {
namespace {

template <class Lanes, bool affine>
class StripeRun {
public:
    explicit StripeRun(StripeRows& task)
        : task_(task),
          h_(task.h),
          f_(task.f),
          end_(task.vectors * size),
          open_(Lanes::splat(task.open)),
          extend_(Lanes::splat(task.extend)),
          slack_(Lanes::splat(static_cast<std::int16_t>(task.open - task.extend))),
          zero_(Lanes::splat(task.zero)),
          least_(Lanes::splat(task.least)) {}

    void run() {
        Vector limit = Lanes::splat(task_.limit);
        for (std::size_t i = task_.row; i < task_.row_end; ++i) {
            const Vector most = compute(i);
            if (!Lanes::any_greater(most, limit)) [[likely]]
                continue;
            task_.found = true;
            task_.best_row = i;
            task_.limit = largest(most);
            limit = Lanes::splat(task_.limit);
            std::memcpy(task_.best_h, h_, end_ * sizeof(std::int16_t));
        }
    }

private:
    using Vector = typename Lanes::Vector;
    static constexpr std::size_t size = Lanes::size;

    /// What the cells of a row hand on from vector to vector.
    struct Carried {
        Vector diagonal;  ///< H of the row above, one column before
        Vector e;
        Vector most;  ///< the largest H so far
    };

    /// Computes row i and returns the largest H of each number of its vectors.
    Vector compute(std::size_t i) {
        const std::int16_t* scores = task_.scores + task_.letters[i] * end_;
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
        if (Lanes::any_greater(entering, Lanes::load(h_) - slack_)) cross(entering, carried.most);
        task_.right_h[i] = h_[last + task_.last_number + (affine ? 0 : task_.last_vector * size)];
        if constexpr (affine) {
            const int crossed =
                number(entering, task_.last_number) - static_cast<int>(task_.last_vector) * task_.extend;
            task_.right_e[i] =
                static_cast<std::int16_t>(std::max<int>(crossed, number(e_last, task_.last_number)));
        }
        return carried.most;
    }

    [[gnu::always_inline]] void cells(const std::int16_t* scores, std::size_t at, Carried& carried) {
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

    /// The row again, with the E that enter each number's first column from the number before.
    void cross(Vector& entering, Vector& most) {
        const long loss = static_cast<long>(task_.vectors) * task_.extend;
        // Mostly no E outlives all columns of a number; then the first step changes nothing, nor do the
        // others.
        Vector once = entering;
        take_over<1>(once, loss);
        if (Lanes::any_greater(once, entering)) {
            entering = once;
            take_over<2>(entering, 2 * loss);
            take_over<4>(entering, 4 * loss);
            if constexpr (size > 8) take_over<8>(entering, 8 * loss);
        }
        Vector e = entering;
        const auto pass = [&](std::size_t at) {
            const Vector h = Lanes::max(Lanes::load(h_ + at), e);
            Lanes::store(h_ + at, h);
            most = Lanes::max(most, h);
            e = Lanes::max(e - extend_, least_);
        };
        // Once the E that the row itself has are no less, they stay so: opening a gap at h is one of them. To
        // look after each vector would cost more than some vectors too many: where it ends is hard to
        // predict.
        constexpr std::size_t group = 4 * size;
        std::size_t at = 0;
        for (; at + group <= end_; at += group) {
            if (!Lanes::any_greater(e, Lanes::load(h_ + at) - slack_)) return;
            for (std::size_t ahead = 0; ahead < group; ahead += size) pass(at + ahead);
        }
        for (; at < end_; at += size) pass(at);
    }

    /// Each number becomes the one `distance` before it, less the loss, where that is larger.
    template <int distance>
    void take_over(Vector& entering, long loss) const {
        if (loss > task_.loss_max) return;
        const Vector from = Lanes::template shift<distance>(entering, least_);
        const Vector kept = Lanes::max(from, Lanes::splat(static_cast<std::int16_t>(task_.least + loss)));
        entering = Lanes::max(entering, kept - Lanes::splat(static_cast<std::int16_t>(loss)));
    }

    static std::int16_t number(Vector vector, std::size_t k) {
        std::int16_t numbers[size];
        Lanes::store(numbers, vector);
        return numbers[k];
    }

    static std::int16_t largest(Vector vector) {
        std::int16_t numbers[size];
        Lanes::store(numbers, vector);
        return *std::max_element(numbers, numbers + size);
    }

    StripeRows& task_;
    std::int16_t* h_;
    std::int16_t* f_;
    std::size_t end_;
    Vector open_, extend_, slack_, zero_, least_;
};

}  // namespace
}  // namespace heddle::workloads::alignment
