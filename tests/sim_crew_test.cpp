// Tests exceptions of handlers while several threads simulate: the run ends with the message of the first
// node, as with one thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/error.hpp"
#include "host/thread_crew.hpp"
#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

/// All nodes send to the next; the handlers of those from `first` on throw. The error's message.
std::string thrown(const std::shared_ptr<Crew>& crew, NodeId first, bool single_module = false) {
    constexpr NodeId nodes = 32;
    try {
        run(
            ideal(nodes, 2),
            [&](Script&, Context& context) {
                for (int i = 0; i < 3; ++i) {
                    compute(context, busy(us(1)));
                    send(context, (context.id.node + 1) % nodes, 8);
                }
                sleep_until(context, us(50));
                context.backend->poll(context);
            },
            [&](Script&, Context& context, NodeId, auto) {
                if (context.id.node >= first)
                    throw Error("handler of node " + std::to_string(context.id.node));
            },
            {.single_module = single_module, .crew = crew});
    } catch (const Error& error) {
        return error.message();
    }
    return "no error";
}

TEST(SimCrew, AHandlersExceptionEndsTheRunWithItsMessage) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    for (const unsigned threads : {2U, 3U}) {
        const auto crew = std::make_shared<host::ThreadCrew>(threads);
        for (const NodeId first : {0U, 5U, 31U}) {
            const std::string expected = "handler of node " + std::to_string(first);
            EXPECT_EQ(thrown(nullptr, first), expected);
            for (int i = 0; i < 20; ++i) EXPECT_EQ(thrown(crew, first), expected);
        }
    }
}

TEST(SimCrew, AlsoWhereWorkersRunTheHandlers) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    const auto crew = std::make_shared<host::ThreadCrew>(2);
    EXPECT_EQ(thrown(nullptr, 7, true), "handler of node 7");
    EXPECT_EQ(thrown(crew, 7, true), "handler of node 7");
}

// A crew whose round ended with an exception serves the next simulation.
TEST(SimCrew, IsAsGoodAsNewAfterwards) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    const auto crew = std::make_shared<host::ThreadCrew>(2);
    EXPECT_EQ(thrown(crew, 3), "handler of node 3");
    EXPECT_EQ(thrown(crew, 32), "no error");
}

}  // namespace
}  // namespace heddle::sim::testing
