// Tests donation: a node gives half of what its workers share, from each in turn, and all workers of the
// thief get some.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "model/fork_join.hpp"
#include "runtime/execution.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/node.hpp"

namespace heddle {
namespace {

using model::Strand;
using runtime::Stealing;

constexpr std::uint32_t tasks_each = 64;

/// What ran on node 1: the worker of node 0 that forked it, and the worker that ran it.
struct Taken {
    CoreId from;
    CoreId by;
};

class Program final : public runtime::Program {
public:
    explicit Program(std::vector<Taken>& where) : taken(where) {}
    runtime::Work unit() const override { return {1000, 0}; }
    void begin(runtime::Worker& worker) override;
    runtime::Answer answer() const override { return {}; }

    std::vector<Taken>& taken;
};

struct Task {
    static void run(Strand strand, CoreId from) {
        const WorkerId here = strand.worker().id;
        if (here.node == 1) strand.program<Program>().taken.push_back({from, here.core});
        strand.work();
    }
};

void Program::begin(runtime::Worker& worker) {
    if (worker.id.node != 0) return;
    Strand strand(worker);
    for (std::uint32_t i = 0; i < tasks_each; ++i) strand.fork<Task>(worker.id.core);
    for (std::uint32_t i = 0; i < tasks_each; ++i) strand.join<Task>();
}

std::vector<Taken> run(Stealing::Amount amount, std::uint64_t seed) {
    runtime::Schedule schedule;
    schedule.seed = seed;
    schedule.stealing.victim = "hierarchical";
    schedule.stealing.amount = amount;
    schedule.stealing.back_off_min = std::chrono::nanoseconds(2);
    schedule.stealing.back_off_max = std::chrono::nanoseconds(50);
    inprocess::InprocessBackend backend({.nodes = 2, .cores = 3, .seed = seed, .gate_open = false});
    std::vector<Taken> taken;
    runtime::Execution(backend, schedule, [&](NodeId) { return std::make_unique<Program>(taken); }).run();
    return taken;
}

/// How many tasks ran on node 1 right after one of the same worker of node 0, of all there.
double in_a_row(Stealing::Amount amount) {
    double same = 0;
    double all = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const std::vector<Taken> taken = run(amount, seed);
        std::set<CoreId> by;
        for (std::size_t i = 0; i < taken.size(); ++i) {
            by.insert(taken[i].by);
            same += i > 0 && taken[i].from == taken[i - 1].from;
        }
        EXPECT_EQ(by.size(), 3U) << "seed " << seed;
        all += static_cast<double>(taken.size());
    }
    EXPECT_GT(all, 40 * tasks_each);
    return same / all;
}

TEST(Donation, TakesFromWorkersInTurn) {
    const double donated = in_a_row(Stealing::Amount::donation);
    const double half = in_a_row(Stealing::Amount::half);
    EXPECT_LT(donated, 0.8 * half) << donated << " against " << half;
}

}  // namespace
}  // namespace heddle
