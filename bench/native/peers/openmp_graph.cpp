// Runs the benchmark's task graphs with OpenMP tasks and depend clauses: one thread creates the tasks while
// all run them.
#include <omp.h>

#include "bench/native/peers/graph_main.hpp"

namespace {

using namespace heddle::bench;

GraphRun run(const Pattern& pattern, int workers, std::uint64_t work) {
    std::vector<TaskCount> counts(static_cast<std::size_t>(workers));
    // A byte for each task stands for its datum. No byte is written twice: else a task would also wait for
    // those that read the byte before.
    std::vector<char> data(std::size_t{pattern.steps} * pattern.width);
    TaskCount* of_thread = counts.data();
    const auto task = [of_thread](std::uint64_t steps) {
        work_steps(steps);
        ++of_thread[omp_get_thread_num()].count;
    };
    const double start = seconds_now(), cpu_start = cpu_seconds();
#pragma omp parallel num_threads(workers) default(shared)
#pragma omp single
    for (std::uint32_t step = 0; step < pattern.steps; ++step) {
        char* now = data.data() + std::size_t{step} * pattern.width;
        for (std::uint32_t x = 0; x < pattern.width; ++x) {
            const char* in[3] = {};
            int ins = 0;
            if (step > 0)
                pattern.predecessors(x, [&](std::uint32_t from) { in[ins++] = now - pattern.width + from; });
            if (ins == 0 && pattern.kind == Pattern::Kind::trivial) {
#pragma omp task default(none) firstprivate(task, work)
                task(work);
            } else if (ins == 0) {
#pragma omp task default(none) firstprivate(task, work) depend(out : now[x])
                task(work);
            } else if (ins == 1) {
#pragma omp task default(none) firstprivate(task, work) depend(out : now[x]) depend(in : *in[0])
                task(work);
            } else if (ins == 2) {
#pragma omp task default(none) firstprivate(task, work) depend(out : now[x]) depend(in : *in[0], *in[1])
                task(work);
            } else {
#pragma omp task default(none) firstprivate(task, work) depend(out                 \
                                                               : now[x]) depend(in \
                                                                                : *in[0], *in[1], *in[2])
                task(work);
            }
        }
    }
    GraphRun done{seconds_now() - start, cpu_seconds() - cpu_start, 0};
    for (const TaskCount& count : counts) done.tasks += count.count;
    return done;
}

}  // namespace

int main(int argc, char** argv) {
    return graph_main(argc, argv, run);
}
