// Tests simulated makespans: equal tasks in blocks take exactly their sum, and work stealing on random
// programs keeps within its theoretical bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/random.hpp"
#include "model/fork_join.hpp"
#include "runtime/run/execution.hpp"
#include "sim/sim_backend.hpp"
#include "workloads/workload.hpp"

namespace heddle {
namespace {

using model::Strand;

/// Cores of 1 Gf/s, so that a flop is a nanosecond; nothing costs anything but the work.
Platform ideal(NodeId nodes, CoreId cores) {
    Platform platform;
    platform.nodes = nodes;
    platform.cores = cores;
    platform.core_speed = 1e9;
    platform.overheads = Overheads{};
    return platform;
}

struct Shape {
    NodeId nodes;
    CoreId cores;
};

Time bag_makespan(Shape shape, std::uint32_t tasks_per_core, const char* placement) {
    const auto& kind = workloads::find("bag");
    Settings settings(kind.settings);
    settings.set("tasks", std::to_string(shape.nodes * shape.cores * tasks_per_core));
    settings.set("task_cost", "1234567f");
    const auto workload = kind.make(settings);
    runtime::Schedule schedule;
    schedule.placement = placement;
    schedule.stealing.victim = "none";
    workload->prepare({{shape.nodes, shape.cores}}, schedule);
    sim::SimBackend backend(ideal(shape.nodes, shape.cores));
    runtime::Execution execution(backend, schedule, [&](NodeId id) { return workload->program(id); });
    const auto result = execution.run();
    EXPECT_EQ(workload->check(result).kind, workloads::Verdict::Kind::right);
    return result.makespan;
}

// makespan = tasks per core * flops per task / flops per second, without a picosecond more.
TEST(SimMakespan, EqualTasksInBlocksTakeExactlyTheTimeOfOneCoresShare) {
    const Time expected = 1000 * std::chrono::nanoseconds(1234567);
    std::vector<Shape> shapes = {{1, 1}, {1, 4}, {16, 4}};
#if !defined(__SANITIZE_THREAD__)
    shapes.push_back({1000, 4});  // ten minutes under ThreadSanitizer, on one thread
#endif
    for (const Shape shape : shapes) {
        EXPECT_EQ(bag_makespan(shape, 1000, "block"), expected) << shape.nodes << " x " << shape.cores;
    }
    EXPECT_EQ(bag_makespan({16, 4}, 1000, "cyclic"), expected);
}

/// fib, whose work is declared for all its calls, or else by each of them.
template <bool declared>
struct Fib {
    static constexpr std::uint64_t work_units = declared ? 1 : 0;
    static std::uint64_t run(Strand strand, std::uint32_t n) {
        if (!declared) strand.work();
        if (n < 2) return n;
        strand.fork<Fib>(n - 1);
        const auto second = strand.call<Fib>(n - 2);
        return strand.join<Fib>() + second;
    }
};

template <bool declared>
class Fib15Program final : public model::ForkJoinProgram {
public:
    runtime::Work unit() const override { return {10, 0}; }
    void root(Strand strand) override { value_ = strand.call<Fib<declared>>(15U); }
    runtime::Answer answer() const override { return {{"value", static_cast<double>(value_)}}; }

private:
    std::uint64_t value_ = 0;
};

template <bool declared>
runtime::RunResult fib15(Shape shape, std::uint64_t seed) {
    runtime::Schedule schedule;
    schedule.stealing.victim = "hierarchical";
    schedule.seed = seed;
    sim::SimBackend backend(ideal(shape.nodes, shape.cores));
    return runtime::Execution(backend, schedule,
                              [](NodeId) { return std::make_unique<Fib15Program<declared>>(); })
        .run();
}

// fib(15) makes 1,973 calls (OEIS A001595), each of ten nanoseconds.
TEST(SimMakespan, WorkDeclaredForAllCallsOfAFunctionIsChargedAtEach) {
    EXPECT_EQ(fib15<true>({1, 1}, 1).makespan, std::chrono::nanoseconds(19730));
    EXPECT_EQ(fib15<false>({1, 1}, 1).makespan, std::chrono::nanoseconds(19730));
    std::uint64_t stolen = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto declared = fib15<true>({3, 2}, seed);
        const auto working = fib15<false>({3, 2}, seed);
        ASSERT_EQ(declared.makespan, working.makespan) << "seed " << seed;
        ASSERT_EQ(declared.steals, working.steals) << "seed " << seed;
        ASSERT_EQ(declared.answer.at(0).value, 610);
        stolen += declared.total.steals_within_node + declared.total.steals_between_nodes;
    }
    EXPECT_GT(stolen, 0);
}

/// A program drawn from a seed: every task works, then forks its children and joins them.
struct RandomTree {
    std::uint64_t seed;
    std::uint32_t depth;

    std::uint64_t draw(std::uint64_t key, std::uint64_t bound) const {
        Random random = Random(seed).split(key);
        return random.below(bound);
    }
    std::uint64_t flops() const { return 1000 + draw(1, 200'000); }
    std::uint32_t children() const { return depth == 0 ? 0 : static_cast<std::uint32_t>(draw(2, 6)); }
    RandomTree child(std::uint32_t index) const { return {seed * 31 + index + 1, depth - 1}; }
};

struct Measure {
    std::uint64_t tasks = 0;
    std::uint64_t work = 0;           ///< flops of all tasks
    std::uint64_t critical_path = 0;  ///< flops along the longest chain
};

Measure measure(const RandomTree& tree) {
    Measure sum{1, tree.flops(), 0};
    for (std::uint32_t i = 0; i < tree.children(); ++i) {
        const Measure below = measure(tree.child(i));
        sum.tasks += below.tasks;
        sum.work += below.work;
        sum.critical_path = std::max(sum.critical_path, below.critical_path);
    }
    sum.critical_path += tree.flops();
    return sum;
}

struct RunTree {
    static std::uint64_t run(Strand strand, RandomTree tree) {
        strand.work(tree.flops());
        const std::uint32_t children = tree.children();
        for (std::uint32_t i = 0; i < children; ++i) strand.fork<RunTree>(tree.child(i));
        std::uint64_t tasks = 1;
        for (std::uint32_t i = 0; i < children; ++i) tasks += strand.join<RunTree>();
        return tasks;
    }
};

class TreeProgram final : public model::ForkJoinProgram {
public:
    explicit TreeProgram(const RandomTree& tree) : tree_(tree) {}
    runtime::Work unit() const override { return {1, 0}; }
    void root(Strand strand) override {
        answer_ = {{"tasks", static_cast<double>(strand.call<RunTree>(tree_))}};
    }
    runtime::Answer answer() const override { return answer_; }

private:
    RandomTree tree_;
    runtime::Answer answer_;
};

runtime::RunResult run(const RandomTree& tree, const Platform& platform, const runtime::Schedule& schedule) {
    sim::SimBackend backend(platform);
    runtime::Execution execution(backend, schedule,
                                 [&](NodeId) { return std::make_unique<TreeProgram>(tree); });
    return execution.run();
}

// Lower bound: max(work / p, critical path), for any schedule at all. Upper bound: work / p + c * critical
// path (Graham 1969 for greedy schedules with c = 1; Blumofe, Leiserson 1999 for work stealing, with a
// constant).
TEST(SimMakespan, StealingKeepsToTheBoundsOnRandomPrograms) {
    constexpr double c = 1;
    int programs = 0;
    double worst = 0;
    for (std::uint64_t seed = 1; programs < 200; ++seed) {
        const RandomTree tree{seed * 7919, 9};
        const Measure size = measure(tree);
        if (size.tasks < 50 || size.tasks > 20000) continue;
        ++programs;
        runtime::Schedule schedule;
        schedule.seed = seed;
        schedule.stealing.victim = seed % 2 == 0 ? "local_first" : "hierarchical";
        const CoreId cores = 1 + static_cast<CoreId>(seed % 8);
        const auto result = run(tree, ideal(1, cores), schedule);
        ASSERT_EQ(result.answer.at(0).value, static_cast<double>(size.tasks));
        const double makespan = to_seconds(result.makespan) * 1e9;  // in flops, at a nanosecond each
        const double share = static_cast<double>(size.work) / cores;
        const auto path = static_cast<double>(size.critical_path);
        ASSERT_GE(result.makespan, std::chrono::nanoseconds(size.critical_path)) << "seed " << seed;
        ASSERT_GE(result.makespan * cores, std::chrono::nanoseconds(size.work)) << "seed " << seed;
        ASSERT_LE(makespan, share + c * path) << "seed " << seed << ", " << cores << " cores";
        worst = std::max(worst, (makespan - share) / path);
    }
    RecordProperty("worst_constant", std::to_string(worst));
}

TEST(SimMakespan, StealingBetweenNodesKeepsToTheLowerBoundAndBeatsOneNode) {
    int programs = 0;
    for (std::uint64_t seed = 1; programs < 40; ++seed) {
        const RandomTree tree{seed * 104729, 10};
        const Measure size = measure(tree);
        if (size.tasks < 2000 || size.tasks > 20000) continue;
        ++programs;
        runtime::Schedule schedule;
        schedule.seed = seed;
        schedule.stealing.victim = seed % 3 == 0 ? "lifeline" : seed % 3 == 1 ? "hierarchical" : "random";
        const auto one = run(tree, ideal(1, 2), schedule);
        const auto four = run(tree, ideal(4, 2), schedule);
        ASSERT_GE(four.makespan, std::chrono::nanoseconds(size.critical_path)) << "seed " << seed;
        ASSERT_GE(four.makespan * 8, std::chrono::nanoseconds(size.work)) << "seed " << seed;
        ASSERT_LT(four.makespan, one.makespan) << "seed " << seed;
    }
}

}  // namespace
}  // namespace heddle
