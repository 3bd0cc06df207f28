// Loops that split when an idle worker asks (the KAAPI paper, section 3.2: the steal function, specialized;
// Danjean et al., "Adaptive loops with Kaapi on multicore and grid", PASCO 2007). While no worker asks, a
// loop is a sequential one that takes a few iterations at a time.
//
//     adaptive_for(strand, 0, n, 64, [&](std::int64_t begin, std::int64_t end) { ... });
//     const double sum = adaptive_accumulate(strand, 0, n, 64, 0.0, part, add);
//
// The code of a loop may take the worker that runs it as its first parameter, to declare work:
// [](runtime::Worker& worker, std::int64_t begin, std::int64_t end) { worker.compute(...); }
#pragma once

#include <optional>

#include "model/dataflow/adaptive_parts.hpp"

namespace heddle::dataflow {

namespace detail {

template <class Body, class Result, class Operator>
class Accumulation {
public:
    Accumulation(std::int64_t grain, const Body& body, Result first, const Operator& combine)
        : grain_(std::max<std::int64_t>(grain, 1)),
          body_(body),
          result_(std::move(first)),
          combine_(combine) {}

    Result run(runtime::Strand& strand, Range range) {
        parts_.start(strand.worker(), std::make_unique<Some>(*this, range));
        parts_.wait(strand);
        return std::move(result_);
    }

private:
    class Some final : public Part {
    public:
        Some(Accumulation& loop, Range range) : loop_(loop), left_(range, loop.grain_) {}

        void run(Kaapi& self) override {
            std::optional<Result> sum;
            for (Range now = left_.take_front(); !now.empty(); now = left_.take_front()) {
                Result more = call(self.worker(), loop_.body_, now.begin, now.end);
                sum = sum ? loop_.combine_(*sum, more) : std::move(more);
                self.offer();
            }
            if (sum) loop_.add(*sum);
        }
        bool split(runtime::Worker& worker, KaapiId& thief) override {
            const Range half = left_.take_back_half();
            if (half.empty()) return false;
            loop_.parts_.start(worker, thief, std::make_unique<Some>(loop_, half));
            return true;
        }

    private:
        Accumulation& loop_;
        Iterations left_;
    };

    void add(const Result& sum) {
        const runtime::SpinLock::Guard guard(lock_);
        result_ = combine_(result_, sum);
    }

    std::int64_t grain_;
    const Body& body_;
    runtime::SpinLock lock_;  ///< over `result_`
    Result result_;
    const Operator& combine_;
    Parts parts_;
};

struct Nothing {};

}  // namespace detail

/// Combines `first` and what part(begin, end) returns for pieces of [begin, end) of up to `grain` iterations,
/// each iteration once, with combine(a, b), which is associative and commutative.
template <class Result, class Body, class Operator>
Result adaptive_accumulate(runtime::Strand& strand, std::int64_t begin, std::int64_t end, std::int64_t grain,
                           Result first, const Body& part, const Operator& combine) {
    detail::Accumulation<Body, Result, Operator> loop(grain, part, std::move(first), combine);
    return loop.run(strand, {begin, end});
}

/// Calls body(begin, end) for pieces of [begin, end) of up to `grain` iterations, each iteration once, on all
/// workers of the node that have nothing else to do. Returns when all have ended.
template <class Body>
void adaptive_for(runtime::Strand& strand, std::int64_t begin, std::int64_t end, std::int64_t grain,
                  const Body& body) {
    using detail::Nothing;
    const auto part = [&](runtime::Worker& worker, std::int64_t from, std::int64_t to) {
        detail::call(worker, body, from, to);
        return Nothing{};
    };
    adaptive_accumulate(strand, begin, end, grain, Nothing{}, part,
                        [](Nothing, Nothing) { return Nothing{}; });
}

}  // namespace heddle::dataflow
