// Tests simulated workers on small stacks, which get a large stack when their recursion is deep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "sim/stacks.hpp"
#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

/// As Script, and with tasks that say that they need little stack.
class ShallowScript final : public runtime::NodeProgram {
public:
    using Body = std::function<void(Context&)>;

    ShallowScript(CoreId cores, Body body) : contexts_(cores + 1), body_(std::move(body)) {}

    Context& context(CoreId core) override { return contexts_[core]; }
    void work(CoreId core) override { body_(contexts_[core]); }
    void deliver(NodeId, std::span<const std::byte>, runtime::Body) override {}
    bool shallow() const override { return true; }

private:
    std::deque<Context> contexts_;
    Body body_;
};

void run_shallow(const Platform& platform, const ShallowScript::Body& body, const SimOptions& options = {}) {
    SimBackend backend(platform, options);
    std::vector<std::unique_ptr<ShallowScript>> scripts;
    backend.run([&](NodeId) -> runtime::NodeProgram& {
        return *scripts.emplace_back(std::make_unique<ShallowScript>(platform.cores, body));
    });
}

/// Counts how many of it are alive.
struct Alive {
    explicit Alive(int& of) : count(of) { ++count; }
    Alive(const Alive&) = delete;
    Alive& operator=(const Alive&) = delete;
    ~Alive() { --count; }
    int& count;
};

/// Tasks one above the other, as the scheduler runs them; `at_the_top` in the last.
void nest(Context& context, int depth, const std::function<void()>& at_the_top, int& alive) {
    if (context.below_floor())
        return context.backend->on_large_stack(context, [&] { nest(context, depth, at_the_top, alive); });
    const Alive here(alive);
    volatile char frame[400];
    for (volatile char& byte : frame) byte = 1;
    if (depth == 0) return at_the_top();
    nest(context, depth - 1, at_the_top, alive);
}

// 2000 frames of 400 bytes and more are 800 KB. Each worker works for 3 us at the top and 1 us at the bottom.
TEST(SimStacks, DeepTasksGoOnOnALargeStackAndComeBack) {
    int alive = 0;
    std::vector<Time> ends;
    run_shallow(ideal(3, 2), [&](Context& context) {
        const void* const floor = context.stack_floor;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        EXPECT_NE(floor, nullptr);  // or all stacks are large, and this shows nothing
#endif
        for (int round = 0; round < 2; ++round) {
            nest(
                context, 2000,
                [&] {
                    for (int i = 0; i < 3; ++i) compute(context, busy(us(1)));
                },
                alive);
            EXPECT_EQ(context.stack_floor, floor);
            compute(context, busy(us(1)));
        }
        ends.push_back(now(context));
    });
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(ends, std::vector<Time>(6, us(8)));
}

TEST(SimStacks, WhatIsThrownOnALargeStackComesOut) {
    int alive = 0;
    int caught = 0;
    const auto body = [&](Context& context) {
        const auto fail = [&] {
            compute(context, busy(us(1)));
            throw Error("too deep");
        };
        if (context.id.node == 0) return nest(context, 2000, fail, alive);
        try {
            nest(context, 2000, fail, alive);
        } catch (const Error&) {
            ++caught;
        }
        compute(context, busy(ns(100)));
    };
    Platform platform = ideal(2, 1);
    platform.node_speeds = {0.5, 1};  // so that node 1 is first
    EXPECT_THROW(run_shallow(platform, body), Error);
    EXPECT_EQ(caught, 1);
    EXPECT_EQ(alive, 0);
}

// One worker fails while the other one waits far up on its large stack: what is on both its stacks is
// destroyed.
TEST(SimStacks, AnAbandonedWorkerIsUnwoundOnBothStacks) {
    int alive = 0;
    int highest = 0;
    const auto body = [&](Context& context) {
        if (context.id.core == 1) {
            compute(context, busy(us(5)));
            throw Error("enough");
        }
        nest(
            context, 2000,
            [&] {
                highest = alive;
                compute(context, busy(us(10)));
            },
            alive);
    };
    EXPECT_THROW(run_shallow(ideal(1, 2), body), Error);
    EXPECT_EQ(highest, 2001);
    EXPECT_EQ(alive, 0);
}

// A binomial tree of 324 levels (a sequential search, which also checks the counts); its tasks are joined on
// the way up, by their own worker or another.
TEST(SimStacks, ADeepTreeIsSearchedOnBothStacks) {
    const std::map<std::string, std::string> tree = {
        {"type", "binomial"}, {"branching", "500"},   {"children", "6"},      {"probability", "0.164"},
        {"root_seed", "2"},   {"unit_cost", "1000f"}, {"check", "sequential"}};
    for (const std::uint64_t seed : {1, 2, 3}) {
        runtime::Schedule schedule;
        schedule.seed = seed;
        const auto result = simulate({"uts", tree}, ideal(4, 2), schedule);
        double depth = 0;
        for (const auto& value : result.answer)
            if (value.name == "depth") depth = value.value;
        EXPECT_EQ(depth, 324);
    }
}

TEST(SimStacks, WritingBelowASmallStackIsNoticed) {
    Stacks stacks(3, 1U << 20);
    boost::context::stack_context stack;
    for (int i = 0; i < 3; ++i) stack = stacks.next_small();
    auto* const bottom = static_cast<char*>(stack.sp) - stack.size;
    bottom[0] = 1;
    EXPECT_TRUE(stacks.small_ones_held());
    // How far below is not known: all of what lies between two stacks.
    for (int i = 1; i <= 2048 && stacks.small_ones_held(); ++i) bottom[-i] = 1;
    EXPECT_FALSE(stacks.small_ones_held());
}

TEST(SimStacks, SmallStacksDoNotOverlap) {
    Stacks stacks(100, 1U << 20);
    const char* before = nullptr;
    for (int i = 0; i < 100; ++i) {
        const boost::context::stack_context stack = stacks.next_small();
        const char* const bottom = static_cast<const char*>(stack.sp) - stack.size;
        EXPECT_TRUE(before == nullptr || bottom >= before);
        EXPECT_EQ(stack.size, Stacks::small_bytes);
        before = static_cast<const char*>(stack.sp);
    }
}

}  // namespace
}  // namespace heddle::sim::testing
