// Tests the schedule's rules for forks. They are sent along the tree of workers at the start
// (schedule.start), or called while enough tasks wait (schedule.pruning). Every workload of fork/join gives
// its answer, in-process and natively.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/fork_join.hpp"
#include "runtime/core/fork_rules.hpp"
#include "runtime/native/native_backend.hpp"
#include "tests/faulty_workloads.hpp"
#include "tests/seeds.hpp"

namespace heddle {
namespace {

using model::Strand;
using runtime::Pruning;
using runtime::Schedule;
using runtime::Start;
using runtime::StartShare;
using testing_faults::SmallRun;

const std::vector<SmallRun> fork_join = {
    {"fib", {{"n", "11"}}},          {"nqueens", {{"n", "5"}}},
    {"uts", {{"depth", "2"}}},       {"quadrature", {{"tolerance", "1e9"}}},
    {"filament_fib", {{"n", "11"}}}, {"quadrature", {{"tolerance", "1e9"}, {"rule", "simpson"}}},
};

Pruning pruning(Pruning::Policy policy, std::uint32_t threshold) {
    return {policy, threshold};
}

// --- the tree of workers

/// Gives each worker of the share to `seen` once, and returns how many forks the last of them waits for.
std::uint32_t spread(StartShare share, std::multiset<std::pair<NodeId, CoreId>>& seen) {
    seen.emplace(share.node, share.core);
    std::uint32_t longest = 0;
    for (std::uint32_t forks = 1; share.spreads(); ++forks)
        longest = std::max(longest, forks + spread(share.split(), seen));
    return longest;
}

std::uint32_t halvings(std::uint32_t count) {
    return static_cast<std::uint32_t>(std::bit_width(count - 1));
}

TEST(StartTree, ReachesEachWorkerOnce) {
    for (NodeId nodes = 1; nodes <= 17; ++nodes) {
        for (CoreId cores = 1; cores <= 9; ++cores) {
            std::multiset<std::pair<NodeId, CoreId>> seen;
            const std::uint32_t longest = spread({0, nodes, 0, cores}, seen);
            EXPECT_EQ(seen.size(), std::size_t{nodes} * cores);
            EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size());
            EXPECT_EQ(seen.rbegin()->first, nodes - 1);
            EXPECT_EQ(
                std::max_element(seen.begin(), seen.end(), [](auto a, auto b) { return a.second < b.second; })
                    ->second,
                cores - 1);
            EXPECT_LE(longest, halvings(nodes) + halvings(cores)) << nodes << " x " << cores;
        }
    }
}

/// fib, which notes the workers that its calls have run on.
class MarkedFibProgram final : public model::ForkJoinProgram {
public:
    using Marks = std::array<std::atomic<std::uint64_t>, 16>;

    explicit MarkedFibProgram(Marks& marks, CoreId cores) : marks_(marks), cores_(cores) {}
    runtime::Work unit() const override { return {1, 0}; }
    void root(Strand strand) override;
    runtime::Answer answer() const override { return answer_; }
    void mark(WorkerId worker) { marks_.at(std::size_t{worker.node} * cores_ + worker.core).fetch_add(1); }

private:
    Marks& marks_;
    CoreId cores_;
    runtime::Answer answer_;
};

struct MarkedFib {
    static std::uint64_t run(Strand strand, std::uint32_t n) {
        strand.work();
        strand.program<MarkedFibProgram>().mark(strand.worker().id);
        if (n < 2) return n;
        strand.fork<MarkedFib>(n - 1);
        const auto second = strand.call<MarkedFib>(n - 2);
        return strand.join<MarkedFib>() + second;
    }
};

void MarkedFibProgram::root(Strand strand) {
    answer_ = {{"value", static_cast<double>(strand.call<MarkedFib>(15U))}};
}

/// Expects that all workers have run calls, without stealing.
void expect_all_have_work(runtime::Backend& backend, std::uint64_t seed) {
    const runtime::Topology& topology = backend.topology();
    Schedule schedule;
    schedule.seed = seed;
    schedule.start = Start::tree;
    schedule.stealing.victim = "none";
    MarkedFibProgram::Marks marks{};
    const auto make = [&](NodeId) { return std::make_unique<MarkedFibProgram>(marks, topology.cores); };
    const auto result = runtime::Execution(backend, schedule, make).run();
    EXPECT_EQ(result.answer.at(0).value, 610);
    EXPECT_EQ(result.total.tasks, 987U);
    for (std::size_t worker = 0; worker < std::size_t{topology.nodes} * topology.cores; ++worker)
        EXPECT_GT(marks.at(worker), 0U) << "worker " << worker << ", seed " << seed;
}

TEST(StartTree, AloneGivesAllWorkersWork) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        for (const bool gate_open : {false, true}) {
            inprocess::InprocessBackend backend({5, 3, seed, gate_open});
            expect_all_have_work(backend, seed);
        }
    }
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        native::NativeOptions options;
        options.cores = 4;
        native::NativeBackend backend(options);
        expect_all_have_work(backend, seed);
    }
}

// --- pruning

struct Words {
    static std::string run(Strand strand, std::string prefix, std::uint32_t depth) {
        strand.work();
        if (depth == 0) return prefix + ";";
        strand.fork<Words>(prefix + "a, an argument that does not lie in the slot", depth - 1);
        strand.fork<Words>(prefix + "b", depth - 1);
        const std::string last = strand.join<Words>();
        return strand.join<Words>() + last;
    }
};

struct Pointed {
    static std::uint64_t run(Strand strand, const std::uint64_t* values, std::uint32_t count) {
        strand.work();
        if (count == 1) return *values;
        strand.fork<Pointed>(values, count / 2);
        const auto right = strand.call<Pointed>(values + count / 2, count - count / 2);
        return strand.join<Pointed>() + right;
    }
};

class FunctionProgram final : public model::ForkJoinProgram {
public:
    explicit FunctionProgram(std::function<double(Strand)> function) : function_(std::move(function)) {}
    runtime::Work unit() const override { return {1, 0}; }
    void root(Strand strand) override { answer_ = {{"value", function_(strand)}}; }
    runtime::Answer answer() const override { return answer_; }

private:
    std::function<double(Strand)> function_;
    runtime::Answer answer_;
};

double run(const inprocess::Options& options, const Schedule& schedule,
           const std::function<double(Strand)>& function) {
    inprocess::InprocessBackend backend(options);
    runtime::Execution execution(backend, schedule,
                                 [&](NodeId) { return std::make_unique<FunctionProgram>(function); });
    return execution.run().answer.at(0).value;
}

TEST(Pruning, CallsWithArgumentsAndResultsOfEveryKind) {
    const auto words = [](Strand strand) {
        return static_cast<double>(std::hash<std::string>()(strand.call<Words>(std::string(), 5U)) % 1000003);
    };
    std::vector<std::uint64_t> values(100);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i;
    const auto pointed = [&](Strand strand) {
        return static_cast<double>(strand.call<Pointed>(values.data(), 100U));
    };
    const double expected = run({1, 1}, {}, words);
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        Schedule schedule;
        schedule.seed = seed;
        schedule.pruning = pruning(Pruning::Policy::queue_length, static_cast<std::uint32_t>(1 + seed % 3));
        if (seed % 2 == 0) schedule.start = Start::tree;
        EXPECT_EQ(run({3, 2, seed, seed % 5 == 0}, schedule, words), expected) << seed;
        EXPECT_EQ(run({1, 3, seed, seed % 5 == 0}, schedule, pointed), 4950) << seed;
    }
}

TEST(ForkRules, EachAnswerIsRightOnEachMachine) {
    std::uint64_t fewer = 0;
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(900); ++seed) {
        const SmallRun& stated = fork_join[seed % fork_join.size()];
        auto [options, schedule] = testing_faults::draw_machine(seed);
        schedule.start = Start::tree;
        schedule.pruning =
            pruning(seed % 2 == 0 ? Pruning::Policy::queue_length : Pruning::Policy::node_length,
                    static_cast<std::uint32_t>(1 + seed % 4));
        SCOPED_TRACE(stated.name + ", seed " + std::to_string(seed));
        const auto pruned = testing_faults::run(stated, options, schedule);
        schedule.pruning = {};
        const auto whole = testing_faults::run(stated, options, schedule);
        EXPECT_LE(pruned.total.tasks, whole.total.tasks);
        fewer += pruned.total.tasks < whole.total.tasks ? 1 : 0;
        ASSERT_FALSE(testing::Test::HasFailure());
    }
    EXPECT_GT(fewer, testing_seeds::seeds(450));
}

// --- natively

runtime::RunResult run_natively(const SmallRun& stated, CoreId cores, const Schedule& schedule) {
    const auto& kind = workloads::find(stated.name);
    Settings settings(kind.settings);
    for (const auto& [key, value] : stated.settings) settings.set(key, value);
    const auto workload = kind.make(settings);
    native::NativeOptions options;
    options.cores = cores;
    native::NativeBackend backend(options);
    workload->prepare({{1, cores}}, schedule);
    runtime::Execution execution(backend, schedule, [&](NodeId id) { return workload->program(id); });
    auto result = execution.run();
    const auto verdict = workload->check(result);
    EXPECT_EQ(verdict.kind, workloads::Verdict::Kind::right) << stated.name << ": " << verdict.reason;
    return result;
}

// Where several workers run, how many tasks there are depends on how often thieves come.
TEST(PruningNative, MakesAHundredTimesFewerTasks) {
    for (const auto policy : {Pruning::Policy::queue_length, Pruning::Policy::node_length}) {
        Schedule schedule;
        schedule.pruning = pruning(policy, 2);
        const SmallRun fib{"fib", {{"n", "30"}}};
        const auto alone = run_natively(fib, 1, schedule);
        EXPECT_EQ(alone.total.tasks, 408U);  // of fib(31) = 1,346,269
        EXPECT_LT(run_natively(fib, 2, schedule).total.tasks, 1'346'269U / 2);
    }
}

TEST(ForkRulesNative, EachAnswerIsRight) {
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
        Schedule schedule;
        schedule.seed = seed;
        if (seed % 3 != 0) schedule.start = Start::tree;
        schedule.pruning = {static_cast<Pruning::Policy>(seed % 3), static_cast<std::uint32_t>(1 + seed % 5)};
        run_natively(fork_join[seed % fork_join.size()], static_cast<CoreId>(1 + seed % 4), schedule);
    }
}

}  // namespace
}  // namespace heddle
