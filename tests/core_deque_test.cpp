// Tests the slow path of a worker's deque: room, thieves that take the oldest, and what the owner takes back.
// With threads: core_deque_threads_test.cpp.
#include "runtime/core/deque.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace heddle {
namespace {

using runtime::Deque;
using runtime::Slot;

/// Pushes `tasks` tasks at `head`. Returns the head above them.
Slot* push(Deque& deque, Slot* head, std::uint32_t tasks) {
    for (std::uint32_t i = 0; i < tasks; ++i, ++head) EXPECT_TRUE(deque.has_room(head));
    return head;
}

TEST(Deque, HasRoomForWhatItWasMadeFor) {
    Deque deque(10, false);
    Slot* const head = push(deque, deque.base(), 10);
    EXPECT_EQ(deque.index(head), 10U);
    EXPECT_EQ(deque.slot(10), head);
    EXPECT_FALSE(deque.has_room(head));
}

TEST(Deque, GivesTheOlderHalfOldestFirst) {
    Deque deque(1000, false);
    Slot* const top = push(deque, deque.base(), 8);
    EXPECT_EQ(deque.publish(top), 4U);
    EXPECT_EQ(deque.shared(), 4U);
    std::vector<Slot*> taken;
    while (Slot* slot = deque.take()) taken.push_back(slot);
    const std::vector<Slot*> expected = {deque.slot(0), deque.slot(1), deque.slot(2), deque.slot(3)};
    EXPECT_EQ(taken, expected);
    EXPECT_EQ(deque.waiting(top), 4U);
    EXPECT_EQ(deque.reclaim(deque.slot(4)), Deque::Reclaimed::mine);
    EXPECT_EQ(deque.reclaim(deque.slot(3)), Deque::Reclaimed::taken);
}

TEST(Deque, ItsOwnerTakesHalfOfTheSharedTasksBack) {
    Deque deque(1000, false);
    Slot* const top = push(deque, deque.base(), 8);
    EXPECT_EQ(deque.publish(top), 4U);
    EXPECT_EQ(deque.reclaim(deque.slot(3)), Deque::Reclaimed::mine);
    EXPECT_EQ(deque.shared(), 1U);
}

TEST(Deque, KeepsUpToALimitShared) {
    Deque deque(1000, false);
    deque.keep_shared(3);
    Slot* const top = push(deque, deque.base(), 8);
    EXPECT_EQ(deque.publish(top), 3U);
    EXPECT_EQ(deque.publish(top), 0U);
    EXPECT_EQ(deque.take(), deque.slot(0));
    EXPECT_EQ(deque.publish(top), 1U) << "the oldest of the private tasks";
    EXPECT_EQ(deque.split(), 4U);
    EXPECT_EQ(deque.reclaim(deque.slot(4)), Deque::Reclaimed::mine);
    EXPECT_EQ(deque.reclaim(deque.slot(3)), Deque::Reclaimed::mine);
    EXPECT_EQ(deque.shared(), 2U) << "what is below it stays shared";
}

TEST(Deque, SendsOffATaskOnlyIfNoOtherWaits) {
    Deque deque(1000, false);
    Slot* const top = push(deque, deque.base(), 1);
    EXPECT_TRUE(deque.send_off(deque.slot(0)));
    EXPECT_TRUE(deque.send_off(top));
    EXPECT_EQ(deque.shared(), 0U);
    EXPECT_FALSE(deque.send_off(deque.slot(3))) << "a task waits in slot 2";
    EXPECT_EQ(deque.reclaim(deque.slot(1)), Deque::Reclaimed::taken);
    deque.release(deque.slot(1));
    EXPECT_EQ(deque.reclaim(deque.slot(0)), Deque::Reclaimed::taken);
}

TEST(Deque, GatesThatAreClosedOpenAfterAnAnswer) {
    Deque deque(1000, true);
    EXPECT_TRUE(deque.may_push(deque.base()));
    deque.ask();
    EXPECT_TRUE(deque.asked());
    EXPECT_FALSE(deque.may_push(deque.base()));
    EXPECT_FALSE(deque.may_pop(deque.base()));
    deque.answer();
    EXPECT_FALSE(deque.asked());
    EXPECT_TRUE(deque.may_push(deque.base()));

    Deque closed(1000, false);
    closed.answer();
    EXPECT_FALSE(closed.may_push(closed.base()));
    closed.allow_open();
    EXPECT_TRUE(closed.may_push(closed.base()));
}

}  // namespace
}  // namespace heddle
