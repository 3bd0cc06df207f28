// Tests the errors for mistakes in programs. Forks are not joined, two functions have one name, or a fiber
// begins while its thread terminates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "model/earth/frame.hpp"
#include "model/fork_join.hpp"
#include "runtime/core/registry.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"

namespace heddle {
namespace {

using model::Strand;

struct ForgottenLeaf {
    static int run(Strand strand) {
        strand.work();
        return 1;
    }
};

struct ForgetsTwo {
    static int run(Strand strand) {
        for (int i = 0; i < 3; ++i) strand.fork<ForgottenLeaf>();
        return strand.join<ForgottenLeaf>();
    }
};

class Calls final : public model::ForkJoinProgram {
public:
    explicit Calls(std::function<void(Strand)> function) : function_(std::move(function)) {}
    runtime::Work unit() const override { return {1, 0}; }
    void root(Strand strand) override { function_(strand); }
    runtime::Answer answer() const override { return {}; }

private:
    std::function<void(Strand)> function_;
};

std::string error_of(runtime::Backend& backend, const std::function<void(Strand)>& function) {
    try {
        runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<Calls>(function); }).run();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

void expect_refused(const std::function<void(Strand)>& function, const std::string& expected) {
    for (const bool gate_open : {false, true}) {
        for (const CoreId cores : {CoreId{1}, CoreId{2}}) {
            inprocess::Options options;
            options.nodes = 1;
            options.cores = cores;
            options.gate_open = gate_open;
            inprocess::InprocessBackend backend(options);
            EXPECT_THAT(error_of(backend, function), testing::HasSubstr(expected));
        }
    }
    native::NativeOptions options;
    options.cores = 1;
    native::NativeBackend backend(options);
    EXPECT_THAT(error_of(backend, function), testing::HasSubstr(expected));
}

TEST(UnjoinedForks, OfTheRootAreAnError) {
    expect_refused(
        [](Strand strand) {
            for (int i = 0; i < 5; ++i) strand.fork<ForgottenLeaf>();
        },
        "5 forked tasks were never joined");
}

TEST(UnjoinedForks, OfAFunctionThatWasCalledAreAnErrorThatNamesThem) {
    expect_refused(
        [](Strand strand) {
            strand.fork<ForgottenLeaf>();
            (void)strand.call<ForgetsTwo>();
            (void)strand.join<ForgottenLeaf>();
        },
        "ForgottenLeaf");
}

TEST(UnjoinedForks, OfAFunctionThatWasForkedAreAnError) {
    expect_refused(
        [](Strand strand) {
            strand.fork<ForgetsTwo>();
            (void)strand.join<ForgetsTwo>();
        },
        "2 forked tasks were never joined");
}

struct Named {
    static constexpr const char* plural = "names";
    std::string text;
    const std::string& name() const { return text; }
};

TEST(Registry, RefusesTwoOfOneNameAsTheProgramsMistake) {
    static const Named first{"N3one4NameE"}, second{"N3one4NameE"};
    runtime::Registry<Named>::add(first);
    runtime::Registry<Named>::add(second);
    try {
        (void)runtime::Registry<Named>::sorted();
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("two names"));
        EXPECT_THAT(error.what(), testing::HasSubstr("one::Name"));
    }
}

// Two fibers are counted when both have begun: exactly one end, the last, frees the frame.
TEST(Frame, CountsAFiberThatIsScheduledWhileItsThreadTerminates) {
    const model::earth::FunctionInfo function{"f", 64, alignof(void*)};
    std::atomic<int> begun{0}, ready{0};
    constexpr int rounds = 20'000;
    std::atomic<model::earth::Frame*> shared{nullptr};
    std::thread other([&] {
        for (int round = 1; round <= rounds; ++round) {
            while (begun.load() != round) std::this_thread::yield();
            shared.load()->fiber_scheduled();
            ready.store(round);
        }
    });
    for (int round = 1; round <= rounds; ++round) {
        model::earth::Frame frame(function);
        shared.store(&frame);
        begun.store(round);
        frame.terminate();
        while (ready.load() != round) std::this_thread::yield();
        const int ends = int{frame.fiber_ended()} + int{frame.fiber_ended()};
        ASSERT_EQ(ends, 1) << "round " << round;
    }
    other.join();
}

}  // namespace
}  // namespace heddle
