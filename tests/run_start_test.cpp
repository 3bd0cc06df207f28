// Tests that a message which comes before its node has heard of the run's beginning waits for it. The order
// of messages stays, and no moment of the run is earlier than its cause.
#include "runtime/native/run_start.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "runtime/native/coordination.hpp"

namespace heddle::native {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

struct Log {
    std::string text;
    RunStart* start = nullptr;
    void add(NodeId from, std::span<const std::byte> message, const runtime::Body& body,
             std::uint64_t in_room) {
        EXPECT_TRUE(!start || start->now() > Time::zero());
        text += std::to_string(from) + ":" +
                std::string(reinterpret_cast<const char*>(message.data()), message.size());
        if (body) text += "+" + std::to_string(body->size());
        if (in_room > 0) text += "@" + std::to_string(in_room);
        text += " ";
    }
};

TEST(RunStart, EarlyMessagesWaitForTheBeginningInTheirOrder) {
    RunStart start;
    Log log{{}, &start};
    runtime::Body none;
    runtime::Body body = std::make_shared<runtime::Bytes>(3);
    EXPECT_TRUE(start.holds(2, bytes_of("a"), none, 5));
    EXPECT_TRUE(start.holds(1, bytes_of("b"), body, 0));
    EXPECT_FALSE(body) << "the message keeps it";
    EXPECT_TRUE(start.holds(2, bytes_of("c"), none, 0));
    EXPECT_EQ(start.now(), Time::zero());
    start.begin(Clock::now() - std::chrono::milliseconds(1),
                [&](NodeId from, std::span<const std::byte> message, const runtime::Body& with,
                    std::uint64_t in_room) { log.add(from, message, with, in_room); });
    EXPECT_EQ(log.text, "2:a@5 1:b+3 2:c ");
    EXPECT_FALSE(start.holds(2, bytes_of("d"), none, 0)) << "the run has begun";
}

TEST(RunStart, NodesBeginAsTheNewsComesNotWhenTheirThreadWakes) {
    std::string events;
    const auto post = [&](NodeId to, FrameKind kind, const runtime::Bytes&) {
        events += kind == FrameKind::start ? "start " + std::to_string(to) + " " : "";
    };
    const auto begin = [&](Clock::time_point) { events += "begin "; };
    Coordination follower(
        1, 2, 2, "b", post, [] { return Counts{}; }, begin);
    const auto zero = Clock::now().time_since_epoch().count();
    follower.handle(0, FrameKind::start, std::as_bytes(std::span(&zero, 1)));
    EXPECT_EQ(events, "begin ");
    EXPECT_EQ(follower.start({}), Coordination::Started::begun);
    EXPECT_EQ(events, "begin ") << "once";

    events.clear();
    Coordination* leader = nullptr;
    const auto answer = [&](NodeId to, FrameKind kind, const runtime::Bytes& payload) {
        post(to, kind, payload);
        const auto now = Clock::now().time_since_epoch().count();
        if (kind == FrameKind::ping) leader->handle(to, FrameKind::pong, std::as_bytes(std::span(&now, 1)));
    };
    Coordination leading(
        0, 3, 3, "a", answer, [] { return Counts{}; }, begin);
    leader = &leading;
    const std::string hosts = "bc";
    const auto host = std::as_bytes(std::span(hosts));
    leading.handle(2, FrameKind::ready, host.subspan(1));
    leading.handle(1, FrameKind::ready, host.first(1));
    EXPECT_EQ(leading.start({}), Coordination::Started::begun);
    EXPECT_EQ(leading.hosts(), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(events, "begin start 1 start 2 ");
}

}  // namespace
}  // namespace heddle::native
