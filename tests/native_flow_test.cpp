// Tests flow control between nodes: which callers wait, which do not, and that a slow receiver costs its
// senders no memory. A long random test is in native_stress_slow_test.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "host/wall_clock.hpp"
#include "runtime/native/flow.hpp"
#include "tests/conformance.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

namespace {

using conformance::Node;
using conformance::Script;
using conformance::ScriptedNode;
using runtime::Bytes;
using runtime::Context;

class NativeFlow : public testing::Test {
protected:
    /// A worker's message, on a thread of its own.
    std::thread send(std::uint64_t bytes) {
        return std::thread([this, bytes] {
            flow_.before(bytes, Sender::worker);
            ++gone_;
            flow_.after();
        });
    }

    std::mutex mutex_;
    std::vector<std::uint64_t> marks_;
    std::atomic<int> gone_{0};
    Flow flow_{100, [this](std::uint64_t number) {
                   const std::lock_guard lock(mutex_);
                   marks_.push_back(number);
               }};
};

}  // namespace

TEST_F(NativeFlow, AWorkerWaitsUntilThereIsRoom) {
    flow_.before(80, Sender::worker);
    flow_.after();
    std::thread second = send(30);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(gone_, 0);
    flow_.handled(80);
    second.join();
    EXPECT_EQ(gone_, 1);
}

TEST_F(NativeFlow, AHandlerNeverWaitsButIsCounted) {
    for (int i = 0; i < 10; ++i) flow_.before(80, Sender::handler);
    std::thread worker = send(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(gone_, 0);
    flow_.handled(800);
    worker.join();
}

TEST_F(NativeFlow, WhoWaitsHasSentAMark) {
    flow_.before(20, Sender::worker);  // too little for a mark of its own
    flow_.after();
    EXPECT_TRUE(marks_.empty());
    std::thread second = send(90);
    EXPECT_TRUE(eventually([this] {
        const std::lock_guard lock(mutex_);
        return marks_ == std::vector<std::uint64_t>{20};
    }));
    flow_.handled(20);
    second.join();
}

TEST_F(NativeFlow, AMessageThatIsLargerThanTheWindowGoesAlone) {
    flow_.before(1000, Sender::worker);
    flow_.after();
    EXPECT_EQ(marks_, std::vector<std::uint64_t>{1000});
    std::thread second = send(1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(gone_, 0);
    flow_.handled(1000);
    second.join();
}

TEST_F(NativeFlow, NobodyWaitsForANodeThatIsGone) {
    flow_.before(1000, Sender::worker);
    std::thread second = send(1000);
    flow_.open();
    second.join();
}

// 600 MiB to a node that takes a millisecond for each: without flow control most of them would wait here.
TEST(NativeFlowControl, ASlowReceiverCostsTheSenderNoMemory) {
    constexpr std::size_t bytes = 1 << 20;
    constexpr int count = 600;
    std::atomic<int> got{0};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        for (int i = 0; i < count && node.id == 0; ++i)
            worker.backend->send(worker, 1, Bytes(8, std::byte{}),
                                 {std::make_shared<Bytes>(bytes, std::byte{1})});
    };
    script.receive_body = [&](Node&, const runtime::Body& body) {
        EXPECT_EQ(body->size(), bytes);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    script.deliver = [&](Node&, NodeId, auto) { ++got; };
    std::vector<std::unique_ptr<ScriptedNode>> nodes;
    for (NodeId node = 0; node < 2; ++node) nodes.push_back(std::make_unique<ScriptedNode>(node, 1, script));
    const std::uint64_t before = host::peak_memory_bytes();
    conformance::run_native(2, 1, [&](NodeId node) -> runtime::NodeProgram& { return *nodes[node]; });
    EXPECT_EQ(got, count);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they take more than the program does
    EXPECT_LT(host::peak_memory_bytes() - before, 100U << 20);
#else
    (void)before;
#endif
}

}  // namespace heddle::native
