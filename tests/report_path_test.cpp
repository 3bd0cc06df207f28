// Tests the report's critical path on schedules of random placed graphs, which are written as the tables of a
// run and read again. The test also computes the path from the schedule alone, with what the report does not
// see: when each message came.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "report/causes.hpp"
#include "results/exact_seconds.hpp"

namespace heddle::report {
namespace {

struct Planned {
    std::size_t worker = 0;
    std::vector<std::size_t> before;
    Time ready{}, start{}, end{};
    std::optional<std::size_t> waited_for;  ///< the task that it could not begin before
    bool by_message = false;
    bool by_turn = false;
};

/// Tasks in topological order on workers, two a node; a message between nodes takes `delay`.
struct Planner {
    std::size_t workers = 2;
    Time delay{};
    Time turn{};  ///< zero: with stealing; else a worker tells its next task that it has ended one
    std::vector<Planned> tasks;
    Time makespan{};

    std::size_t node_of(const Planned& task) const { return task.worker / 2; }
};

Planner planned(std::uint64_t seed, Time turn) {
    Random random(seed);
    Planner plan;
    plan.turn = turn;
    plan.workers = 2 * (1 + random.below(4));
    plan.delay = Time(static_cast<std::int64_t>(1 + random.below(30'000'000)));
    std::map<std::size_t, std::size_t> last_on;
    for (std::size_t i = 0; i < 40; ++i) {
        Planned task;
        task.worker = random.below(plan.workers);
        for (std::size_t before = i > 8 ? i - 8 : 0; before < i; ++before)
            if (random.below(4) == 0) task.before.push_back(before);
        for (const std::size_t before : task.before) {
            const Planned& other = plan.tasks[before];
            const bool far = plan.node_of(other) != plan.node_of(task);
            const Time comes = other.end + (far ? plan.delay : Time::zero());
            if (comes <= task.ready) continue;
            task.ready = comes;
            task.waited_for = before;
            task.by_message = far;
        }
        task.start = task.ready;
        if (const auto last = last_on.find(task.worker); last != last_on.end()) {
            if (const Time free = plan.tasks[last->second].end + turn; free >= task.start) {
                task.start = free;
                task.waited_for = last->second;
                task.by_message = false;
                task.by_turn = true;
                // Without stealing the turn is one more thing that the task waits for.
                if (turn > Time::zero()) task.ready = free;
            }
        }
        // Picoseconds at random: no two times are equal by chance.
        task.end = task.start + Time(static_cast<std::int64_t>(1'000'000 + random.below(50'000'000)));
        plan.makespan = std::max(plan.makespan, task.end);
        last_on[task.worker] = i;
        plan.tasks.push_back(std::move(task));
    }
    return plan;
}

std::string seconds(Time time) {
    return results::exact_seconds(time);
}

/// The tables as `--record` writes them: workers work, tell of a turn, or are idle.
void write_record(const Planner& plan, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    std::ofstream tasks(folder / "tasks.csv"), workers(folder / "workers.csv"), line(folder / "timeline.csv");
    tasks << "task,name,kernel,node,worker,placed_node,placed_worker,ready_seconds,start_seconds,end_seconds,"
             "stolen_from_node,stolen_from_worker,flops,bytes,predecessors\n";
    std::vector<std::size_t> order(plan.tasks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return plan.tasks[a].end < plan.tasks[b].end; });
    for (const std::size_t i : order) {
        const Planned& task = plan.tasks[i];
        tasks << fmt::format("{0},t{0},k,{1},{2},{1},{2},{3},{4},{5},,,1,0,{6}\n", i, plan.node_of(task),
                             task.worker % 2, seconds(task.ready), seconds(task.start), seconds(task.end),
                             fmt::join(task.before, " "));
    }
    workers << "node,worker,tasks,stolen_tasks,working_seconds,overhead_seconds,stealing_seconds,waiting_"
               "seconds,idle_seconds\n";
    line << "node,worker,state,start_seconds,end_seconds\n";
    for (std::size_t worker = 0; worker < plan.workers; ++worker) {
        Time at{}, working{}, telling{};
        std::size_t count = 0;
        const auto stay = [&](const char* state, Time until) {
            if (until > at)
                line << fmt::format("{},{},{},{},{}\n", worker / 2, worker % 2, state, seconds(at),
                                    seconds(until));
            at = until;
        };
        for (const Planned& task : plan.tasks) {
            if (task.worker != worker) continue;
            ++count;
            working += task.end - task.start;
            stay("idle", task.start);
            stay("working", task.end);
            stay("overhead", std::min(task.end + plan.turn, plan.makespan));
            telling += at - task.end;
        }
        stay("idle", plan.makespan);
        workers << fmt::format("{},{},{},0,{},{},0.0,0.0,{}\n", worker / 2, worker % 2, count,
                               seconds(working), seconds(telling),
                               seconds(plan.makespan - working - telling));
    }
}

Recorded read_back(const std::filesystem::path& folder) {
    Run run;
    run.directory = folder.string();
    run.cell = "cell";
    return read_recorded(run);
}

/// Expects the report's path of two hundred graphs to be that of their schedules.
void expect_paths(Time turn) {
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / ("report_path_" + std::to_string(::getpid()));
    std::size_t messages = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const Planner plan = planned(seed, turn);
        write_record(plan, folder / "cell");
        const Recorded recorded = read_back(folder);
        ASSERT_TRUE(recorded.is_graph);
        ASSERT_EQ(recorded.makespan, plan.makespan);

        std::vector<std::uint64_t> expected;
        Time work{}, on_their_way{}, turns{};
        const auto last = std::max_element(plan.tasks.begin(), plan.tasks.end(),
                                           [](const auto& a, const auto& b) { return a.end < b.end; });
        for (std::optional<std::size_t> at = static_cast<std::size_t>(last - plan.tasks.begin()); at;
             at = plan.tasks[*at].waited_for) {
            const Planned& task = plan.tasks[*at];
            expected.insert(expected.begin(), *at);
            work += task.end - task.start;
            if (task.by_message) on_their_way += plan.delay, ++messages;
            if (task.by_turn) turns += turn;
        }
        std::vector<std::uint64_t> found;
        CauseTimes sum;
        for (const PathStep& step : critical_path(recorded)) {
            found.push_back(*recorded.tasks[step.task].number);
            for (const Cause cause : all_causes) sum[cause] += step.before[cause] + step.within[cause];
        }
        ASSERT_EQ(found, expected) << seed;
        EXPECT_EQ(sum[Cause::work], work) << seed;
        EXPECT_EQ(sum[Cause::message], on_their_way) << seed;
        EXPECT_EQ(sum[Cause::scheduler], turns) << seed;
        EXPECT_EQ(sum.sum(), plan.makespan) << seed;
        EXPECT_EQ(work + on_their_way + turns, plan.makespan) << seed;
        for (const CauseTimes& worker : causes_of_workers(recorded)) EXPECT_EQ(worker.sum(), plan.makespan);
    }
    EXPECT_GT(messages, 200U) << "paths cross nodes";
    std::filesystem::remove_all(folder);
}

TEST(ReportPath, IsTheOneOfTheScheduleOnTwoHundredGraphs) {
    expect_paths(Time::zero());
}

// A task is recorded as ready once its turn has come, which is after the end of the task before it.
TEST(ReportPath, WaitsForTheTurnWhereNothingIsStolen) {
    expect_paths(Time(1000));
}

}  // namespace
}  // namespace heddle::report
