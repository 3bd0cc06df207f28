// Two threads on two cores write to one word in turn, and look for what the other has written.
#include "host/line_exchange.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "host/machine.hpp"
#include "host/wall_clock.hpp"

namespace heddle::host {

namespace {

constexpr unsigned pairs_max = 16;
constexpr int exchanges = 200;
constexpr std::size_t readings = 6;
constexpr double agree = 1.2;
constexpr double seconds_max = 20e-3;

/// Even numbers are written by the thread that measures, odd ones are its partner's answers. The end is told
/// in a word of its own: an answer may come later than the measuring thread has given up.
class Exchange {
public:
    /// The partner: until `end`.
    void answer() {
        for (std::uint64_t seen = 0; !over_.load(std::memory_order_relaxed);) {
            const std::uint64_t now = word_.load(std::memory_order_acquire);
            if (now % 2 != 0 || now == seen) continue;
            seen = now;
            word_.store(now + 1, std::memory_order_release);
        }
    }
    void end() { over_.store(true, std::memory_order_relaxed); }

    /// Seconds of an exchange, one way. 0: it is too late, or no two readings agree, because other programs
    /// had a core.
    double measure(double until) {
        std::array<double, readings> seconds{};
        std::uint64_t number = 0;
        if (!exchange(number, until)) return 0;  // the partner has come
        for (double& reading : seconds) {
            const double begin = wall_seconds();
            for (int i = 0; i < exchanges; ++i)
                if (!exchange(number, until)) return 0;
            reading = (wall_seconds() - begin) / (2.0 * exchanges);
        }
        std::ranges::sort(seconds);
        return seconds[1] <= agree * seconds[0] ? seconds[0] : 0;
    }

private:
    static constexpr std::uint32_t looks_between_clock_reads = 4096;

    /// False: it is too late.
    bool exchange(std::uint64_t& number, double until) {
        number += 2;
        word_.store(number, std::memory_order_release);
        for (std::uint32_t looks = 1; word_.load(std::memory_order_acquire) != number + 1; ++looks)
            if (looks % looks_between_clock_reads == 0 && wall_seconds() > until) return false;
        return true;
    }

    alignas(64) std::atomic<std::uint64_t> word_{0};
    alignas(64) std::atomic<bool> over_{false};
};

/// 0: not known.
double seconds_between(unsigned core, unsigned other, double until) {
    Exchange exchange;
    std::atomic<bool> bound{true};
    double seconds = 0;
    std::thread partner([&] {
        if (!bind_to_core(other)) bound.store(false, std::memory_order_relaxed);
        exchange.answer();
    });
    // Not the caller's own thread, which is to stay where it may run.
    std::thread measurer([&] {
        if (bind_to_core(core)) seconds = exchange.measure(until);
        exchange.end();
    });
    measurer.join();
    partner.join();
    return bound ? seconds : 0;
}

}  // namespace

double line_exchange_seconds() {
    const unsigned pairs = std::min(machine_cores() - 1, pairs_max);
    const double until = wall_seconds() + seconds_max;
    double sum = 0;
    for (unsigned core = 0; core < pairs; ++core) {
        const double seconds = seconds_between(core, core + 1, until);
        if (seconds <= 0) return 0;  // a mean of some pairs could not be compared with one of all
        sum += seconds;
    }
    return pairs == 0 ? 0 : sum / pairs;
}

bool are_other_cores(double a, double b) {
    constexpr double most = 1.4;
    return a > 0 && b > 0 && std::max(a, b) >= most * std::min(a, b);
}

}  // namespace heddle::host
