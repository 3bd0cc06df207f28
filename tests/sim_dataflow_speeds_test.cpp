// Tests dataflow groups with many iterations on nodes that are a factor of 3 apart in speed. A thousand
// sweeps have the sequential program's bits. An iteration of empty tasks costs less than the first.
#include <gtest/gtest.h>

#include "configs/experiment.hpp"
#include "model/dataflow.hpp"
#include "runtime/run/execution.hpp"
#include "sim/sim_backend.hpp"
#include "workloads/workload.hpp"

namespace heddle {
namespace {

double value_of(const runtime::RunResult& result, const std::string& name) {
    for (const runtime::AnswerValue& value : result.answer)
        if (value.name == name) return value.value;
    return -1;
}

runtime::RunResult expect_right(const std::string& placement, const std::string& recording,
                                const std::string& thieves) {
    SCOPED_TRACE(placement + ", recorded " + recording + ", " + thieves);
    sim::SimBackend backend(configs::read_platform_text(
        "{platform: {nodes: 3, cores: 2, core_speed: 3Gf, node_speeds: [1, 3, 1]}}", "test"));
    const workloads::Kind& kind = workloads::find("dataflow_jacobi");
    Settings settings(kind.settings);
    settings.set("n", "16");
    settings.set("strips", "7");
    settings.set("sweeps", "1000");
    settings.set("recording", recording);
    const auto workload = kind.make(settings);
    runtime::Schedule how;
    how.placement = placement;
    how.stealing.victim = thieves;
    workload->prepare(backend.cluster(Time{}), how);
    runtime::Execution execution(backend, how, [&](NodeId node) { return workload->program(node); });
    runtime::RunResult result = execution.run();
    const workloads::Verdict verdict = workload->check(result);
    EXPECT_EQ(verdict.kind, workloads::Verdict::Kind::right) << verdict.reason;
    EXPECT_EQ(value_of(result, "groups"), 1);
    return result;
}

TEST(SimDataflowSpeeds, AThousandSweepsOnUnequalNodesHaveTheSequentialBits) {
    for (const std::string placement : {"metis", "heft", "random"}) {
        for (const std::string recording : {"once", "everywhere"}) expect_right(placement, recording, "none");
        expect_right(placement, "once", "random");
    }
}

void empty(dataflow::Thread& /*self*/, dataflow::shared_r<long> /*from*/, dataflow::shared_rw<long> into) {
    ++into.value();
}

/// 10,000 tasks over 10,000 objects, each of which reads its neighbour's object.
class EmptyTasks final : public dataflow::DataflowProgram {
public:
    static constexpr std::size_t tasks = 10'000;
    static constexpr std::uint32_t iterations = 10;

    EmptyTasks(Time& first, Time& later) : first_(first), later_(later) {}

    void main(dataflow::Thread& self) override {
        std::vector<dataflow::shared<long>> objects;
        for (std::size_t i = 0; i < tasks; ++i) objects.emplace_back(self, 0L);
        const auto now = [&] { return self.worker().backend->now(self.worker()); };
        const WorkerGrid grid{self.worker().node().topology().nodes, self.worker().node().cores()};
        const auto place = [&](const dataflow::Recording& recording) {
            dataflow::GroupPlacing placing;
            for (TaskIndex task = 0; task < recording.tasks().size(); ++task) {
                placing.of_task.push_back(grid.worker(task * grid.workers() / tasks));
                placing.sequence.push_back(task);
            }
            return placing;
        };
        const auto record = [&](dataflow::GroupRecorder&) {
            for (std::size_t i = 0; i < tasks; ++i) self.fork<empty>(objects[(i + 1) % tasks], objects[i]);
        };
        const Time begin = now();
        dataflow::Group group(self, place, record);
        group.run();
        first_ = now() - begin;
        group.run(iterations);
        later_ = (now() - begin - first_) / iterations;
        group.home();
        for (const auto& object : objects) EXPECT_EQ(object.read(), 1 + iterations);
    }
    runtime::Answer answer() const override { return {}; }

private:
    Time& first_;
    Time& later_;
};

TEST(SimDataflowSpeeds, ALaterIterationOfEmptyTasksTakesAThirdOfTheFirst) {
    for (const std::string nodes : {"1", "4"}) {
        sim::SimBackend backend(
            configs::read_platform_text("{platform: {nodes: " + nodes + ", cores: 2}}", "test"));
        Time first{}, later{};
        runtime::Execution(backend, {}, [&](NodeId) {
            return std::make_unique<EmptyTasks>(first, later);
        }).run();
        EXPECT_LT(3 * later, first) << nodes;
    }
}

}  // namespace
}  // namespace heddle
