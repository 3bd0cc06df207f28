// Simulates nodes whose workers look for messages between tasks (schedule.modules: single), as in EARTH's
// older runtime (Tremblay et al., section 5: RTS 1.2).
#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "sim/sim_backend.hpp"
#include "tests/earth_testing.hpp"
#include "tests/placed_graph_testing.hpp"
#include "tests/strand_testing.hpp"

namespace heddle {
namespace {

using namespace test;

constexpr double busy_flops = 1e7;  // a millisecond

struct PlaceParameters {
    Global<std::int64_t> value;
};

/// Keeps the worker of node 1 busy.
struct Busy : Threaded<Busy, PlaceParameters> {
    void init(Em em) {
        em.compute({busy_flops, 0}, [] {});
        em.terminate();
    }
};

/// Reads a value of node 1, once that works, and notes when it has come, in nanoseconds.
struct Reader : Threaded<Reader, PlaceParameters> {
    std::int64_t copy;

    void init(Em em) {
        em.invoke<Busy>(1, value);
        em.compute({1e6, 0}, [] {});  // the invocation has begun by then
        em.sync(begin);
    }
    void ask(Em em) { em.get_sync(value, copy, came); }
    void note(Em em) {
        notes(em).add(em.worker().backend->now(em.worker()) / std::chrono::nanoseconds(1));
        em.terminate();
    }
    Fiber<&Reader::ask> begin{*this, 1};
    Fiber<&Reader::note> came{*this, 1};
};

std::int64_t answered_after(bool single) {
    Platform platform;
    platform.nodes = 2;
    platform.cores = 1;
    platform.core_speed = 1e10;
    sim::SimOptions options;
    options.single_module = single;
    sim::SimBackend backend(platform, options);
    static std::int64_t value = 7;
    Notes shared;
    run_on(backend, {2, 1, 1, "none"}, shared,
           [](Em em) { em.invoke<Reader>(0, Global<std::int64_t>(1, &value)); });
    return shared.values.at(0);
}

TEST(SimModules, AMessageWaitsForTheTaskOfASingleModuleAndNotForSeparateOnes) {
    EXPECT_LT(answered_after(false), 200'000);
    const std::int64_t single = answered_after(true);
    EXPECT_GT(single, 1'000'000);  // the busy millisecond of node 1
    EXPECT_LT(single, 1'100'000);
}

constexpr Time load_end = std::chrono::milliseconds(20);

void serve(runtime::Node& node, NodeId client);
void ask_again(runtime::Node& node);

const runtime::Handler served_handler("sim_modules_test.served", runtime::Handler::Kind::work,
                                      [](runtime::Node& node, NodeId /*from*/, auto /*message*/) {
                                          ask_again(node);
                                      });
const runtime::Handler serve_handler("sim_modules_test.serve", runtime::Handler::Kind::work,
                                     [](runtime::Node& node, NodeId from, auto /*message*/) {
                                         serve(node, from);
                                     });

/// A strand that works for ten microseconds, and answers.
void serve(runtime::Node& node, NodeId client) {
    runtime::Strand::start(node, node.receiver(), [client](runtime::Strand& self) {
        self.worker().compute({1e4, 0}, [] {});
        self.worker().outbox().post(client, served_handler, {});
    });
}

void ask_again(runtime::Node& node) {
    if (node.backend().now(node.receiver()) < load_end) node.receiver_outbox().post(0, serve_handler, {});
}

// Node 1 always has a request under way to node 0, where a strand sleeps meanwhile.
TEST(SimModules, RequestsThatStartStrandsLeaveTimersTheirTurn) {
    for (const bool single : {false, true}) {
        SCOPED_TRACE(single);
        Platform platform;
        platform.nodes = 2;
        platform.cores = 1;
        platform.core_speed = 1e9;
        sim::SimOptions options;
        options.single_module = single;
        sim::SimBackend backend(platform, options);
        Time woke{};
        runtime::Schedule schedule;
        schedule.modules = single ? runtime::Modules::single : runtime::Modules::separate;
        const auto begin = [&](runtime::Worker& worker) {
            if (worker.id.node == 1) {
                for (int i = 0; i < 2; ++i) worker.outbox().post(0, serve_handler, {});
                return;
            }
            runtime::Strand::start(worker, [&](runtime::Strand& self) {
                runtime::sleep_for(self, std::chrono::microseconds(200));
                woke = self.worker().backend->now(self.worker());
            });
        };
        runtime::Execution(backend, schedule, [&](NodeId) {
            return std::make_unique<testing_strands::OnEachNode>(begin);
        }).run();
        EXPECT_GE(woke, std::chrono::microseconds(200));
        EXPECT_LT(woke, load_end / 4);
    }
}

TEST(SimModules, EveryPolicyComesToItsEndTheSameEachTime) {
    for (const char* victim : {"none", "random", "local_first", "hierarchical", "lifeline"}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            Time makespans[2];
            for (Time& makespan : makespans) {
                Platform platform;
                platform.nodes = 6;
                platform.cores = 3;
                platform.overheads = Overheads::defaults();
                sim::SimOptions options;
                options.single_module = true;
                options.seed = seed;
                sim::SimBackend backend(platform, options);
                Notes shared;
                const auto result =
                    run_on(backend, {6, 3, seed, victim}, shared, [](Em em) { em.invoke<CountTreeMain>(0); });
                ASSERT_EQ(shared.total, count_tree_leaves) << victim << ", seed " << seed;
                ASSERT_EQ(unterminated(result), 0);
                makespan = result.makespan;
            }
            ASSERT_EQ(makespans[0], makespans[1]) << victim << ", seed " << seed;
        }
    }
}

/// Runs a chain of tasks of a millisecond on one worker, and returns the end of the last of them, too.
std::pair<runtime::RunResult, Time> run_chain(TaskIndex tasks, const Overheads& overheads) {
    TaskGraphBuilder builder;
    for (TaskIndex task = 0; task < tasks; ++task) builder.add_task(1e6);
    for (TaskIndex task = 1; task < tasks; ++task) builder.add_edge(task - 1, task, 0);
    const TaskGraph graph = builder.build();
    const Placement placement({1, 1}, std::vector<WorkerId>(tasks));
    std::vector<TaskIndex> sequence(tasks);
    std::iota(sequence.begin(), sequence.end(), TaskIndex{0});
    const model::PlacedGraph plan(graph, placement, sequence, model::PlacedGraph::Order::ready,
                                  model::PlacedGraph::Data::declared);
    Platform platform;
    platform.nodes = 1;
    platform.cores = 1;
    platform.core_speed = 1e9;
    platform.overheads = overheads;
    sim::SimOptions options;
    options.single_module = true;
    sim::SimBackend backend(platform, options);
    testing_placed::Diary diary(tasks);
    runtime::Schedule schedule;
    schedule.modules = runtime::Modules::single;
    const auto result = runtime::Execution(backend, schedule, [&](NodeId node) {
                            return std::make_unique<testing_placed::DiaryProgram>(plan, node, diary);
                        }).run();
    return {result, diary.back().end};
}

// A worker looks for messages after each task, and after the last one. That look is no part of the run.
TEST(SimModules, ALookForMessagesAfterTheLastTaskIsNoPartOfTheRun) {
    Overheads overheads{};
    overheads.poll = std::chrono::milliseconds(10);
    for (const TaskIndex tasks : {1U, 2U, 5U}) {
        SCOPED_TRACE(tasks);
        const auto [result, last_end] = run_chain(tasks, overheads);
        EXPECT_EQ(result.makespan, last_end);
        // There is a look between two tasks.
        EXPECT_GE(result.makespan, std::chrono::milliseconds(tasks + (tasks - 1) * 10));
        EXPECT_EQ(result.total.times[Activity::working], TimeSum(std::chrono::milliseconds(tasks)));
        EXPECT_EQ(result.total.times.sum(), TimeSum(result.makespan));
    }
}

}  // namespace
}  // namespace heddle
