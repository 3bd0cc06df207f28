// Solves the fork/join benchmark problems (fib, queens, uts) with oneTBB's task groups.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "bench/native/peers/fork_join_main.hpp"

namespace {

using namespace heddle::bench;

struct OneTbb {
    template <class Code>
    static void run(int workers, Code&& code) {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                        static_cast<std::size_t>(workers));
        tbb::task_arena(workers).execute(code);
    }

    static std::uint64_t fib(int n) {
        if (n < 2) return static_cast<std::uint64_t>(n);
        std::uint64_t first = 0;
        tbb::task_group group;
        group.run([&first, n] { first = fib(n - 1); });
        const std::uint64_t second = fib(n - 2);
        group.wait();
        return first + second;
    }

    template <class Board>
    static Found queens(const Board& board) {
        if (board.full()) return {1, 1};
        Found below[places_max];
        int children = 0;
        tbb::task_group group;
        board.places([&](const Board& next) {
            group.run([next, result = &below[children]] { *result = queens(next); });
            ++children;
        });
        group.wait();
        Found found{0, 1};
        for (int i = 0; i < children; ++i) found += below[i];
        return found;
    }

    static UtsCount uts(const UtsTree& tree, const UtsNode& node) {
        const std::int32_t children = tree.children(node);
        UtsCount count{1, children == 0 ? 1U : 0U, node.depth};
        if (children == 0) return count;
        std::vector<UtsCount> below(static_cast<std::size_t>(children));
        tbb::task_group group;
        for (std::int32_t i = 0; i < children; ++i) {
            group.run([&tree, child = UtsTree::child(node, i), result = &below[static_cast<std::size_t>(i)]] {
                *result = uts(tree, child);
            });
        }
        group.wait();
        for (const UtsCount& part : below) count += part;
        return count;
    }
};

}  // namespace

int main(int argc, char** argv) {
    return fork_join_main<OneTbb>(argc, argv);
}
