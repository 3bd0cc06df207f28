// Measures a barrier of two threads with OpenMP. Argument: COUNT. Prints nanoseconds of a barrier.
#include <omp.h>

#include <string>

#include "bench/native/outcome.hpp"

int main(int words, char** word) {
    if (words != 2) return 2;
    const unsigned long count = std::stoul(word[1]);
    double begin = 0;
    double end = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
        if (omp_get_thread_num() == 0) begin = heddle::bench::seconds_now();
        for (unsigned long n = 0; n < count; ++n) {
#pragma omp barrier
        }
        if (omp_get_thread_num() == 0) end = heddle::bench::seconds_now();
    }
    heddle::bench::Outcome().add("ns", (end - begin) * 1e9 / static_cast<double>(count)).print();
    return 0;
}
