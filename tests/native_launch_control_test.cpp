// Tests that a launch which ends answers at once those that wait for more processes.
#include "runtime/native/launch_control.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "tests/native_testing.hpp"

namespace heddle::native {

using namespace std::chrono_literals;

TEST(NativeLaunchControl, AQueueThatClosesAnswersAllThatWait) {
    StartQueue queue(Places(1, 3));
    auto answer = std::async(std::launch::async, [&] { return queue.ask_and_wait(1); });
    pollfd entry{queue.event().get(), POLLIN, 0};
    ASSERT_EQ(poll(&entry, 1, 10'000), 1);
    const auto begin = Clock::now();
    queue.close();
    EXPECT_EQ(answer.get(), "-the run is about to end");
    EXPECT_EQ(queue.ask_and_wait(1), "-the run is about to end");
    EXPECT_LT(Clock::now() - begin, 1s);
    queue.serve([](NodeId) -> std::string { throw Error("the queue is closed"); });
}

// As a launch that waits to write to a standard error that is full.
TEST(NativeLaunchControl, ARequestThatWasRefusedStartsNothingLater) {
    StartQueue queue(Places(1, 3));
    EXPECT_NE(queue.ask_and_wait(1, 50ms).find("-the launch does not answer"), std::string::npos);
    int started = 0;
    queue.serve([&](NodeId) -> std::string {
        ++started;
        return "here";
    });
    EXPECT_EQ(started, 0);
}

TEST(NativeLaunchControl, ARequestThatIsBeingServedIsWaitedFor) {
    StartQueue queue(Places(1, 3));
    // Long enough to be served in time on a busy machine.
    auto answer = std::async(std::launch::async, [&] { return queue.ask_and_wait(1, 3s); });
    pollfd entry{queue.event().get(), POLLIN, 0};
    ASSERT_EQ(poll(&entry, 1, 10'000), 1);
    queue.serve([](NodeId) -> std::string {
        std::this_thread::sleep_for(3200ms);
        return "here";
    });
    EXPECT_EQ(answer.get(), "+node 1 was started here");
}

// As a launch whose folder was removed since: std::filesystem throws no Error.
TEST(NativeLaunchControl, WhateverKeepsANodeFromStartingIsAnswered) {
    StartQueue queue(Places(1, 4));
    const auto answer_if_second_throws = [&](const std::function<void()>& fail) {
        auto answer = std::async(std::launch::async, [&] { return queue.ask_and_wait(2); });
        pollfd entry{queue.event().get(), POLLIN, 0};
        EXPECT_EQ(poll(&entry, 1, 10'000), 1);
        bool first = true;
        queue.serve([&](NodeId) -> std::string {
            if (!std::exchange(first, false)) fail();
            return "here";
        });
        return answer.get();
    };
    EXPECT_EQ(answer_if_second_throws([] { throw std::runtime_error("no folder"); }),
              "-node 1 was started here; then: no folder");
    EXPECT_EQ(answer_if_second_throws([] { throw Error("no process"); }),
              "-node 2 was started here; then: no process");
}

// As a launch whose nodes fail while a user asks it for more.
TEST(NativeLaunchControl, ALaunchDoesNotOutliveItsRunForAnAsker) {
    StartQueue queue(Places(1, 3));
    const std::string name = "closing" + std::to_string(getpid());
    std::optional<LaunchControl> control(std::in_place, name, queue);
    auto error = std::async(std::launch::async, [&] { return error_of([&] { (void)join_run(name, 1); }); });
    pollfd entry{queue.event().get(), POLLIN, 0};
    ASSERT_EQ(poll(&entry, 1, 10'000), 1);
    const auto begin = Clock::now();
    control.reset();
    EXPECT_LT(Clock::now() - begin, 1s);
    EXPECT_NE(error.get().find("the run is about to end"), std::string::npos);
}

}  // namespace heddle::native
