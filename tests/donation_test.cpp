// Tests donation, a form of stealing: a node gives half of all tasks that wait with its workers, from each in
// turn. All workers of the thief get some.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <vector>

#include "model/fork_join.hpp"
#include "runtime/core/node.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/sources/task_lists.hpp"

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

/// The workers of node 0 fork 7, 0, 4 and 1 tasks. The first then gives node 1 half of all.
class ListsProgram final : public runtime::Program {
public:
    explicit ListsProgram(std::vector<Taken>& where) : taken(where) {}
    runtime::Work unit() const override { return {1000, 0}; }
    void begin(runtime::Worker& worker) override;
    runtime::Answer answer() const override { return {}; }

    std::vector<Taken>& taken;

private:
    std::uint32_t forked_ = 0;
    bool given_ = false;
};

struct ListTask {
    static void run(Strand strand, CoreId from) {
        const WorkerId here = strand.worker().id;
        if (here.node == 1) strand.program<ListsProgram>().taken.push_back({from, here.core});
        strand.work();
    }
};

void ListsProgram::begin(runtime::Worker& worker) {
    if (worker.id.node != 0) return;
    constexpr std::array<std::int32_t, 4> lengths{7, 0, 4, 1};
    const std::int32_t length = lengths.at(worker.id.core);
    Strand strand(worker);
    for (std::int32_t i = 0; i < length; ++i) strand.fork<ListTask>(worker.id.core);
    ++forked_;
    while (worker.id.core == 0 ? forked_ < lengths.size() : !given_) worker.charge(Time(1));
    if (worker.id.core == 0) {
        EXPECT_EQ(worker.node().steals().give_away(worker.outbox(), 1), 6U);
        given_ = true;
    }
    for (std::int32_t i = 0; i < length; ++i) strand.join<ListTask>();
}

TEST(Donation, IsHalfOfAllListsOneByOneFromEach) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        runtime::Schedule schedule;
        schedule.seed = seed;
        schedule.stealing.victim = "none";
        schedule.stealing.amount = Stealing::Amount::donation;
        inprocess::InprocessBackend backend({.nodes = 2, .cores = 4, .seed = seed, .gate_open = false});
        std::vector<Taken> taken;
        runtime::Execution(backend, schedule, [&](NodeId) {
            return std::make_unique<ListsProgram>(taken);
        }).run();
        std::array<std::uint32_t, 4> of_list{};
        for (const Taken& task : taken) ++of_list.at(task.from);
        EXPECT_EQ(of_list, (std::array<std::uint32_t, 4>{3, 0, 2, 1})) << "seed " << seed;
    }
}

// Numbers of the tasks that each worker finds first, when seven come to three workers.
class Dealt final : public runtime::Program {
public:
    explicit Dealt(std::vector<std::vector<std::uint32_t>>& found) : found_(found) {}
    void begin(runtime::Worker&) override {}
    runtime::Answer answer() const override { return {}; }

    void set_up(runtime::Node& node) override {
        struct Lists final : runtime::TaskLists {
            using TaskLists::take;
            using TaskLists::TaskLists;
        };
        Lists lists(node, 3);
        for (std::uint32_t number = 0; number < 7; ++number) {
            auto task = std::make_unique<runtime::Token>();
            task->home.index = number;
            lists.put(std::move(task));
        }
        found_.resize(3);
        for (CoreId core = 0; core < 3; ++core)
            for (int i = 0; i < 2; ++i) found_[core].push_back(lists.take(core)->home.index);
        found_[0].push_back(lists.take(2)->home.index);  // the last of any list
        EXPECT_EQ(lists.take(0), nullptr);
    }

private:
    std::vector<std::vector<std::uint32_t>>& found_;
};

TEST(Donation, TasksAreDealtInTurn) {
    std::vector<std::vector<std::uint32_t>> found;
    inprocess::InprocessBackend backend({.nodes = 1, .cores = 1});
    runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<Dealt>(found); }).run();
    EXPECT_EQ(found, (std::vector<std::vector<std::uint32_t>>{{6, 3, 0}, {4, 1}, {5, 2}}));
}

}  // namespace
}  // namespace heddle
