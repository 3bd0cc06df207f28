// Measures what user-level threads of Boost.Fiber cost. Arguments: switch|create|channel COUNT. Prints
// nanoseconds of a switch, of a fiber that is started, runs and ends, or of a round trip over two channels.
#include <boost/fiber/all.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/native/outcome.hpp"

namespace {

namespace fibers = boost::fibers;
using heddle::bench::seconds_now;

double switch_to_and_fro(unsigned long count) {
    const auto yields = [count] {
        for (unsigned long n = 0; n < count / 2; ++n) boost::this_fiber::yield();
    };
    const double begin = seconds_now();
    fibers::fiber one(yields);
    fibers::fiber other(yields);
    one.join();
    other.join();
    return seconds_now() - begin;
}

double start_and_end(unsigned long count) {
    // A pool of as large stacks as strands have, because Heddle has one: the default allocator gives each
    // stack back to malloc, whose pages the system takes away and brings again, and that would be all that is
    // measured.
    fibers::pooled_fixedsize_stack stacks(64 << 10);
    const double begin = seconds_now();
    for (unsigned long made = 0; made < count; made += 1000) {
        std::vector<fibers::fiber> some;
        some.reserve(1000);
        for (int i = 0; i < 1000; ++i) some.emplace_back(std::allocator_arg, stacks, [] {});
        for (fibers::fiber& fiber : some) fiber.join();
    }
    return seconds_now() - begin;
}

double round_trips(unsigned long count) {
    fibers::buffered_channel<unsigned long> ping(2);
    fibers::buffered_channel<unsigned long> pong(2);
    const double begin = seconds_now();
    fibers::fiber one([&] {
        for (unsigned long n = 0; n < count; ++n) {
            ping.push(n);
            pong.value_pop();
        }
    });
    fibers::fiber other([&] {
        for (unsigned long n = 0; n < count; ++n) pong.push(ping.value_pop());
    });
    one.join();
    other.join();
    return seconds_now() - begin;
}

}  // namespace

int main(int words, char** word) {
    if (words != 3) return 2;
    const std::string what = word[1];
    const unsigned long count = std::stoul(word[2]);
    const double seconds = what == "switch"   ? switch_to_and_fro(count)
                           : what == "create" ? start_and_end(count)
                                              : round_trips(count);
    heddle::bench::Outcome().add("ns", seconds * 1e9 / static_cast<double>(count)).print();
    return 0;
}
