// Tests what a dataflow group records. The graphs of the factorizations and of a stencil equal those of the
// generators, task by task and edge by edge. What cannot be recorded or placed is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <tuple>
#include <vector>

#include "graphs/generators/generator.hpp"
#include "model/dataflow.hpp"
#include "partitioners/place_graph.hpp"
#include "partitioners/schedulers/scheduler.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "workloads/dataflow_tiles.hpp"
#include "workloads/group_placing.hpp"

namespace heddle::dataflow {
namespace {

class RecordedProgram final : public DataflowProgram {
public:
    using Body = std::function<void(Thread&)>;
    explicit RecordedProgram(Body body) : body_(std::move(body)) {}
    void main(Thread& self) override { body_(self); }
    runtime::Answer answer() const override { return {}; }

private:
    Body body_;
};

void run(const RecordedProgram::Body& body, CoreId cores = 1) {
    inprocess::Options options;
    options.cores = cores;
    inprocess::InprocessBackend backend(options);
    runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<RecordedProgram>(body); }).run();
}

/// All of a group on worker 0 of node 0, in the order of the forks.
GroupPlacing in_order(const Recording& recording) {
    GroupPlacing placing;
    for (TaskIndex task = 0; task < recording.tasks().size(); ++task) {
        placing.of_task.push_back({0, 0});
        placing.sequence.push_back(task);
    }
    return placing;
}

using Edges = std::vector<std::tuple<TaskIndex, TaskIndex, double>>;

Edges edges_of(const TaskGraph& graph) {
    Edges edges;
    for (TaskIndex task = 0; task < graph.tasks(); ++task)
        for (const TaskGraph::Link& link : graph.successors(task))
            edges.emplace_back(task, link.task, link.bytes);
    std::ranges::sort(edges);
    return edges;
}

void expect_equal(const TaskGraph& found, const TaskGraph& expected, double work_error) {
    ASSERT_EQ(found.tasks(), expected.tasks());
    for (TaskIndex task = 0; task < found.tasks(); ++task)
        ASSERT_NEAR(found.flops(task), expected.flops(task), work_error * expected.flops(task)) << task;
    ASSERT_EQ(edges_of(found), edges_of(expected));
}

void set_to_one(Thread& /*self*/, shared_w<long> object) {
    object = 1;
}

void set_in_steps(Thread& self, int steps, shared_wp<long> object) {
    if (steps > 0) return self.fork<set_in_steps>(steps - 1, object);
    self.fork<set_to_one>(object);
}

void add_one(Thread& /*self*/, shared_rw<long> object) {
    ++object.value();
}

TEST(Recording, IsOfTheGroupsTasksAlsoWhenTasksBeforeItForkOthers) {
    run([](Thread& self) {
        const shared<long> object(self);
        self.fork<set_in_steps>(5, object);
        const Recording recording(self, [&](GroupRecorder& recorder) {
            for (const double work : {10., 20., 30.}) {
                recorder.next(work, "task " + std::to_string(static_cast<int>(work)));
                self.fork<add_one>(object);
            }
        });
        ASSERT_EQ(recording.tasks().size(), 3U);
        for (TaskIndex task = 0; task < 3; ++task) {
            const int work = 10 * (static_cast<int>(task) + 1);
            EXPECT_EQ(recording.tasks()[task].work, work);
            EXPECT_EQ(recording.tasks()[task].name, "task " + std::to_string(work));
        }
    });
}

TEST(Recording, OfAFactorizationIsTheGeneratorsGraph) {
    const std::tuple<const char*, const workloads::DataflowTiles*> kinds[] = {
        {"cholesky", &workloads::dataflow_cholesky()}, {"lu", &workloads::dataflow_lu()}};
    for (const auto& [name, algorithm] : kinds) {
        for (std::uint32_t tiles = 1; tiles <= 20; ++tiles) {
            const graphs::GraphFile expected =
                graphs::generate(name, {{"tiles", std::to_string(tiles)}, {"tile_size", "8"}});
            run([&, algorithm = algorithm](Thread& self) {
                workloads::SharedTiles matrix(self, {tiles, 8, 1, algorithm->symmetric});
                matrix.make_tiles(self);
                const Recording recording(self, [&](GroupRecorder& recorder) {
                    matrix.record(recorder);
                    algorithm->factorize(self, matrix);
                });
                expect_equal(recording.graph(), expected.graph, 1e-12);
            });
        }
    }
}

void cell(Thread& /*self*/, shared_r<double> left, shared_r<double> old, shared_r<double> right,
          shared_w<double> next) {
    next = (left + old + right) / 3;
}

void edge_cell(Thread& /*self*/, shared_r<double> old, shared_r<double> neighbour, shared_w<double> next) {
    next = (old + neighbour) / 2;
}

void lone_cell(Thread& /*self*/, shared_r<double> old, shared_w<double> next) {
    next = old.read();
}

TEST(Recording, OfAStencilIsTheGeneratorsGraph) {
    for (std::size_t width = 1; width <= 20; ++width) {
        const std::size_t steps = 1 + width % 5;
        const graphs::GraphFile expected = graphs::generate("stencil_1d", {{"width", std::to_string(width)},
                                                                           {"steps", std::to_string(steps)},
                                                                           {"flops", "3f"},
                                                                           {"bytes", "8B"}});
        run([&](Thread& self) {
            std::deque<shared<double>> grids[2];
            for (auto& grid : grids)
                for (std::size_t i = 0; i < width; ++i) grid.emplace_back(self, 1.0);
            const Recording recording(self, [&](GroupRecorder& recorder) {
                for (std::size_t step = 0; step < steps; ++step) {
                    const auto& old = grids[step % 2];
                    const auto& next = grids[(step + 1) % 2];
                    for (std::size_t i = 0; i < width; ++i) {
                        recorder.next(3);
                        if (width == 1) {
                            self.fork<lone_cell>(old[0], next[0]);
                        } else if (i == 0 || i + 1 == width) {
                            self.fork<edge_cell>(old[i], old[i == 0 ? 1 : i - 1], next[i]);
                        } else {
                            self.fork<cell>(old[i - 1], old[i], old[i + 1], next[i]);
                        }
                    }
                }
            });
            expect_equal(recording.graph(), expected.graph, 0);
        });
    }
}

// --- what is refused

void expect_refused(const RecordedProgram::Body& body, const std::string& why) {
    try {
        run(body);
        ADD_FAILURE() << "expected: " << why;
    } catch (const std::exception& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr(why));
    }
}

void nothing(Thread& /*self*/, shared_w<double> /*never*/) {}

TEST(Recording, RefusesWhatNoSequentialProgramCouldDo) {
    expect_refused(
        [](Thread& self) {
            const shared<double> never(self);
            const shared<double> to(self);
            Group group(self, in_order, [&](GroupRecorder&) { self.fork<lone_cell>(never, to); });
        },
        "lone_cell reads a shared object to which neither a task of its group nor the program has written");
    expect_refused(
        [](Thread& self) {
            const shared<double> to(self);
            Group group(self, in_order, [&](GroupRecorder&) { self.fork<nothing>(to); });
            group.run();
        },
        "has not written an object that it has as shared_w");
    expect_refused([](Thread& self) { Group group(self, in_order, [&](GroupRecorder&) { self.sync(); }); },
                   "sync() while the graph of a group is recorded");
}

TEST(Recording, RefusesPlacingsThatAreNone) {
    const auto with = [](const Placer& placer) {
        return [placer](Thread& self) {
            const shared<double> a(self, 1.0);
            const shared<double> b(self);
            const shared<double> c(self);
            Group group(self, placer, [&](GroupRecorder&) {
                self.fork<lone_cell>(a, b);
                self.fork<lone_cell>(b, c);
            });
        };
    };
    expect_refused(with([](const Recording&) { return GroupPlacing{}; }), "has 2 tasks, and 0 were placed");
    expect_refused(with([](const Recording&) {
                       return GroupPlacing{{{7, 0}, {0, 0}}, {0, 1}};
                   }),
                   "task 0 of a group is placed on worker 0 of node 7");
    expect_refused(with([](const Recording&) {
                       return GroupPlacing{{{0, 0}, {0, 0}}, {1, 0}};
                   }),
                   "task 1 of a group comes before task 0");
    expect_refused(with([](const Recording&) {
                       return GroupPlacing{{{0, 0}, {0, 0}}, {0, 0}};
                   }),
                   "does not name each of them once");
}

TEST(Recording, RefusesMorePartsThanTasks) {
    const std::vector<std::string> schedulers = schedulers::names();
    for (const std::string& placement : partitioners::placement_names()) {
        SCOPED_TRACE(placement);
        runtime::Schedule schedule;
        schedule.placement = placement;
        ClusterView cluster;
        cluster.grid = {1, 4};
        const auto placer = workloads::group_placer(cluster, schedule);
        if (!placer) continue;
        const auto group_of = [&](std::size_t tasks) {
            return [&, tasks](Thread& self) {
                const shared<double> from(self, 1.0);
                std::deque<shared<double>> to;
                for (std::size_t i = 0; i < tasks; ++i) to.emplace_back(self);
                Group group(self, *placer, [&](GroupRecorder&) {
                    for (const auto& object : to) self.fork<lone_cell>(from, object);
                });
            };
        };
        const bool may_be_empty = std::ranges::find(schedulers, placement) != schedulers.end();
        if (may_be_empty) {
            EXPECT_NO_THROW(run(group_of(3), 4));
        } else {
            expect_refused(group_of(3), "a group has 3 tasks, and " + placement + " is to make 4 parts");
            expect_refused(group_of(3), "schedule.placement");
        }
        EXPECT_NO_THROW(run(group_of(4), 4));
    }
}

}  // namespace
}  // namespace heddle::dataflow
