// Time in a run, virtual or real: whole picoseconds, so that sums are exact whatever their order.
// Reads no clock: that is the backend's work.
#pragma once

#include <chrono>
#include <compare>
#include <concepts>
#include <cstdint>
#include <ratio>

namespace heddle {

/// A duration, or the time since the start of the run. Reaches to 106 days.
using Time = std::chrono::duration<std::int64_t, std::pico>;

/// Later than everything.
inline constexpr Time never = Time::max();

/// The end of virtual time. What is left to `never` holds the sum of a moment and a short time.
inline constexpr Time last_moment = Time(9'220'000'000'000'000'000);

/// A sum over many workers, in picoseconds as well: a hundred of them reach the end of `Time` in a day.
class TimeSum {
public:
    __extension__ typedef __int128 Count;

    constexpr TimeSum() = default;
    constexpr TimeSum(Time time) : count_(time.count()) {}  // NOLINT(*-explicit-*): a time is a sum of one
    constexpr Count count() const { return count_; }
    static constexpr TimeSum zero() { return {}; }

    constexpr TimeSum& operator+=(TimeSum other) {
        count_ += other.count_;
        return *this;
    }
    friend constexpr TimeSum operator+(TimeSum a, TimeSum b) { return a += b; }
    friend constexpr TimeSum operator-(TimeSum a, TimeSum b) { return of(a.count_ - b.count_); }
    friend constexpr TimeSum operator*(TimeSum a, std::int64_t factor) { return of(a.count_ * factor); }
    friend constexpr TimeSum operator/(TimeSum a, std::int64_t divisor) { return of(a.count_ / divisor); }
    friend constexpr bool operator==(TimeSum a, TimeSum b) = default;
    friend constexpr auto operator<=>(TimeSum a, TimeSum b) { return a.count_ <=> b.count_; }

private:
    static constexpr TimeSum of(Count count) {
        TimeSum sum;
        sum.count_ = count;
        return sum;
    }

    Count count_ = 0;
};

/// Seconds as a floating-point number, for formulas and output.
constexpr double to_seconds(Time time) {
    return static_cast<double>(time.count()) * 1e-12;
}

constexpr double to_seconds(std::same_as<TimeSum> auto time) {
    return static_cast<double>(time.count()) * 1e-12;
}

[[noreturn]] void refuse_seconds(double seconds);
[[noreturn]] void refuse_moment();

/// `begin` + `duration`, neither of them negative; `never` where the sum is beyond.
constexpr Time saturated_sum(Time begin, Time duration) {
    return duration < never - begin ? begin + duration : never;
}

/// `begin` + `duration`, neither of them negative. Throws Error where the sum lies after the last moment.
inline Time checked_sum(Time begin, Time duration) {
    const auto sum = static_cast<std::uint64_t>(begin.count()) + static_cast<std::uint64_t>(duration.count());
    if (sum > static_cast<std::uint64_t>(last_moment.count())) [[unlikely]]
        refuse_moment();
    return Time(static_cast<std::int64_t>(sum));
}

/// The nearest whole picosecond. Throws Error where `seconds` is negative, not a number, or beyond 106 days.
inline Time from_seconds(double seconds) {
    const double picoseconds = seconds * 1e12;
    // 2^63 is the first whole number that a Time does not hold; a comparison with NaN is false.
    if (!(seconds >= 0 && picoseconds < 0x1p63)) [[unlikely]]
        refuse_seconds(seconds);
    // As std::round, which is a call where the processor is not known to do it. The difference is exact.
    const auto whole = static_cast<std::int64_t>(picoseconds);
    return Time(whole + (picoseconds - static_cast<double>(whole) >= 0.5 ? 1 : 0));
}

}  // namespace heddle
