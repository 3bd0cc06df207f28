// Measures how long two bare threads need to pass a number back and forth. Arguments: line|futex COUNT. With
// `line` both poll one cache line; with `futex` each sleeps until the other wakes it. Prints nanoseconds of a
// round trip.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "bench/native/outcome.hpp"

namespace {

struct alignas(64) Line {
    std::atomic<std::uint32_t> number{0};

    void wait_for(std::uint32_t wanted, bool sleeps) {
        for (;;) {
            const std::uint32_t now = number.load(std::memory_order_acquire);
            if (now == wanted) return;
            if (sleeps) syscall(SYS_futex, &number, FUTEX_WAIT_PRIVATE, now, nullptr, nullptr, 0);
        }
    }
    void write(std::uint32_t next, bool wakes) {
        number.store(next, std::memory_order_release);
        if (wakes) syscall(SYS_futex, &number, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
};

}  // namespace

int main(int words, char** word) {
    if (words != 3) return 2;
    const bool sleeps = std::string(word[1]) == "futex";
    const auto count = static_cast<std::uint32_t>(std::stoul(word[2]));
    Line ping;
    Line pong;
    std::thread other([&] {
        for (std::uint32_t n = 1; n <= count; ++n) {
            ping.wait_for(n, sleeps);
            pong.write(n, sleeps);
        }
    });
    const double begin = heddle::bench::seconds_now();
    for (std::uint32_t n = 1; n <= count; ++n) {
        ping.write(n, sleeps);
        pong.wait_for(n, sleeps);
    }
    const double end = heddle::bench::seconds_now();
    other.join();
    heddle::bench::Outcome().add("ns", (end - begin) * 1e9 / static_cast<double>(count)).print();
    return 0;
}
