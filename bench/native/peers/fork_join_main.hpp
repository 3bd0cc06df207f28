// The main function of the fork/join benchmarks of other libraries: PROGRAM fib|queens|queens_bytes|uts SIZE
// WORKERS. Each library has a class with fib(n), queens(board) and uts(tree, node), which make a task for
// every call. Its run(workers, code) calls `code` where tasks may be made. Only the time of `code` counts.
#pragma once

#include <cstdlib>

#include "bench/native/outcome.hpp"
#include "bench/native/problems.hpp"

namespace heddle::bench {

template <class Peer>
int fork_join_main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s fib|queens|queens_bytes|uts SIZE WORKERS\n", argv[0]);
        return 2;
    }
    const std::string_view kind = argv[1];
    const int size = std::atoi(argv[2]);
    double seconds = 0, cpu = 0;
    std::uint64_t value = 0;
    Peer::run(std::atoi(argv[3]), [&] {
        const double start = seconds_now(), cpu_start = cpu_seconds();
        if (kind == "fib") value = Peer::fib(size);
        if (kind == "queens") value = Peer::queens(BitBoard::empty(size)).solutions;
        if (kind == "queens_bytes") value = Peer::queens(ByteBoard::empty(size)).solutions;
        if (kind == "uts") {
            const UtsTree tree = uts_tree(argv[2]);
            value = Peer::uts(tree, tree.root()).nodes;
        }
        seconds = seconds_now() - start;
        cpu = cpu_seconds() - cpu_start;
    });
    Outcome()
        .add("seconds", seconds)
        .add("cpu_seconds", cpu)
        .add("value", static_cast<double>(value))
        .add("peak_mb", peak_mb())
        .print();
    return 0;
}

}  // namespace heddle::bench
