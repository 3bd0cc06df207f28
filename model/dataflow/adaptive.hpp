// Loops that split when an idle worker asks (KAAPI, section 3.2: the steal function, specialized; Danjean et
// al., "Adaptive loops with Kaapi on multicore and grid", PASCO 2007). While no worker asks, a loop is a
// sequential one that takes a few iterations at a time.
//
//     adaptive_for(strand, 0, n, 64, [&](std::int64_t begin, std::int64_t end) { ... });
//     const double sum = adaptive_accumulate(strand, 0, n, 64, 0.0, part, add);
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "model/dataflow/kaapi_threads.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/wait.hpp"

namespace heddle::dataflow {

namespace detail {

/// What is left of a loop's part. Its thread takes from the front, thieves the back half.
class Iterations {
public:
    struct Range {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        bool empty() const { return begin >= end; }
    };

    Iterations(Range range, std::int64_t grain) : range_(range), grain_(grain) {}

    Range take_front() {
        const runtime::SpinLock::Guard guard(lock_);
        const std::int64_t end = std::min(range_.begin + grain_, range_.end);
        return {std::exchange(range_.begin, std::max(end, range_.begin)), end};
    }
    /// Nothing if there are not two pieces.
    Range take_back_half() {
        const runtime::SpinLock::Guard guard(lock_);
        const std::int64_t left = range_.end - range_.begin;
        if (left < 2 * grain_) return {};
        const std::int64_t middle = range_.begin + (left + 1) / 2;
        return {middle, std::exchange(range_.end, middle)};
    }

private:
    runtime::SpinLock lock_;
    Range range_;
    std::int64_t grain_;
};

/// One loop: its parts run on several threads, and end before it does.
template <class Body, class Result, class Operator>
class AdaptiveLoop {
    using Range = Iterations::Range;
    class End final : public runtime::Event {
    public:
        std::string what() const override { return "the parts of an adaptive loop"; }
    };

public:
    AdaptiveLoop(std::int64_t grain, const Body& body, Result first, const Operator& combine)
        : grain_(std::max<std::int64_t>(grain, 1)),
          body_(body),
          result_(std::move(first)),
          combine_(combine) {}

    Result run(runtime::Strand& strand, Range range) {
        begin_part(strand.worker(), range);
        strand.wait(end_);
        return std::move(result_);
    }

private:
    struct Part {
        AdaptiveLoop& loop;
        Iterations left;
    };

    void begin_part(runtime::Worker& worker, Range range) {
        KaapiId thread;
        begin_part(worker, range, thread);
    }
    void begin_part(runtime::Worker& worker, Range range, KaapiId& thread) {
        parts_.fetch_add(1, std::memory_order_seq_cst);
        auto* const part = new Part{*this, Iterations(range, grain_)};
        Attributes attributes;
        attributes.set_steal_function(&steal, part);
        create(worker, thread, attributes, &run_part, part);
    }

    static bool steal(Kaapi& /*victim*/, KaapiId& thief, const IdleWorkers& idle, void* user_arg) {
        Part& part = *static_cast<Part*>(user_arg);
        const Range half = part.left.take_back_half();
        if (half.empty()) return false;
        part.loop.begin_part(idle.worker(), half, thief);
        return true;
    }

    static void run_part(Kaapi& self, void* argument) {
        auto* const part = static_cast<Part*>(argument);
        AdaptiveLoop& loop = part->loop;
        bool any = false;
        Result sum{};
        for (Range now = part->left.take_front(); !now.empty(); now = part->left.take_front()) {
            Result more = loop.body_(now.begin, now.end);
            sum = any ? loop.combine_(sum, more) : std::move(more);
            any = true;
            self.offer();
        }
        self.close();
        delete part;
        loop.end_part(self, any, std::move(sum));
    }

    void end_part(Kaapi& self, bool any, Result sum) {
        if (any) {
            const runtime::SpinLock::Guard guard(lock_);
            result_ = combine_(result_, sum);
        }
        // The loop may be gone afterwards.
        if (parts_.fetch_sub(1, std::memory_order_seq_cst) == 1)
            end_.complete(self.worker().node(), self.worker());
    }

    std::int64_t grain_;
    const Body& body_;
    runtime::SpinLock lock_;  ///< over `result_`
    Result result_;
    const Operator& combine_;
    std::atomic<std::uint32_t> parts_{0};
    End end_;
};

struct Nothing {};

}  // namespace detail

/// Combines `first` and what part(begin, end) returns for pieces of [begin, end) of up to `grain` iterations,
/// each iteration once, with combine(a, b), which is associative and commutative.
template <class Result, class Part, class Operator>
Result adaptive_accumulate(runtime::Strand& strand, std::int64_t begin, std::int64_t end, std::int64_t grain,
                           Result first, const Part& part, const Operator& combine) {
    detail::AdaptiveLoop<Part, Result, Operator> loop(grain, part, std::move(first), combine);
    return loop.run(strand, {begin, end});
}

/// Calls body(begin, end) for pieces of [begin, end) of up to `grain` iterations, each iteration once, on all
/// workers of the node that have nothing else to do. Returns when all have ended.
template <class Body>
void adaptive_for(runtime::Strand& strand, std::int64_t begin, std::int64_t end, std::int64_t grain,
                  const Body& body) {
    using detail::Nothing;
    const auto part = [&](std::int64_t from, std::int64_t to) {
        body(from, to);
        return Nothing{};
    };
    adaptive_accumulate(strand, begin, end, grain, Nothing{}, part,
                        [](Nothing, Nothing) { return Nothing{}; });
}

}  // namespace heddle::dataflow
