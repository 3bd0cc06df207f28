// Measures a bare switch between two stacks with Boost.Context. Argument: COUNT. Prints nanoseconds of a
// switch.
#include <boost/context/fiber.hpp>
#include <string>
#include <utility>

#include "bench/native/outcome.hpp"

int main(int words, char** word) {
    if (words != 2) return 2;
    const unsigned long count = std::stoul(word[1]);
    bool over = false;
    boost::context::fiber fiber([&over](boost::context::fiber&& caller) {
        while (!over) caller = std::move(caller).resume();
        return std::move(caller);
    });
    const double begin = heddle::bench::seconds_now();
    for (unsigned long n = 0; n < count; n += 2) fiber = std::move(fiber).resume();
    const double end = heddle::bench::seconds_now();
    over = true;
    fiber = std::move(fiber).resume();
    heddle::bench::Outcome().add("ns", (end - begin) * 1e9 / static_cast<double>(count)).print();
    return 0;
}
