// The memory bus of one simulated machine. At every moment, the workers that stream share its bandwidth
// equally, and none gets more than a core can take. The bandwidth may depend on their number. It computes
// when a stream has been served; it starts no events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/time.hpp"

namespace heddle::sim {

/// Kept in virtual service: how many bytes each of the streams present has been given since the first of them
/// came. A stream of b bytes that comes at service s leaves at service s + b, whatever other streams do. They
/// change only the speed at which service grows. So one number a stream suffices.
class MemoryBus {
public:
    /// In bytes per second: `bandwidth` of all streams together, and the most of one; 0: no such limit.
    MemoryBus(double bandwidth, double of_one)
        : bytes_per_picosecond_(bandwidth * 1e-12),
          of_one_(of_one == 0 ? std::numeric_limits<double>::infinity() : of_one * 1e-12) {}

    /// `by_streams`: of all streams together while there are 1, 2, 3, ... of them; the last value also for
    /// more. At least one value. The caller must keep them as long as this exists.
    MemoryBus(std::span<const double> by_streams, double of_one) : MemoryBus(by_streams.front(), of_one) {
        if (by_streams.size() > 1) by_streams_ = by_streams;
    }

    /// A stream of `bytes` begins. Times never go back.
    void begin(Time now, double bytes, void* stream) {
        serve_until(now);
        if (streams_.empty()) served_ = 0;
        streams_.push_back({served_ + bytes, next_number_++, stream});
        std::push_heap(streams_.begin(), streams_.end(), later);
        if (!by_streams_.empty()) [[unlikely]]
            adapt();
    }

    bool idle() const { return streams_.empty(); }

    /// When the first of the present streams will have been served, if none comes before that. This is where
    /// times of the memory are rounded to whole picoseconds.
    Time next_end() const {
        const double left = streams_.front().end - served_;
        const double shared = left * static_cast<double>(streams_.size()) / bytes_per_picosecond_;
        return checked_sum(last_, from_seconds(std::max({0.0, shared, left / of_one_}) * 1e-12));
    }

    /// Ends the streams that have been served at `now`, which is `next_end()`: at least one, in the order in
    /// which they came.
    void end(Time now, std::vector<void*>& ended) {
        serve_until(now);
        served_ = std::max(served_, streams_.front().end);
        while (!streams_.empty() && streams_.front().end <= served_) {
            ended.push_back(streams_.front().stream);
            std::pop_heap(streams_.begin(), streams_.end(), later);
            streams_.pop_back();
        }
        if (!by_streams_.empty()) [[unlikely]]
            adapt();
        // Small numbers keep small fractions: a bus that is never idle must not lose precision.
        constexpr double large = 1e12;
        if (served_ > large) {
            for (Stream& stream : streams_) stream.end -= served_;
            served_ = 0;
        }
    }

private:
    struct Stream {
        double end = 0;  ///< leaves at this service
        std::uint64_t number = 0;
        void* stream = nullptr;
    };
    static bool later(const Stream& a, const Stream& b) {
        return a.end != b.end ? a.end > b.end : a.number > b.number;
    }

    void serve_until(Time now) {
        if (!streams_.empty()) {
            const auto passed = static_cast<double>((now - last_).count());
            const double shared = passed * bytes_per_picosecond_ / static_cast<double>(streams_.size());
            served_ += std::min(shared, passed * of_one_);
        }
        last_ = now;
    }

    /// To the number of streams present.
    [[gnu::noinline]] void adapt() {
        if (streams_.empty()) return;
        bytes_per_picosecond_ = by_streams_[std::min(streams_.size(), by_streams_.size()) - 1] * 1e-12;
    }

    double bytes_per_picosecond_;  ///< of all streams present
    double of_one_;                ///< bytes per picosecond
    double served_ = 0;
    Time last_{};
    std::uint64_t next_number_ = 0;
    std::vector<Stream> streams_;
    std::span<const double> by_streams_;  ///< bytes per second; empty: the same for any number of streams
};

}  // namespace heddle::sim
