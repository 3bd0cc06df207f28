// Measures sweeps of Jacobi's iteration with an OpenMP loop over rows. Arguments: N SWEEPS THREADS.
#include <omp.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bench/native/jacobi_kernel.hpp"
#include "bench/native/outcome.hpp"

namespace {

using namespace heddle::bench;

double sweep(double* now, const double* before, std::size_t n) {
    double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (std::size_t i = 1; i < n - 1; ++i) {
        for (std::size_t j = 1; j < n - 1; ++j) {
            const double change = relax(now, before, n, i * n + j);
            if (most < change) most = change;
        }
    }
    return most;
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) {
        std::fprintf(stderr, "usage: peer_openmp_jacobi N SWEEPS THREADS\n");
        return 2;
    }
    const auto n = static_cast<std::size_t>(std::stoul(words[1]));
    const int sweeps = std::stoi(words[2]);
    omp_set_num_threads(std::stoi(words[3]));
    std::vector<double> first(n * n), second(n * n);
    double* before = first.data();
    double* now = second.data();
    fill_waves(before, n);
    fill_waves(now, n);
    double change = 0;
    const double begin = seconds_now();
    const double cpu_begin = cpu_seconds();
    for (int done = 0; done < sweeps; ++done) {
        change = sweep(now, before, n);
        std::swap(before, now);
    }
    const double seconds = seconds_now() - begin;
    const double cpu = cpu_seconds() - cpu_begin;
    double sum = 0;
    for (std::size_t at = 0; at < n * n; ++at) sum += before[at];
    Outcome().add("seconds", seconds).add("cpu_seconds", cpu).add("value", sum).add("change", change).print();
}
