// The contract of Backend::receive (runtime/backend.hpp), on every backend whose topology says `receives`.
#include <atomic>
#include <functional>

#include "tests/conformance.hpp"

namespace heddle::conformance {

using namespace std::chrono_literals;

namespace {

std::vector<Arm> arms_that_look_on() {
    std::vector<Arm> all = arms();
    for (const native::Receive how : {native::Receive::poll, native::Receive::block}) {
        const std::string name = how == native::Receive::poll ? "native_poll" : "native_block";
        all.push_back({name, [=](NodeId nodes, CoreId cores, const runtime::NodeFactory& make_node) {
                           run_native(nodes, cores, make_node, {.receive = how});
                       }});
    }
    return all;
}

}  // namespace

class Receives : public Conformance {};

INSTANTIATE_TEST_SUITE_P(Worlds, Receives, testing::ValuesIn(arms_that_look_on()),
                         [](const auto& arm) { return arm.param.name; });

/// Two workers answer each other. One that gives up parks for a while.
TEST_P(Receives, WhatIsAwaited) {
    constexpr int rounds = 200;
    std::array<std::atomic<int>, 2> come{};
    std::atomic<int> wrong{0};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (!worker.backend->topology().receives) return;
        for (int round = 1; round <= rounds; ++round) {
            if (node.id == 0) worker.backend->send(worker, 1, Bytes(8, std::byte{}));
            const std::function<bool()> done = [&] { return come[node.id] >= round; };
            while (!done()) {
                const Time begin = worker.backend->now(worker);
                worker.backend->receive(worker, begin + 10us, done);
                if (worker.backend->recent(worker) < begin) ++wrong;
                if (!done()) park(worker, worker.backend->now(worker) + 100us);
            }
            if (node.id == 1) worker.backend->send(worker, 0, Bytes(8, std::byte{}));
        }
    };
    script.deliver = [&](Node& node, NodeId, auto) {
        ++come[node.id];
        node.receiver().backend->unpark(node.receiver(), 0);
    };
    run(2, 1, script);
    EXPECT_TRUE(come[1] == rounds || come[1] == 0);
    EXPECT_EQ(come[0], come[1]);
    EXPECT_EQ(wrong, 0);
}

TEST_P(Receives, UntilAnUnparkWhateverTheDeadline) {
    std::array<std::atomic<bool>, 2> called{};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (!worker.backend->topology().receives) return;
        if (worker.id.core == 1) {
            called[node.id] = true;
            worker.backend->unpark(worker, 0);
            return;
        }
        // A receive that gives up early is called again. One that has begun must end.
        while (!called[node.id]) {
            worker.backend->receive(worker, never, [] { return false; });
            worker.backend->pause(worker);
        }
    };
    run(2, 2, script);
}

TEST_P(Receives, UntilTheDeadline) {
    Script script;
    script.work = [&](Node&, Context& worker) {
        if (!worker.backend->topology().receives) return;
        for (int i = 0; i < 100; ++i) {
            const Time now = worker.backend->now(worker);
            worker.backend->receive(worker, now + 3us, [] { return false; });
        }
    };
    run(2, 1, script);
}

}  // namespace heddle::conformance
