// Solves the fork/join benchmark problems by plain recursion: the baseline of all other programs.
#include "bench/native/peers/fork_join_main.hpp"

namespace {

using namespace heddle::bench;

struct Sequential {
    template <class Code>
    static void run(int, Code&& code) {
        code();
    }

    static std::uint64_t fib(int n) {
        return n < 2 ? static_cast<std::uint64_t>(n) : fib(n - 1) + fib(n - 2);
    }

    template <class Board>
    static Found queens(const Board& board) {
        if (board.full()) return {1, 1};
        Found found{0, 1};
        board.places([&](const Board& next) { found += queens(next); });
        return found;
    }

    static UtsCount uts(const UtsTree& tree, const UtsNode& node) {
        const std::int32_t children = tree.children(node);
        UtsCount count{1, children == 0 ? 1U : 0U, node.depth};
        for (std::int32_t i = 0; i < children; ++i) count += uts(tree, UtsTree::child(node, i));
        return count;
    }
};

}  // namespace

int main(int argc, char** argv) {
    return fork_join_main<Sequential>(argc, argv);
}
