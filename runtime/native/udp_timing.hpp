// Decides how long a sender of datagrams waits for an acknowledgement, and how many unacknowledged chunks it
// may have. udp_sender.hpp decides what is sent, and which chunks are lost.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heddle::native {

/// The time to a peer and back (RFC 6298). The least timeout is shorter than the second of that RFC: a
/// receiver delays no acknowledgement, and networks of clusters take microseconds.
class RoundTrip {
public:
    using Duration = std::chrono::nanoseconds;
    static constexpr Duration timeout_min = std::chrono::milliseconds(10);
    static constexpr Duration timeout_max = std::chrono::seconds(1);
    static constexpr Duration probe_min = std::chrono::milliseconds(1);

    /// Of a chunk that was sent once (Karn's rule).
    void measured(Duration sample) {
        if (mean_ == Duration::zero()) {
            mean_ = sample;
            deviation_ = sample / 2;
        } else {
            const Duration error = sample > mean_ ? sample - mean_ : mean_ - sample;
            deviation_ += (error - deviation_) / 4;
            mean_ += (sample - mean_) / 8;
        }
        mean_ = std::max(mean_, Duration(1));
    }

    void acknowledged() { factor_ = 1; }
    void timed_out() { factor_ = std::min(2 * factor_, 128); }

    Duration timeout() const {
        if (mean_ == Duration::zero()) return std::min(10 * timeout_min * factor_, timeout_max);
        return std::min(factor_ * std::clamp(mean_ + 4 * deviation_, timeout_min, timeout_max), timeout_max);
    }

    /// After such a time without an acknowledgement the sender repeats one chunk, so that the answer says
    /// what is missing (tail loss probe, RFC 8985, section 7).
    Duration probe_time() const {
        if (mean_ == Duration::zero()) return timeout();
        return std::clamp(2 * mean_ + deviation_, probe_min, timeout());
    }

private:
    Duration mean_{};
    Duration deviation_{};
    int factor_ = 1;
};

/// How many chunks may be under way: slow start and congestion avoidance (RFC 5681), by chunks in place of
/// bytes.
class CongestionWindow {
public:
    /// `threshold`: from so many on it grows by one a round trip. So the first burst does not overflow a
    /// socket's buffer.
    explicit CongestionWindow(double threshold) : threshold_(threshold) {}

    std::size_t chunks() const { return static_cast<std::size_t>(window_); }

    /// `limited`: the window was used, so that its success means something.
    void acknowledged(std::size_t count, bool limited) {
        if (!limited) return;
        const double more = static_cast<double>(count);
        window_ = std::min(window_ + (window_ < threshold_ ? more : more / window_), most);
    }

    /// Once a round trip.
    void lost() {
        threshold_ = std::max(window_ / 2, least);
        window_ = threshold_;
    }

    void timed_out() {
        threshold_ = std::max(window_ / 2, least);
        window_ = 1;
    }

private:
    static constexpr double least = 2;
    static constexpr double most = 1 << 16;

    double window_ = 4;
    double threshold_;
};

}  // namespace heddle::native
