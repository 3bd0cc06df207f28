// Tests what a record says of tasks that wait in the middle: strands, and dataflow closures wherever they
// run. The strands of a random program note their own times. The closures are counted by their forks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "model/dataflow.hpp"
#include "results/trace_recorder.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/sources/timers.hpp"
#include "tests/sim_harness.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::sim::testing {
namespace {

using results::TracedTask;
using runtime::Strand;
using runtime::Worker;

/// A time in which a worker runs one task.
struct TaskStay {
    WorkerId worker;
    Time begin{};
    Time end{};
    bool operator<(const TaskStay& other) const {
        return std::tie(worker.node, worker.core, begin, end) <
               std::tie(other.worker.node, other.worker.core, other.begin, other.end);
    }
    bool operator==(const TaskStay&) const = default;
};

/// In order, without empty ones. Those of a worker that meet are one.
std::vector<TaskStay> united(std::vector<TaskStay> stays) {
    std::sort(stays.begin(), stays.end());
    std::vector<TaskStay> all;
    for (const TaskStay& stay : stays) {
        if (stay.begin == stay.end) continue;
        if (!all.empty() && all.back().worker == stay.worker && all.back().end == stay.begin) {
            all.back().end = stay.end;
        } else {
            all.push_back(stay);
        }
    }
    return all;
}

/// What a record holds of tasks.
class TaskRows final : public results::TraceFormat {
public:
    struct Row {
        TracedTask task;
        double flops = 0;
        Time end{};
    };

    void task_begins(const TracedTask& task) override {
        ++begun;
        task_goes_on(task, task.begin);
    }
    void task_goes_on(const TracedTask& task, Time time) override {
        open_.push_back({task.worker, time, time});
    }
    void task_pauses(const TracedTask& task, Time time) override {
        const auto latest = std::find_if(open_.rbegin(), open_.rend(),
                                         [&](const TaskStay& stay) { return stay.worker == task.worker; });
        ASSERT_NE(latest, open_.rend()) << "on the worker where it runs";
        latest->end = time;
        stays.push_back(*latest);
        open_.erase(std::next(latest).base());
    }
    void task_ends(const TracedTask& task, const TaskWork& work, Time time) override {
        task_pauses(task, time);
        rows.push_back({task, work.flops, time});
    }

    std::uint64_t begun = 0;
    std::vector<Row> rows;
    std::vector<TaskStay> stays;

private:
    std::vector<TaskStay> open_;
};

runtime::RunResult recorded(const Platform& platform, const runtime::ProgramFactory& make, TaskRows& rows) {
    results::TraceRecorder recorder;
    recorder.add(rows);
    SimBackend backend(platform);
    return runtime::Execution(backend, {}, make, &recorder).run();
}

// --- strands

/// What one strand notes of itself.
struct NotedStrand {
    double flops = 0;
    std::vector<TaskStay> stays;
};

TaskStay stay_from_now(const Strand& self) {
    const Time time = now(self.worker());
    return {self.worker().id, time, time};
}

/// Computes, sleeps and yields. All its work together is `microseconds`.
void take_turns(Strand& self, Random random, std::int64_t microseconds, NotedStrand& note) {
    note.flops = 1000 * static_cast<double>(microseconds);
    TaskStay stay = stay_from_now(self);
    const auto leave = [&](const auto& how) {
        stay.end = now(self.worker());
        note.stays.push_back(stay);
        how();
        stay = stay_from_now(self);
    };
    while (microseconds > 0) {
        const auto piece =
            std::min<std::int64_t>(microseconds, 1 + static_cast<std::int64_t>(random.below(20)));
        microseconds -= piece;
        self.worker().compute(busy(us(piece)), {});
        if (random.below(2) == 0) {
            leave([&] { self.yield(); });
        } else {
            leave([&] { runtime::sleep_for(self, us(static_cast<std::int64_t>(random.below(30)))); });
        }
    }
    stay.end = now(self.worker());
    note.stays.push_back(stay);
}

constexpr std::int64_t turning_strands = 12;

/// Strand i works for 100 + i microseconds, so that its flops tell which it is.
runtime::RunResult run_turns(std::uint64_t seed, CoreId cores, std::vector<NotedStrand>& notes,
                             TaskRows& rows) {
    notes.resize(turning_strands);
    const auto begin = [&](Worker& worker) {
        for (std::int64_t i = 0; i < turning_strands; ++i) {
            NotedStrand& note = notes[static_cast<std::size_t>(i)];
            const Random random = Random(seed).split(static_cast<std::uint64_t>(i));
            Strand::start(worker,
                          [&note, random, i](Strand& self) { take_turns(self, random, 100 + i, note); });
        }
    };
    return recorded(
        ideal(1, cores), [&](NodeId) { return std::make_unique<testing_strands::FirstTask>(begin); }, rows);
}

TEST(TaskRowsOfStrands, AreWhatTheStrandsNoteOfThemselves) {
    std::size_t moved = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (const CoreId cores : {1U, 3U}) {
            std::vector<NotedStrand> notes;
            TaskRows rows;
            const auto result = run_turns(seed, cores, notes, rows);
            EXPECT_EQ(result.total.tasks, notes.size());
            ASSERT_EQ(rows.rows.size(), notes.size());
            std::vector<TaskStay> noted;
            for (const TaskRows::Row& row : rows.rows) {
                const auto i = static_cast<std::size_t>(row.flops / 1000 - 100);
                ASSERT_LT(i, notes.size());
                const NotedStrand& note = notes[i];
                EXPECT_EQ(row.flops, note.flops);
                EXPECT_EQ(row.task.kernel, "strand");
                EXPECT_EQ(row.task.begin, note.stays.front().begin);
                EXPECT_EQ(row.end, note.stays.back().end);
                EXPECT_EQ(row.task.worker, note.stays.back().worker);
                if (note.stays.back().worker != note.stays.front().worker) ++moved;
                noted.insert(noted.end(), note.stays.begin(), note.stays.end());
            }
            EXPECT_EQ(united(rows.stays), united(noted)) << "seed " << seed << ", " << cores << " cores";
        }
    }
    EXPECT_GT(moved, 0U);
}

// --- dataflow

void row_of_work(dataflow::Thread& self, dataflow::shared_w<int> object) {
    self.work(1);
    object = 1;
}

constexpr std::uint64_t forked_rows = 60;

/// Forks tasks of 100 us, and works as long as one of them.
class ForksRows final : public dataflow::DataflowProgram {
public:
    runtime::Work unit() const override { return {1e5, 0}; }
    void main(dataflow::Thread& self) override {
        for (std::uint64_t i = 0; i < forked_rows; ++i) {
            const dataflow::shared<int> object(self);
            self.fork<row_of_work>(object);
        }
        self.work(1);
    }
    runtime::Answer answer() const override { return {}; }
};

TEST(TaskRowsOfClosures, AreOneForEachForkAndOneForTheMainProgramWhereverTheyRun) {
    for (const auto& [nodes, cores] : {std::pair(1U, 1U), {1U, 2U}, {1U, 4U}, {2U, 2U}}) {
        TaskRows rows;
        const auto result = recorded(
            ideal(nodes, cores), [](NodeId) { return std::make_unique<ForksRows>(); }, rows);
        EXPECT_EQ(result.total.tasks, forked_rows + 1) << nodes << " x " << cores;
        EXPECT_EQ(rows.begun, forked_rows + 1);
        ASSERT_EQ(rows.rows.size(), forked_rows + 1);
        std::uint64_t within = 0, between = 0;
        for (const TaskRows::Row& row : rows.rows) {
            EXPECT_THAT(row.task.kernel, ::testing::AnyOf("root", "row_of_work"));
            EXPECT_EQ(row.flops, 1e5);
            EXPECT_EQ(row.end - row.task.begin, us(100));
            if (!row.task.stolen()) continue;
            ++(row.task.note.victim.node == row.task.worker.node ? within : between);
        }
        EXPECT_EQ(within > 0, cores > 1);
        EXPECT_EQ(between > 0, nodes > 1);
        EXPECT_LE(within, result.total.steals_within_node);
    }
}

}  // namespace
}  // namespace heddle::sim::testing
