// Tests that the records of several processes become one. Each receipt finds its message, and no message
// arrives before it was sent. A malformed part is refused.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/random.hpp"
#include "results/trace_parts.hpp"
#include "results/trace_recorder.hpp"

namespace heddle {
namespace {

using results::TraceEvent;
using Kind = TraceEvent::Kind;

Time nanoseconds(std::int64_t count) {
    return std::chrono::nanoseconds(count);
}

TraceEvent event(Kind kind, std::int64_t time, MessageNote message) {
    const bool sends = kind == Kind::send_begins || kind == Kind::send_ends;
    return {nanoseconds(time), 0, {sends ? message.from : message.to, 0}, kind, message};
}

// By hand: two messages of 100 bytes and one of 50 from node 0 to node 1, and one that no node received.
TEST(TraceParts, MatchReceiptsToMessagesOfEqualSize) {
    std::vector<TraceEvent> events;
    const auto tell = [&](bool sends, std::int64_t time, std::uint64_t size, std::uint64_t bytes) {
        const MessageNote message{0, 1, size, bytes};
        events.push_back(event(sends ? Kind::send_begins : Kind::receive_begins, time, message));
        events.push_back(event(sends ? Kind::send_ends : Kind::receive_ends, time, message));
    };
    tell(true, 1, 100, 1100);  // with 1000 bytes of padding, which the receiver does not see
    tell(true, 2, 50, 50);
    tell(true, 3, 100, 100);
    tell(false, 4, 50, 50);
    tell(false, 5, 100, 100);
    tell(false, 6, 100, 100);
    tell(true, 7, 50, 50);
    results::match_messages(events);
    std::map<std::uint64_t, std::vector<std::pair<std::int64_t, std::uint64_t>>> found;
    for (const TraceEvent& one : events) {
        const auto& message = std::get<MessageNote>(one.what);
        found[message.number].emplace_back(one.time.count() / 1000, message.bytes);
    }
    using Told = std::vector<std::pair<std::int64_t, std::uint64_t>>;
    std::vector<Told> all;
    for (const auto& [number, told] : found) all.push_back(told);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector<Told>{{{1, 1100}, {1, 1100}, {5, 1100}, {5, 1100}},
                                      {{2, 50}, {2, 50}, {4, 50}, {4, 50}},
                                      {{3, 100}, {3, 100}, {6, 100}, {6, 100}}}));
}

TEST(TraceParts, ArriveAfterTheyWereSentHoweverTheyOvertake) {
    Random random(1);
    std::vector<TraceEvent> events;
    for (int i = 0; i < 500; ++i) {
        const MessageNote message{static_cast<NodeId>(random.below(2)), 2, 10 * random.below(3), 0};
        const auto sent = static_cast<std::int64_t>(random.below(1000));
        const auto received = sent + 1 + static_cast<std::int64_t>(random.below(100));
        events.push_back(event(Kind::send_begins, sent, message));
        events.push_back(event(Kind::send_ends, sent, message));
        events.push_back(event(Kind::receive_begins, received, message));
        events.push_back(event(Kind::receive_ends, received, message));
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const TraceEvent& a, const TraceEvent& b) { return a.time < b.time; });
    results::match_messages(events);
    ASSERT_EQ(events.size(), 2000U);
    std::map<std::pair<NodeId, std::uint64_t>, std::vector<const TraceEvent*>> found;
    for (const TraceEvent& one : events) {
        const auto& message = std::get<MessageNote>(one.what);
        found[{message.from, message.number}].push_back(&one);
    }
    EXPECT_EQ(found.size(), 500U);
    for (const auto& [message, told] : found) {
        ASSERT_EQ(told.size(), 4U);
        EXPECT_EQ(told[0]->kind, Kind::send_begins);
        EXPECT_EQ(told[3]->kind, Kind::receive_ends);
        EXPECT_LT(told[0]->time, told[3]->time);
    }
}

std::vector<std::byte> part_of_node_1() {
    results::PartRecorder part;
    part.begin(2, 1, {});
    part.entered({1, 0}, Activity::working, nanoseconds(5));
    part.task_began({1, 0}, {.number = 7, .type = 0}, nanoseconds(5));
    part.task_ended({1, 0}, {3, 4}, nanoseconds(9));
    part.sending({1, 0, 100, 100}, nanoseconds(6), nanoseconds(6));
    std::vector<std::byte> bytes = part.take_part();
    part.sending({1, 0, 200, 200}, nanoseconds(9), nanoseconds(9));
    EXPECT_TRUE(part.take_part().empty()) << "the message that takes a part to node 0 is in no part";
    part.entered({1, 0}, Activity::idle, nanoseconds(10));
    EXPECT_TRUE(part.take_part().empty()) << "after the last part nothing more is kept";
    return bytes;
}

class Listener final : public results::TraceFormat {
public:
    void state(WorkerId worker, Activity activity, Time time, bool first) override {
        if (!first) states.emplace_back(worker, activity, time);
    }
    void task_ends(const results::TracedTask& task, const TaskWork& work, Time time) override {
        tasks.emplace_back(task, work.flops, time);
    }
    std::vector<std::tuple<WorkerId, Activity, Time>> states;
    std::vector<std::tuple<results::TracedTask, double, Time>> tasks;
};

TEST(TraceParts, ReachTheRecordOfNode0) {
    Listener listener;
    results::TraceRecorder recorder({.in_parts = true});
    recorder.add(listener);
    recorder.begin(2, 1, [] { return Time::zero(); });
    EXPECT_TRUE(recorder.absorb(1, part_of_node_1()));
    recorder.finish(nanoseconds(20));
    ASSERT_EQ(listener.states.size(), 1U);
    EXPECT_EQ(listener.states[0], std::tuple(WorkerId(1, 0), Activity::working, nanoseconds(5)));
    ASSERT_EQ(listener.tasks.size(), 1U);
    const auto& [task, flops, end] = listener.tasks[0];
    EXPECT_EQ(task.note.number, 7U);
    EXPECT_EQ(task.begin, nanoseconds(5));
    EXPECT_EQ(flops, 3);
    EXPECT_EQ(end, nanoseconds(9));
}

// A strand's task begins on worker 0, where another task runs while it waits, and ends on worker 1.
TEST(TraceParts, HaveTasksThatGoOnOnAnotherWorker) {
    results::PartRecorder part;
    part.begin(2, 2, {});
    part.strand_entered({1, 0}, 40, nanoseconds(1));
    part.task_began({1, 0}, {.type = TaskNote::strand}, nanoseconds(1));
    part.strand_left({1, 0}, 40, nanoseconds(3));
    part.task_began({1, 0}, {}, nanoseconds(4));
    part.strand_entered({1, 1}, 40, nanoseconds(5));
    part.task_ended({1, 0}, {1, 0}, nanoseconds(6));
    part.task_ended({1, 1}, {2, 0}, nanoseconds(9));
    part.strand_left({1, 1}, 40, nanoseconds(9));
    Listener listener;
    results::TraceRecorder recorder({.in_parts = true});
    recorder.add(listener);
    recorder.begin(2, 2, [] { return Time::zero(); });
    EXPECT_TRUE(recorder.absorb(1, part.take_part()));
    recorder.finish(nanoseconds(20));
    ASSERT_EQ(listener.tasks.size(), 2U);
    const auto& [within, within_flops, within_end] = listener.tasks[0];
    EXPECT_EQ(std::tuple(within.kernel, within.worker, within.begin, within_end),
              std::tuple("root", WorkerId(1, 0), nanoseconds(4), nanoseconds(6)));
    const auto& [moved, flops, end] = listener.tasks[1];
    EXPECT_EQ(std::tuple(moved.kernel, moved.worker, moved.begin, flops, end),
              std::tuple("strand", WorkerId(1, 1), nanoseconds(1), 2, nanoseconds(9)));
}

TEST(TraceParts, AreRefusedWhereTheyAreMalformed) {
    const std::vector<std::byte> whole = part_of_node_1();
    const auto accepted = [](NodeId from, std::vector<std::byte> part) {
        results::TraceRecorder recorder({.in_parts = true});
        recorder.begin(2, 1, [] { return Time::zero(); });
        const bool read = recorder.absorb(from, part);
        recorder.finish(nanoseconds(20));
        return read;
    };
    EXPECT_TRUE(accepted(1, whole));
    EXPECT_FALSE(accepted(2, whole)) << "there is no such node";
    EXPECT_FALSE(accepted(0, whole)) << "a message of node 1";
    EXPECT_FALSE(accepted(1, {whole.begin(), whole.end() - 1}));
    Random random(1);
    for (int i = 0; i < 2000; ++i) {
        std::vector<std::byte> mutated = whole;
        mutated[random.below(mutated.size())] = static_cast<std::byte>(random.below(256));
        accepted(1, mutated);  // whatever it says, nothing breaks
    }
}

}  // namespace
}  // namespace heddle
