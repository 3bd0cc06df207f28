// Tests groups (recorded graphs of dataflow tasks) on simulated nodes that join and leave: a node stays as
// long as a group may need it, and no longer.
#include <gtest/gtest.h>

#include "model/dataflow.hpp"
#include "runtime/run/members.hpp"
#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::testing_dataflow_members {
namespace {

using namespace dataflow;
using sim::SimBackend;
using sim::testing::busy;
using sim::testing::ideal;
using sim::testing::simulate;
using sim::testing::StatedWorkload;
using sim::testing::us;

Platform of_members(NodeId nodes, NodeId at_start, std::vector<NodeEvent> events) {
    Platform platform;
    platform.nodes = nodes;
    platform.nodes_at_start = at_start;
    platform.cores = 2;
    platform.events = std::move(events);
    return platform;
}

NodeEvent changes(Time at, NodeId node, bool joins) {
    NodeEvent event;
    event.at = at;
    event.node = node;
    event.member = joins;
    return event;
}

const std::vector<StatedWorkload>& placed_workloads() {
    static const std::vector<StatedWorkload> all{
        {"dataflow_cholesky", {{"tiles", "8"}, {"tile_size", "24"}}, "cyclic"},
        {"dataflow_jacobi", {{"n", "66"}, {"sweeps", "20"}, {"strips", "8"}}, "cyclic"},
        {"mass_spring", {}, "cyclic"},
    };
    return all;
}

TEST(SimDataflowMembers, ANodeThatAGroupIsPlacedOnDoesNotLeave) {
    for (const StatedWorkload& workload : placed_workloads()) {
        for (const Time at : {us(1), us(200)}) {
            const Platform platform = of_members(4, 4, {changes(at, 3, false)});
            const auto result = simulate(workload, platform, {});
            const auto membership = result.members.find(3);
            EXPECT_TRUE(membership == result.members.end() || membership->second.ended == Time::zero())
                << workload.name;
        }
    }
}

TEST(SimDataflowMembers, NodesThatHaveNotJoinedAreNotToldOfAGroup) {
    for (StatedWorkload workload : placed_workloads()) {
        if (workload.name == "mass_spring") continue;  // one node alone records its groups
        workload.settings["recording"] = "everywhere";
        simulate(workload, of_members(3, 2, {}), {});
        for (const Time at : {us(1), us(100)})
            simulate(workload, of_members(3, 2, {changes(at, 2, true)}), {});
    }
}

void increase(Thread& /*self*/, shared_rw<long> object) {
    ++object.value();
}

Placer all_on(NodeId node) {
    return [node](const Recording& recording) {
        GroupPlacing placing;
        for (TaskIndex task = 0; task < recording.graph().tasks(); ++task) {
            placing.of_task.push_back({node, 0});
            placing.sequence.push_back(task);
        }
        return placing;
    };
}

/// A program that does not say that it places: node 1 is asked to leave while a value rests there.
class RestingValue final : public DataflowProgram {
public:
    void main(Thread& self) override {
        const shared<long> object(self, 0L);
        const auto record = [&](GroupRecorder&) { self.fork<increase>(object); };
        {
            Group away(self, all_on(1), record);
            away.run(3);
            runtime::ask_to_leave(self.worker().outbox(), 1);
            work(self);
            away.run(2);
            // It takes the value from there.
            Group home(self, all_on(0), record);
            home.run();
            EXPECT_EQ(object.read(), 6);
        }
        work(self);
    }
    runtime::Answer answer() const override { return {}; }

private:
    static void work(Thread& self) {
        self.worker().outbox().flush();
        self.worker().compute(busy(us(1000)), [] {});
    }
};

TEST(SimDataflowMembers, ANodeWithAValueOfAGroupLeavesWhenTheGroupHasEnded) {
    Platform platform = of_members(2, 2, {});
    platform.core_speed = ideal(2, 2).core_speed;
    SimBackend backend(platform, {});
    const auto result =
        runtime::Execution(backend, {}, [](NodeId) { return std::make_unique<RestingValue>(); }).run();
    EXPECT_GT(result.members.at(1).ended, us(1000));
    EXPECT_LT(result.members.at(1).ended, us(1900));
}

}  // namespace
}  // namespace heddle::testing_dataflow_members
