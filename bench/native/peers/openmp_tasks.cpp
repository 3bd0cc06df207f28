// Solves the fork/join benchmark problems (fib, queens, uts) with OpenMP tasks.
#include <omp.h>

#include "bench/native/peers/fork_join_main.hpp"

namespace {

using namespace heddle::bench;

struct OpenMp {
    template <class Code>
    static void run(int workers, Code&& code) {
#pragma omp parallel num_threads(workers) default(shared)
#pragma omp single
        code();
    }

    static std::uint64_t fib(int n) {
        if (n < 2) return static_cast<std::uint64_t>(n);
        std::uint64_t first = 0;
#pragma omp task default(none) shared(first) firstprivate(n)
        first = fib(n - 1);
        const std::uint64_t second = fib(n - 2);
#pragma omp taskwait
        return first + second;
    }

    template <class Board>
    static Found queens(const Board& board) {
        if (board.full()) return {1, 1};
        Found below[places_max];
        int children = 0;
        board.places([&](const Board& place) {
            Found* result = &below[children++];
            Board next = place;
#pragma omp task default(none) firstprivate(next, result)
            *result = queens(next);
        });
#pragma omp taskwait
        Found found{0, 1};
        for (int i = 0; i < children; ++i) found += below[i];
        return found;
    }

    static UtsCount uts(const UtsTree& tree, const UtsNode& node) {
        const std::int32_t children = tree.children(node);
        UtsCount count{1, children == 0 ? 1U : 0U, node.depth};
        if (children == 0) return count;
        std::vector<UtsCount> below(static_cast<std::size_t>(children));
        const UtsTree* the_tree = &tree;
        for (std::int32_t i = 0; i < children; ++i) {
            UtsNode child = UtsTree::child(node, i);
            UtsCount* result = &below[static_cast<std::size_t>(i)];
#pragma omp task default(none) firstprivate(the_tree, child, result)
            *result = uts(*the_tree, child);
        }
#pragma omp taskwait
        for (const UtsCount& part : below) count += part;
        return count;
    }
};

}  // namespace

int main(int argc, char** argv) {
    return fork_join_main<OpenMp>(argc, argv);
}
