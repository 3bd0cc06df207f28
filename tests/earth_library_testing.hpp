// For tests: EARTH programs whose `main` is a function, with a state that all nodes share, because they are
// in one process.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "model/earth.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"

namespace heddle::earth_testing {

using namespace model::earth;

/// Orders of events in which a test runs.
constexpr std::uint64_t seeds = 100;

template <class State>
class TestProgram final : public Program {
public:
    using Main = void (*)(Em);

    TestProgram(State& its_state, Main its_main) : Program(true), state(its_state), main_(its_main) {}

    void main(Em em) override { main_(em); }
    runtime::Answer answer() const override {
        return {{"unterminated", static_cast<double>(unterminated())}};
    }

    State& state;

private:
    Main main_;
};

template <class State>
State& state(Em em) {
    return em.program<TestProgram<State>>().state;
}

/// A `main` that runs one thread.
template <class F>
void start(Em em) {
    em.invoke<F>(0);
}

template <class State>
runtime::RunResult run_on(runtime::Backend& backend, State& state, void (*main)(Em), std::uint64_t seed,
                          const std::string& victim = "local_first") {
    runtime::Schedule schedule;
    schedule.seed = seed;
    schedule.stealing.victim = victim;
    runtime::Execution execution(backend, schedule,
                                 [&](NodeId) { return std::make_unique<TestProgram<State>>(state, main); });
    return execution.run();
}

/// On a few nodes of two workers, in an order drawn from the seed. `left`: threads that do not terminate.
template <class State>
runtime::RunResult run(State& state, void (*main)(Em), std::uint64_t seed, NodeId nodes = 5,
                       double left = 0) {
    inprocess::InprocessBackend backend({nodes, 2, seed});
    auto result = run_on(backend, state, main, seed);
    EXPECT_EQ(result.answer.at(0).value, left) << "threads left, seed " << seed;
    return result;
}

/// The same without stealing, so that nearly all messages are the program's.
template <class State>
runtime::RunResult run_quietly(State& state, void (*main)(Em), std::uint64_t seed, NodeId nodes) {
    inprocess::InprocessBackend backend({nodes, 2, seed});
    auto result = run_on(backend, state, main, seed, "none");
    EXPECT_EQ(result.answer.at(0).value, 0) << "threads left, seed " << seed;
    return result;
}

/// The message of the Error with which the program ends; empty where there is none.
template <class State>
std::string error_of(State& state, void (*main)(Em), std::uint64_t seed = 1) {
    try {
        run(state, main, seed);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace heddle::earth_testing
