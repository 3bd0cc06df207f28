// Tests dataflow groups that are placed again by the times that their tasks took in an iteration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/dataflow.hpp"
#include "tests/strand_testing.hpp"
#include "workloads/group_placing.hpp"
#ifdef HEDDLE_SIM
#include "configs/experiment.hpp"
#include "sim/sim_backend.hpp"
#endif

namespace heddle::dataflow {
namespace {

void work(Thread& self, double flops, shared_rw<long> count) {
    self.worker().compute({flops, 0}, {});
    ++count.value();
}

class WeighedProgram final : public DataflowProgram {
public:
    using Body = std::function<void(Thread&)>;
    explicit WeighedProgram(Body body) : body_(std::move(body)) {}
    void main(Thread& self) override { body_(self); }
    runtime::Answer answer() const override { return {}; }

private:
    Body body_;
};

constexpr std::size_t task_count = 30;

double flops_of(std::size_t i) {
    return 1e5 * static_cast<double>(1 + i * i % 17);
}

/// A task for each object. `declared`: they say what they do; else that all do the same.
void record(Thread& self, GroupRecorder& recorder, const std::vector<shared<long>>& objects, bool declared) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
        recorder.next(declared ? flops_of(i) : 1);
        self.fork<work>(flops_of(i), objects[i]);
    }
}

std::vector<shared<long>> declare_numbers(Thread& self) {
    std::vector<shared<long>> objects;
    for (std::size_t i = 0; i < task_count; ++i) objects.emplace_back(self, 0L);
    return objects;
}

#ifdef HEDDLE_SIM
TEST(DataflowWeights, MeasuredOnesPlaceAGroupAsTheRightDeclaredOnesDo) {
    // Overheads, as those of the threads, would be in the run's time and not in the tasks'.
    sim::SimBackend backend(configs::read_platform_text(
        "{platform: {nodes: 3, cores: 2, core_speed: 2Gf, node_speeds: [1, 0.5, 0.25], overheads: none}}",
        "test"));
    runtime::Schedule how;
    how.placement = "heft";
    how.stealing.victim = "none";
    const ClusterView cluster = backend.cluster(Time{});
    const auto placer = workloads::group_placer(cluster, how);
    const auto by_measure = workloads::group_placer(cluster, how, workloads::Weights::measured);
    const auto body = [&](Thread& self) {
        const auto objects = declare_numbers(self), others = declare_numbers(self);
        Group right(self, *placer, [&](GroupRecorder& recorder) { record(self, recorder, others, true); });
        Group group(self, *placer, [&](GroupRecorder& recorder) { record(self, recorder, objects, false); });
        group.measure();
        group.run(2);
        // Threads of a second run have their programs and values, and differ in their tasks only.
        group.run(10);
        const Time before = group.run_time();
        ASSERT_EQ(group.recording().measured().size(), task_count);
        for (std::size_t i = 0; i < task_count; ++i) {
            const auto& [time, worker] = group.recording().measured()[i];
            EXPECT_EQ(worker, group.placing().of_task[i]);
            const double speed = cluster.speeds[worker.node * cluster.grid.cores + worker.core];
            EXPECT_NEAR(to_seconds(time), flops_of(i) / speed, 2e-12) << i;
        }
        group.place(*by_measure);
        group.run();
        group.run(10);
        right.run();
        right.run(10);
        EXPECT_EQ(group.placing().of_task, right.placing().of_task);
        EXPECT_EQ(group.run_time(), right.run_time());
        EXPECT_LT(group.run_time(), before * 4 / 5);
        for (const auto& object : objects) EXPECT_EQ(object.read(), 23);
    };
    runtime::Execution(backend, how, [&](NodeId) { return std::make_unique<WeighedProgram>(body); }).run();
}
#endif

class DataflowWeightsWorlds : public testing::TestWithParam<testing_strands::World> {};

INSTANTIATE_TEST_SUITE_P(Worlds, DataflowWeightsWorlds, testing::ValuesIn(testing_strands::worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(DataflowWeightsWorlds, EachTaskIsMeasuredOnceAndTheAnswerIsTheSame) {
    GetParam().run(GetParam().one_node ? 1 : 3, 2, [](NodeId) {
        return std::make_unique<WeighedProgram>([](Thread& self) {
            const auto objects = declare_numbers(self);
            const WorkerGrid grid{self.worker().node().topology().nodes, self.worker().node().cores()};
            const Placer placer = [&](const Recording& recording) {
                GroupPlacing placing;
                for (TaskIndex task = 0; task < recording.tasks().size(); ++task) {
                    placing.of_task.push_back(grid.worker(task % grid.workers()));
                    placing.sequence.push_back(task);
                }
                placing.strict = true;
                return placing;
            };
            Group group(self, placer,
                        [&](GroupRecorder& recorder) { record(self, recorder, objects, false); });
            group.run();
            EXPECT_TRUE(group.recording().measured().empty());
            group.measure();
            group.run(3);
            for (const auto& [time, worker] : group.recording().measured()) EXPECT_GE(time, Time{});
            group.place(placer);
            group.run();
            for (const auto& object : objects) EXPECT_EQ(object.read(), 5);
        });
    });
}

}  // namespace
}  // namespace heddle::dataflow
