// The command line of the graph benchmarks: PROGRAM pair|stencil|trivial|chain WIDTH STEPS WORKERS WORK. A
// program gives a function that makes and runs the graph, counts the tasks that ran, and returns the
// seconds.
#pragma once

#include <string>
#include <string_view>

#include "bench/native/kept_memory.hpp"
#include "bench/native/kernel.hpp"

namespace heddle::bench {

struct GraphRun {
    double seconds = 0;
    double cpu_seconds = 0;
    std::uint64_t tasks = 0;
};

template <class Run>
int graph_main(int argc, char** argv, Run&& run) {
    if (argc != 6) {
        std::fprintf(stderr, "usage: %s pair|stencil|trivial|chain WIDTH STEPS WORKERS WORK\n", argv[0]);
        return 2;
    }
    keep_freed_memory();
    const auto number = [&](int i) { return static_cast<std::uint32_t>(std::stoul(argv[i])); };
    const Pattern pattern = Pattern::named(argv[1], number(2), number(3));
    const double step = step_nanoseconds();
    const GraphRun done = run(pattern, static_cast<int>(number(4)), std::uint64_t{number(5)});
    if (done.tasks != std::uint64_t{pattern.width} * pattern.steps) {
        std::fprintf(stderr, "%s: tasks were lost\n", argv[0]);
        return 1;
    }
    Outcome()
        .add("seconds", done.seconds)
        .add("cpu_seconds", done.cpu_seconds)
        .add("tasks", static_cast<double>(done.tasks))
        .add("step_ns", step)
        .add("peak_mb", peak_mb())
        .print();
    return 0;
}

/// Counts the tasks of one worker, which alone writes it.
struct alignas(64) TaskCount {
    std::uint64_t count = 0;
};

}  // namespace heddle::bench
