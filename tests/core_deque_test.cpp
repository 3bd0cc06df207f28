// Tests the two kinds of slots of a worker's deque, a few dense ones on the heap and far ones in pages of
// their own: indices, room, thieves across the border. Programs that reserve slots run as without.
#include "runtime/deque.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "model/fork_join.hpp"
#include "runtime/execution.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"

namespace heddle {
namespace {

using model::Strand;
using runtime::Deque;
using runtime::Slot;

/// Pushes `tasks` tasks at `head`. Returns the head above them.
Slot* push(Deque& deque, Slot* head, std::uint32_t tasks) {
    head = deque.reserve(head, tasks);
    for (std::uint32_t i = 0; i < tasks; ++i, ++head) EXPECT_TRUE(deque.pushed(head));
    return head;
}

TEST(Deque, WhatFitsStaysDense) {
    Deque deque(1000, false, 16);
    Slot* const head = push(deque, deque.base(), 10);
    EXPECT_EQ(head, deque.base() + 10);
    EXPECT_EQ(push(deque, head, 6), deque.base() + 16);
}

TEST(Deque, WhatDoesNotFitIsFarAndCountsOn) {
    Deque deque(1000, false, 16);
    Slot* const frame = push(deque, deque.base(), 10);
    Slot* const begin = deque.reserve(frame, 7);
    EXPECT_NE(begin, frame);
    Slot* const top = push(deque, begin, 7);
    EXPECT_EQ(top, begin + 7);
    for (std::uint32_t i = 0; i < 17; ++i) {
        EXPECT_EQ(deque.index(deque.slot(i)), i);
        EXPECT_EQ(deque.slot(i), i < 10 ? deque.base() + i : begin + (i - 10));
    }
    EXPECT_EQ(deque.index(top), 17U);
    EXPECT_EQ(deque.waiting(top), 17U);
    // On the far slots nothing more needs to be reserved.
    EXPECT_EQ(push(deque, top, 900), top + 900);
}

TEST(Deque, OldestFirstAcrossTheBorder) {
    Deque deque(1000, false, 4);
    Slot* const frame = push(deque, deque.base(), 3);
    Slot* const begin = deque.reserve(frame, 5);
    Slot* const top = push(deque, begin, 5);
    EXPECT_EQ(deque.publish(top), 4U);
    std::vector<Slot*> taken;
    while (Slot* slot = deque.take()) taken.push_back(slot);
    const std::vector<Slot*> expected = {deque.base(), deque.base() + 1, deque.base() + 2, begin};
    EXPECT_EQ(taken, expected);
    EXPECT_EQ(deque.reclaim(begin), Deque::Reclaimed::taken);
    EXPECT_EQ(deque.reclaim(begin + 1), Deque::Reclaimed::mine);
}

TEST(Deque, IsDenseAgainWhereItsOwnerIs) {
    Deque deque(1000, false, 4);
    Slot* const frame = push(deque, deque.base(), 3);
    Slot* const far = deque.reserve(frame, 2);
    push(deque, far, 2);  // joined meanwhile
    EXPECT_EQ(push(deque, frame, 1), deque.base() + 4);
    EXPECT_EQ(deque.slot(3), deque.base() + 3);
}

TEST(Deque, RoomIsWhatWasReservedAndWhatThereIs) {
    Deque deque(10, false, 4);
    Slot* head = push(deque, deque.base(), 4);
    EXPECT_FALSE(deque.pushed(head));  // dense, and not reserved
    head = push(deque, head, 6);
    EXPECT_EQ(deque.index(head), 10U);
    EXPECT_FALSE(deque.pushed(head));  // full

    Deque small(2, false, 4);
    head = push(small, small.base(), 2);
    EXPECT_FALSE(small.pushed(head));
}

/// Forks as many children as its place in the tree says: few, or more than there are dense slots.
template <bool reserve>
struct Uneven {
    static std::uint64_t run(Strand strand, std::uint32_t number, std::uint32_t depth) {
        strand.work();
        if (depth == 0) return 1;
        const std::uint32_t children = number % 7 == 3 ? 90 : number % 5;
        if (reserve) strand.reserve(children);
        for (std::uint32_t i = 0; i < children; ++i) strand.fork<Uneven>(3 * number + i, depth - 1);
        std::uint64_t sum = 1;
        for (std::uint32_t i = 0; i < children; ++i) sum += strand.join<Uneven>();
        return sum;
    }
};

std::uint64_t tasks_below(std::uint32_t number, std::uint32_t depth) {
    if (depth == 0) return 1;
    const std::uint32_t children = number % 7 == 3 ? 90 : number % 5;
    std::uint64_t sum = 1;
    for (std::uint32_t i = 0; i < children; ++i) sum += tasks_below(3 * number + i, depth - 1);
    return sum;
}

template <bool reserve>
class UnevenProgram final : public model::ForkJoinProgram {
public:
    explicit UnevenProgram(bool claims) : claims_(claims) {}
    bool reserves() const override { return claims_; }
    runtime::Work unit() const override { return {1, 0}; }
    void root(Strand strand) override {
        answer_ = {{"tasks", static_cast<double>(strand.call<Uneven<reserve>>(3U, 3U))}};
    }
    runtime::Answer answer() const override { return answer_; }

private:
    bool claims_;
    runtime::Answer answer_;
};

template <bool reserve>
runtime::RunResult run(const inprocess::Options& options, bool claims) {
    runtime::Schedule schedule;
    schedule.seed = options.seed;
    schedule.stealing.victim = "hierarchical";
    schedule.stealing.amount = runtime::Stealing::Amount::half;
    schedule.stealing.back_off_min = std::chrono::nanoseconds(2);
    schedule.stealing.back_off_max = std::chrono::nanoseconds(50);
    inprocess::InprocessBackend backend(options);
    runtime::Execution execution(backend, schedule,
                                 [&](NodeId) { return std::make_unique<UnevenProgram<reserve>>(claims); });
    return execution.run();
}

TEST(Deque, ProgramsThatReserveRunAsTheyDoWithout) {
    const auto expected = static_cast<double>(tasks_below(3, 3));
    std::uint64_t steals = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const inprocess::Options options{3, 2, seed, false};
        const auto told = [&](const runtime::RunResult& result) {
            steals += result.total.steals_within_node + result.total.steals_between_nodes;
            EXPECT_EQ(result.answer.at(0).value, expected);
            return std::tuple(result.makespan, result.steals, result.total.steals_within_node,
                              result.total.messages);
        };
        const auto without = told(run<false>(options, false));
        EXPECT_EQ(without, told(run<true>(options, false)));
        EXPECT_EQ(without, told(run<true>(options, true)));
    }
    EXPECT_GT(steals, 1000U);
}

TEST(Deque, ForksThatWereNotReservedAreAnError) {
    try {
        run<false>({1, 1, 0, false}, true);
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("Strand::reserve"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace heddle
