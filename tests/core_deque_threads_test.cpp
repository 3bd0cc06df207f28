// Tests a deque whose owner and thieves are threads. Each task runs once, and sees what its owner wrote. The
// owner gets each result.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "base/relax.hpp"
#include "runtime/core/deque.hpp"

namespace heddle {
namespace {

using runtime::Deque;
using runtime::Slot;

/// What the tasks of a test have seen.
struct Runs {
    explicit Runs(std::size_t tasks) : times(tasks) {}

    void run(std::uint64_t task) { times[task].fetch_add(1, std::memory_order_relaxed); }

    std::vector<std::atomic<std::uint32_t>> times;
};

/// The owner, as a worker's push and pop are (runtime/core/worker.cpp).
class Owner {
public:
    Owner(Deque& deque, Runs& runs) : deque_(deque), runs_(runs), head_(deque.base()) {}

    void push(std::uint64_t task) {
        std::memcpy(head_->payload, &task, sizeof task);
        if (!deque_.may_push(head_)) {
            ASSERT_TRUE(deque_.has_room(head_));
            serve(head_ + 1);
        }
        ++head_;
    }

    void pop() {
        Slot* const slot = --head_;
        if (!deque_.may_pop(slot)) {
            serve(slot);
            if (deque_.reclaim(slot) == Deque::Reclaimed::taken) return join(slot);
        }
        std::uint64_t task = 0;
        std::memcpy(&task, slot->payload, sizeof task);
        runs_.run(task);
    }

    std::uint32_t tasks() const { return deque_.index(head_); }
    std::uint32_t joined() const { return joined_; }

private:
    void serve(const Slot* head) {
        if (deque_.asked() && (deque_.publish(head) != 0 || deque_.shared() != 0)) deque_.answer();
        deque_.reopen();
    }

    void join(Slot* slot) {
        for (Patience patience; slot->state.load(std::memory_order_acquire) != Slot::done; patience.wait()) {
        }
        std::uint64_t result = 0;
        std::memcpy(&result, slot->payload, sizeof result);
        EXPECT_EQ(result, ~std::uint64_t{0}) << "the thief's result";
        deque_.release(slot);
        ++joined_;
    }

    Deque& deque_;
    Runs& runs_;
    Slot* head_;
    std::uint32_t joined_ = 0;
};

void steal(Deque& deque, Runs& runs, const std::atomic<bool>& over) {
    while (!over) {
        if (deque.shared() == 0) {
            deque.ask();
            std::this_thread::yield();
            continue;
        }
        Slot* const slot = deque.take();
        if (!slot) continue;
        std::uint64_t task = 0;
        std::memcpy(&task, slot->payload, sizeof task);
        runs.run(task);
        std::memset(slot->payload, 0xff, sizeof task);
        slot->state.store(Slot::done, std::memory_order_seq_cst);
    }
}

/// Returns how many tasks the owner got back from thieves.
std::uint32_t test(std::uint64_t seed, bool gate_open, std::uint32_t thieves) {
    SCOPED_TRACE(seed);
    constexpr std::uint32_t tasks = 20'000;
    Deque deque(4096, gate_open);
    Runs runs(tasks);
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < thieves; ++i) threads.emplace_back([&] { steal(deque, runs, over); });
    Owner owner(deque, runs);
    Random random(seed);
    for (std::uint64_t task = 0; task < tasks;) {
        // Now deeper, now less deep: the owner meets thieves at the bottom too.
        const std::uint64_t most = random.below(100) == 0 ? 1000 : 6;
        for (std::uint64_t i = random.below(most); i > 0 && task < tasks && owner.tasks() < 4000; --i)
            owner.push(task++);
        for (std::uint64_t i = random.below(most); i > 0 && owner.tasks() > 0; --i) owner.pop();
        if (random.below(64) == 0) std::this_thread::yield();
    }
    while (owner.tasks() > 0) owner.pop();
    over = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(deque.shared(), 0U);
    for (const auto& times : runs.times) EXPECT_EQ(times.load(), 1U);
    return owner.joined();
}

TEST(DequeThreads, EachTaskRunsOnce) {
    EXPECT_EQ(test(1, true, 0), 0U);
    std::uint32_t joined = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        joined += test(seed, seed % 2 == 0, static_cast<std::uint32_t>(1 + seed % 3));
    EXPECT_GT(joined, 0U) << "thieves met the owner";
}

}  // namespace
}  // namespace heddle
