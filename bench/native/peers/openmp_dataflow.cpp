// Measures empty OpenMP tasks with depend clauses, each of which reads one object and changes the one before.
// Arguments: COUNT OBJECTS THREADS. One thread creates the tasks while all run them.
#include <omp.h>

#include <string>
#include <vector>

#include "bench/native/kept_memory.hpp"
#include "bench/native/outcome.hpp"

int main(int count, char** words) {
    using namespace heddle::bench;
    if (count != 4) {
        std::fprintf(stderr, "usage: peer_openmp_dataflow COUNT OBJECTS THREADS\n");
        return 2;
    }
    keep_freed_memory();
    const long tasks = std::stol(words[1]);
    const auto objects = static_cast<std::size_t>(std::stoul(words[2]));
    std::vector<long> values(objects, 0);
    long* const all = values.data();
    const double begin = seconds_now();
    const double cpu_begin = cpu_seconds();
#pragma omp parallel num_threads(std::stoi(words[3]))
#pragma omp single
    for (std::size_t i = 0, task = 0; task < static_cast<std::size_t>(tasks); ++task) {
        const std::size_t next = i + 1 == objects ? 0 : i + 1;
#pragma omp task default(none) firstprivate(all, i, next) depend(in : all[next]) depend(inout : all[i])
        ++all[i];
        i = next;
    }
    const double seconds = seconds_now() - begin;
    const double cpu = cpu_seconds() - cpu_begin;
    double sum = 0;
    for (const long value : values) sum += static_cast<double>(value);
    Outcome()
        .add("seconds", seconds)
        .add("cpu_seconds", cpu)
        .add("value", sum)
        .add("peak_mb", peak_mb())
        .print();
}
