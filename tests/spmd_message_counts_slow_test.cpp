// Counts messages and payload between nodes in all-to-all, for 4 to 1,000 nodes. It compares one rank for
// each node with one for each of its r threads, for the same array. The steps of all ranks are counted, but
// not run.
#include <gtest/gtest.h>

#include <cstdint>

#include "model/spmd/algorithm.hpp"

namespace heddle::spmd {
namespace {

class BetweenNodes final : public Steps {
public:
    BetweenNodes(RankId rank, RankId ranks_per_node)
        : node_(rank / ranks_per_node), per_node_(ranks_per_node) {}

    void reserve(Index /*elements*/) override {}

    std::uint64_t messages = 0;
    std::uint64_t elements = 0;

private:
    void take(const Step& step) override {
        if (step.kind != Step::Kind::send || step.peer / per_node_ == node_) return;
        ++messages;
        elements += step.from.count;
    }

    RankId node_;
    RankId per_node_;
};

struct Sum {
    std::uint64_t messages = 0;
    std::uint64_t elements = 0;
};

Sum all_to_all(const char* algorithm, RankId nodes, RankId ranks_per_node, Index block) {
    const Algorithm& steps = find_algorithm(Operation::all_to_all, algorithm);
    const RankId ranks = nodes * ranks_per_node;
    Sum sum;
    for (RankId rank = 0; rank < ranks; ++rank) {
        BetweenNodes sends(rank, ranks_per_node);
        steps.steps({rank, ranks, 0, block, 1}, sends);
        sum.messages += sends.messages;
        sum.elements += sends.elements;
    }
    return sum;
}

// The closed form: each of r p ranks has r (p-1) peers on other nodes, so a rank for each thread sends r^2
// times as many messages as one for each node. An array of the same size is dealt out in blocks of 1/r^2.
TEST(SpmdMessageCounts, ARankForEachThreadSendsRSquaredTimesAsManyMessages) {
    for (const char* algorithm : {"pairwise", "ring"}) {
        for (const RankId p : {4, 5, 8, 12, 16, 31, 64, 100, 128, 250, 333, 512, 1000}) {
            const std::uint64_t pairs = std::uint64_t{p} * (p - 1);
            for (const RankId r : {2, 4, 16}) {
                if (p * r > 4000 && p != 1000) continue;
                const Index part = 3, block = Index{r} * r * part;
                const Sum hybrid = all_to_all(algorithm, p, 1, block),
                          flat = all_to_all(algorithm, p, r, part);
                ASSERT_EQ(hybrid.messages, pairs) << algorithm << " " << p;
                ASSERT_EQ(flat.messages, std::uint64_t{r} * r * pairs) << algorithm << " " << p << " x " << r;
                ASSERT_EQ(hybrid.elements, pairs * block) << algorithm << " " << p;
                ASSERT_EQ(flat.elements, hybrid.elements) << algorithm << " " << p << " x " << r;
            }
        }
    }
}

}  // namespace
}  // namespace heddle::spmd
