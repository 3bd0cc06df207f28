// Floods a run with connections that do not authenticate: it starts all the same, and the log stays short.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>

#include "runtime/native/drop_log.hpp"
#include "runtime/native/listener.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/native/rendezvous.hpp"
#include "tests/conformance.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

using namespace std::chrono_literals;
using conformance::Script;
using conformance::ScriptedNode;
using testing::ElementsAre;

namespace {

/// Connects to every port that this process listens at, again and again, and holds the connections open.
void flood(const std::atomic<bool>& stop, std::atomic<int>& connections) {
    std::vector<Descriptor> held;
    while (!stop) {
        for (const std::string& address : listening_addresses()) {
            for (int i = 0; i < 50 && !stop; ++i) {
                try {
                    held.push_back(connect_to(address, Clock::now()));
                    ++connections;
                } catch (const Error&) {
                    continue;  // the listener of a run that has ended
                }
            }
        }
        if (held.size() > 400) held.erase(held.begin(), held.begin() + 200);
    }
}

std::string run_idle_member(NodeId rank, NodeId nodes, const Key& key, const std::string& rendezvous) {
    NativeOptions options;
    options.membership = Membership{rank, nodes, key, rendezvous, rank, nodes};
    const Script script;
    ScriptedNode node(rank, options.cores, script);
    return error_of(
        [&] { NativeBackend(options).run([&](NodeId) -> runtime::NodeProgram& { return node; }); });
}

}  // namespace

TEST(NativeFlood, FourNodesStartDuringAFloodTwentyTimes) {
    const LogReader log;
    const Key key = make_key();
    constexpr NodeId nodes = 4;
    const Rendezvous rendezvous(nodes, key, "127.0.0.1", 60s);
    std::atomic<bool> stop{false};
    std::atomic<int> connections{0};
    std::vector<std::thread> attackers;
    for (int i = 0; i < 2; ++i) attackers.emplace_back([&] { flood(stop, connections); });
    EXPECT_TRUE(eventually([&] { return connections > 200; }));
    for (int start = 0; start < 20; ++start) {
        std::vector<std::future<std::string>> running;
        for (NodeId rank = 0; rank < nodes; ++rank) {
            running.push_back(std::async(std::launch::async, [&, rank] {
                return run_idle_member(rank, nodes, key, rendezvous.address());
            }));
        }
        for (auto& run : running) EXPECT_EQ(run.get(), "") << "start " << start;
    }
    stop = true;
    for (std::thread& attacker : attackers) attacker.join();
    // Each listener writes at most two lines an interval.
    EXPECT_LT(std::ranges::count(log.text(), '\n'), connections / 4) << log.text();
}

TEST(NativeListener, HasRoomForEveryNodeTwice) {
    EXPECT_GE(Listener::pending_max(1), 64u);
    EXPECT_GE(Listener::pending_max(1000), 2000u);
    EXPECT_LE(Listener::pending_max(1'000'000), 8192u);
}

TEST(DropLog, WritesTheFirstDropAtOnceAndSummarizesTheRest) {
    std::vector<std::string> lines;
    const Deadline start = Clock::now();
    {
        DropLog log(2s, [&](const std::string& line) { lines.push_back(line); });
        for (int i = 0; i < 1000; ++i)
            log.dropped(fmt::format("10.0.0.{}:1", i), "it is silent", start + 1ms);
        log.dropped("10.0.0.1:2", "it is loud", start + 1s);
        EXPECT_EQ(log.summarize(start + 1s), start + 1ms + 2s);
        EXPECT_THAT(lines, ElementsAre("dropped a connection from 10.0.0.0:1: it is silent"));
        EXPECT_EQ(log.summarize(start + 3s), Deadline::max());
        EXPECT_THAT(lines, ElementsAre(testing::_,
                                       "dropped 1000 more connections: 1 x it is loud; 999 x it "
                                       "is silent"));
        // A stream of drops goes on to get a line an interval.
        log.dropped("10.0.0.1:3", "it is silent", start + 4s);
        EXPECT_EQ(lines.size(), 2u);
    }
    EXPECT_EQ(lines.back(), "dropped 1 more connection: 1 x it is silent");
}

TEST(DropLog, CountsManyReasonsTogether) {
    std::vector<std::string> lines;
    {
        DropLog log(2s, [&](const std::string& line) { lines.push_back(line); });
        for (int i = 0; i < 1000; ++i) log.dropped("a", fmt::format("reason {}", i), Clock::now());
    }
    EXPECT_THAT(lines.back(), testing::HasSubstr("x another reason"));
    EXPECT_LT(lines.back().size(), 1000u);
}

}  // namespace heddle::native
