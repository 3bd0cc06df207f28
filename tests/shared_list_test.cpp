// Tests the list of ready tasks that a node's workers share. It counts steps by the links that are read. A
// taker never finds the list empty while it has an element.
#include "runtime/sources/shared_list.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace heddle::runtime {
namespace {

/// A link that counts how often it is read.
template <class T>
class CountedLink {
public:
    CountedLink& operator=(T* to) {
        to_ = to;
        return *this;
    }
    operator T*() const {  // NOLINT(google-explicit-constructor): stands for a pointer
        ++reads;
        return to_;
    }
    static inline std::uint64_t reads = 0;

private:
    T* to_ = nullptr;
};

struct Counted {
    int value = 0;
    CountedLink<Counted> next;
    Counted* before = nullptr;
};

TEST(SharedList, TakesLinearlyManySteps) {
    constexpr std::uint64_t items = 100'000;
    WaitingCount size;
    SharedList<Counted> list(size);
    CountedLink<Counted>::reads = 0;
    for (std::uint64_t i = 0; i < items; ++i) list.put(std::make_unique<Counted>());
    for (std::uint64_t i = 0; i < items; ++i) ASSERT_TRUE(list.take());
    EXPECT_FALSE(list.take());
    EXPECT_LE(CountedLink<Counted>::reads, 4 * items);
}

TEST(SharedList, TakesLinearlyManyStepsWhilePutsGoOn) {
    constexpr std::uint64_t rounds = 10'000;
    WaitingCount size;
    SharedList<Counted> list(size);
    CountedLink<Counted>::reads = 0;
    std::uint64_t left = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        for (int i = 0; i < 3; ++i, ++left) list.put(std::make_unique<Counted>());
        ASSERT_TRUE(list.take());
        --left;
    }
    for (; left > 0; --left) ASSERT_TRUE(list.take());
    EXPECT_LE(CountedLink<Counted>::reads, 4 * 3 * rounds);
}

TEST(SharedList, GivesTheLatestFirst) {
    WaitingCount size;
    SharedList<Counted> list(size);
    for (int i = 0; i < 4; ++i) {
        auto item = std::make_unique<Counted>();
        item->value = i;
        list.put(std::move(item));
        if (i == 1) {
            EXPECT_EQ(list.take()->value, 1);
        }
    }
    EXPECT_EQ(list.take()->value, 3);
    EXPECT_EQ(list.take()->value, 2);
    EXPECT_EQ(list.take()->value, 0);
    EXPECT_EQ(list.size(), 0U);
}

// As many come as go, so that the first ones would stay for ever if only the latest went.
TEST(SharedList, GivesTheOldestNowAndThen) {
    WaitingCount size;
    SharedList<Counted> list(size);
    int next = 0;
    const auto put = [&] {
        auto item = std::make_unique<Counted>();
        item->value = next++;
        list.put(std::move(item));
    };
    constexpr int old = 5;
    for (int i = 0; i < old; ++i) put();
    int found = 0, taken = 0;
    for (; found < old && taken < 100'000; ++taken) {
        put();
        const auto item = list.take();
        ASSERT_TRUE(item);
        if (item->value < old) {
            EXPECT_EQ(item->value, found++);
        }
    }
    EXPECT_EQ(found, old);
    EXPECT_EQ(list.size(), 5U);
    for (int i = 0; i < old; ++i) EXPECT_TRUE(list.take());
    EXPECT_FALSE(list.take());
}

struct Plain {
    Plain* next = nullptr;
    Plain* before = nullptr;
};

// Each of two takers takes half of what is there. If a taker found the list empty while the other one has
// its rest in hand, it would fail.
TEST(SharedList, IsNeverFalselyEmpty) {
    constexpr int each = 20'000;
    for (int round = 0; round < 5; ++round) {
        WaitingCount size;
        SharedList<Plain> list(size);
        for (int i = 0; i < 2 * each; ++i) list.put(std::make_unique<Plain>());
        std::atomic<int> empty{0};
        const auto take = [&] {
            for (int i = 0; i < each; ++i)
                if (!list.take()) ++empty;
        };
        std::thread other(take);
        take();
        other.join();
        EXPECT_EQ(empty, 0);
        EXPECT_EQ(list.size(), 0U);
    }
}

}  // namespace
}  // namespace heddle::runtime
