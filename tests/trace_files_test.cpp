// Tests the files of the trace recorder. They are the same for any order of events, and states end with the
// run. If the trace is not whole, there is no file. trace_test.py tests what the formats hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "results/trace_recorder.hpp"
#include "tests/cli_testing.hpp"

namespace heddle {
namespace {

using results::TraceRecorder;
using testing::HasSubstr;

constexpr Time ns(std::int64_t count) {
    return std::chrono::nanoseconds(count);
}

class TraceFiles : public testing_cli::Folder {
protected:
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                      std::filesystem::directory_iterator()));
    }
};

/// Many events on three nodes, told node by node in steps of time: `step` long, and known to be complete
/// after each. Zero: all at the end.
void tell(TraceRecorder& recorder, Time step, bool reverse) {
    constexpr NodeId nodes = 3;
    constexpr Time end = ns(700'000);
    Time settled{};
    recorder.begin(nodes, 2, [&] { return settled; });
    std::vector<Random> random;
    std::vector<Time> now(nodes);
    std::vector<std::uint64_t> sent(nodes);
    for (NodeId node = 0; node < nodes; ++node) random.push_back(Random(1).split(node));
    for (Time window = step == Time::zero() ? end : step; settled < end; window += step) {
        for (NodeId i = 0; i < nodes; ++i) {
            const NodeId node = reverse ? nodes - 1 - i : i;
            while (now[node] < std::min(window, end)) {
                const Time time = now[node];
                const auto activity = all_activities[random[node].below(all_activities.size())];
                recorder.entered({node, static_cast<CoreId>(random[node].below(2))}, activity, time);
                if (random[node].below(20) == 0) {
                    const MessageNote message{node, (node + 1) % nodes, sent[node]++, 100};
                    recorder.sending(message, time, time + ns(1));
                }
                now[node] += ns(static_cast<std::int64_t>(random[node].below(12)));
            }
        }
        settled = std::min(window, end);
    }
    recorder.finish(end);
    recorder.commit();
}

// More than what is kept before anything is written, so that some is written in each of the runs but the
// first.
TEST_F(TraceFiles, AreTheSameHoweverTheNodesTookTurns) {
    for (const char* ending : {"pftrace", "pftrace.gz", "paje.gz"}) {
        std::vector<std::string> traces;
        for (const auto& [step, reverse] :
             {std::pair(ns(0), false), std::pair(ns(1000), false), std::pair(ns(777), true)}) {
            const std::string path = folder / (std::string("a.") + ending);
            TraceRecorder recorder(path);
            tell(recorder, step, reverse);
            traces.push_back(read(path));
        }
        EXPECT_GT(traces[0].size(), 500'000U) << ending;
        EXPECT_TRUE(traces[0] == traces[1]) << ending;
        EXPECT_TRUE(traces[0] == traces[2]) << ending;
    }
    EXPECT_EQ(files(), 3U);
}

std::vector<std::string> lines_with(const std::string& text, const std::string& part) {
    std::vector<std::string> found;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        if (line.find(part) != std::string::npos) found.push_back(line);
    }
    return found;
}

// By hand. Of several changes in one instant the last is written, and a change to what was before is none.
TEST_F(TraceFiles, HoldStatesUntilTheMakespanAndAllMessages) {
    const std::string path = folder / "a.paje";
    TraceRecorder recorder(path);
    recorder.begin(2, 1, [] { return Time::zero(); });
    const WorkerId worker{1, 0};
    recorder.entered(worker, Activity::overhead, Time(0));
    recorder.entered(worker, Activity::working, Time(1500));
    recorder.entered(worker, Activity::overhead, Time(3000));
    recorder.entered(worker, Activity::working, Time(3000));
    recorder.entered(worker, Activity::stealing, Time(4000));
    recorder.entered(worker, Activity::idle, Time(4000));
    recorder.entered(worker, Activity::stealing, Time(9000));
    const MessageNote message{1, 0, 7, 64};
    recorder.sending(message, Time(2000), Time(2500));
    recorder.receiving(message, Time(9500));
    recorder.delivered(message, Time(9900));
    recorder.finish(Time(8000));
    recorder.commit();
    const std::string text = read(path);
    EXPECT_THAT(lines_with(text, " w1.0"),
                testing::ElementsAre("4 0.000000000000 w1.0 W n1 \"node 1 worker 0\"",  //
                                     "6 0.000000000000 A w1.0 overhead",                //
                                     "6 0.000000001500 A w1.0 working",                 //
                                     "6 0.000000004000 A w1.0 idle",                    //
                                     "5 0.000000008000 W w1.0"));
    EXPECT_THAT(lines_with(text, " 1.7"), testing::ElementsAre("9 0.000000002000 L cluster 64 s1 1.7",  //
                                                               "10 0.000000009900 L cluster 64 r0 1.7"));
}

// By hand. Worker 0 is in a strand, has left another one that waits, and the task of worker 1 has ended.
TEST_F(TraceFiles, HaveTheTasksThatTheEndOfTheRunUnwinds) {
    const std::string path = folder / "tasks.csv";
    TraceRecorder recorder;
    recorder.add_task_table(path);
    recorder.begin(1, 2, [] { return Time::zero(); });
    const auto begin = [&](CoreId core, std::uint64_t number, Time time) {
        TaskNote note;
        note.number = number;
        note.type = TaskNote::strand;
        recorder.task_began({0, core}, note, time);
    };
    recorder.strand_entered({0, 0}, 99, Time(1000));
    begin(0, 3, Time(1000));
    recorder.strand_left({0, 0}, 99, Time(2000));
    recorder.strand_entered({0, 0}, 11, Time(2000));
    begin(0, 4, Time(3000));
    begin(1, 5, Time(4000));
    recorder.task_ended({0, 1}, {7, 8}, Time(5000));
    recorder.finish(Time(6000));
    recorder.commit();
    EXPECT_THAT(lines_with(read(path), "strand"),
                testing::ElementsAre("5,,strand,0,1,,,,0.000000004000,0.000000005000,,,7,8,",
                                     "3,,strand,0,0,,,,0.000000001000,0.000000006000,,,0,0,",
                                     "4,,strand,0,0,,,,0.000000003000,0.000000006000,,,0,0,"));
}

TEST_F(TraceFiles, LeaveNothingBehindWhereTheRunWasCutOff) {
    {
        TraceRecorder recorder(folder / "a.pftrace");
        EXPECT_EQ(files(), 1U);  // what is being written
    }
    EXPECT_EQ(files(), 0U);
}

TEST_F(TraceFiles, AreRefusedBeforeTheRunWhereTheyCannotBe) {
    const auto refusal = [](const std::string& path) -> std::string {
        try {
            const TraceRecorder recorder(path);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(refusal(folder / "a.json"), HasSubstr("name it *.pftrace"));
    EXPECT_THAT(refusal(folder / "no" / "a.paje"), HasSubstr("cannot be written"));
    std::filesystem::create_directory(folder / "b.pftrace");
    EXPECT_THAT(refusal(folder / "b.pftrace"), HasSubstr("cannot be written"));
    EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace heddle
