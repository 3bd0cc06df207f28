// Tests simulated nodes that join and leave: answers are right, new nodes get work, and the makespan is near
// the ideal one. The bytes are the same whatever order or number of threads simulates the machines.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "host/thread_crew.hpp"
#include "model/fork_join.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

/// The answers of the first three are known: nqueens 10 has 724 solutions; UTS T1's are the official
/// program's; Cholesky's residual is compared with a bound.
std::vector<StatedWorkload> workloads_here() {
    return {
        {"nqueens", {{"n", "10"}}},
        {"uts", {{"tree", "T1"}, {"depth", "8"}}},
        {"cholesky", {{"tiles", "12"}, {"tile_size", "48"}}, "cyclic"},
        {"bag", {{"tasks", "4000"}}},
    };
}

Platform four_nodes() {
    Platform platform;
    platform.nodes = 4;
    platform.cores = 2;
    return platform;
}

NodeEvent member(Time at, NodeId node, bool joins) {
    NodeEvent event;
    event.at = at;
    event.node = node;
    event.member = joins;
    return event;
}

/// Two nodes begin, two join at 30% of the time that two need, and node 1 leaves at half of it.
Platform changing(Time alone) {
    Platform platform = four_nodes();
    platform.nodes_at_start = 2;
    platform.events = {member(3 * alone / 10, 2, true), member(3 * alone / 10, 3, true),
                       member(alone / 2, 1, false)};
    return platform;
}

runtime::Schedule schedule_of(std::uint64_t seed) {
    runtime::Schedule schedule;
    schedule.seed = seed;
    return schedule;
}

TEST(SimMembers, TwoJoinAndOneLeavesAndTheAnswersAreRight) {
    for (const StatedWorkload& workload : workloads_here()) {
        SCOPED_TRACE(workload.name);
        Platform two = four_nodes();
        two.nodes = 2;
        const Time alone = simulate(workload, two, schedule_of(1)).makespan;
        const auto result = simulate(workload, changing(alone), schedule_of(1));
        for (const NodeId joined : {2U, 3U}) {
            EXPECT_GT(result.nodes[joined].tasks, 10U);
            EXPECT_GE(result.members.at(joined).began, 3 * alone / 10);
            // Each of two workers: since then, and until it knows of the end.
            EXPECT_TRUE(result.nodes[joined].busy <= 2 * (result.makespan - 3 * alone / 10 + us(200)));
        }
        EXPECT_LT(result.makespan, alone);
        // Its tiles keep a node of a placed graph until all tasks that were placed on it have run.
        if (workload.name != "cholesky") {
            EXPECT_GE(result.members.at(1).ended, alone / 2);
        }
    }
}

// The graph has costs of each task on the nodes that begin, about a second. On the node that joins a task
// takes their mean.
TEST(SimMembers, TasksWithCostsOnEachProcessorTakeTheirMeanOnANodeThatJoins) {
    const StatedWorkload dag{"dag", {{"graph", "topcuoglu:tasks=60,processors=2,mean=1,alpha=3"}}, "heft"};
    Platform platform;
    platform.nodes = 3;
    platform.cores = 1;
    platform.core_speed = 1e9;
    platform.nodes_at_start = 2;
    platform.events = {member(std::chrono::milliseconds(1), 2, true)};
    const auto joined = simulate(dag, platform, schedule_of(1)).nodes[2];
    EXPECT_GT(joined.tasks, 3U);
    const double mean_seconds = to_seconds(joined.busy) / static_cast<double>(joined.tasks);
    EXPECT_GT(mean_seconds, 0.2);
    EXPECT_LT(mean_seconds, 3);
}

/// Again, with the nodes of each window in the reverse order, and with several threads.
void expect_same_in_each_order(const StatedWorkload& workload, const Platform& platform) {
    const auto expected = all_of(simulate(workload, platform, schedule_of(5)));
    EXPECT_EQ(all_of(simulate(workload, platform, schedule_of(5))), expected);
    SimOptions reverse;
    reverse.reverse_nodes = true;
    EXPECT_EQ(all_of(simulate(workload, platform, schedule_of(5), reverse)), expected);
    SimOptions threads;
    threads.crew = std::make_shared<host::ThreadCrew>(2);
    EXPECT_EQ(all_of(simulate(workload, platform, schedule_of(5), threads)), expected);
}

TEST(SimMembers, ThreadsAndOrdersGiveTheSame) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    for (const StatedWorkload& workload : workloads_here()) {
        SCOPED_TRACE(workload.name);
        Platform two = four_nodes();
        two.nodes = 2;
        const Platform platform = changing(simulate(workload, two, schedule_of(1)).makespan);
        expect_same_in_each_order(workload, platform);
    }
}

// Two nodes have done 30% of the work when the third joins; three do the rest.
TEST(SimMembers, AThirdNodeThatJoinsIsWorthNearlyAWholeOne) {
    const StatedWorkload work{"nqueens", {{"n", "10"}, {"unit_cost", "1000f"}}};
    Platform two = four_nodes();
    two.nodes = 2;
    const Time alone = simulate(work, two, schedule_of(1)).makespan;
    Platform platform = four_nodes();
    platform.nodes = 3;
    platform.nodes_at_start = 2;
    platform.events = {member(3 * alone / 10, 2, true)};
    const auto result = simulate(work, platform, schedule_of(1));
    const double ideal = to_seconds(alone) * (0.3 + 0.7 * 2 / 3);
    EXPECT_LT(to_seconds(result.makespan), 1.1 * ideal);
    EXPECT_GT(to_seconds(result.makespan), 0.95 * ideal);
}

TEST(SimMembers, AHundredSeeds) {
    const auto all = workloads_here();
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        Platform platform = four_nodes();
        platform.nodes = static_cast<NodeId>(2 + random.below(8));
        platform.nodes_at_start = static_cast<NodeId>(1 + random.below(platform.nodes));
        platform.cores = static_cast<CoreId>(1 + random.below(3));
        for (NodeId node = 1; node < platform.nodes; ++node) {
            const Time at = us(static_cast<std::int64_t>(random.below(3000)));
            if (node >= platform.nodes_at_start) platform.events.push_back(member(at, node, true));
            if (random.below(3) == 0)
                platform.events.push_back(
                    member(at + us(static_cast<std::int64_t>(random.below(2000))), node, false));
        }
        SimOptions options;
        options.single_module = random.below(3) == 0;
        options.workers_send = !options.single_module && random.below(3) == 0;
        runtime::Schedule schedule = schedule_of(seed);
        static const std::vector<std::string> policies = {"random", "local_first", "hierarchical", "lifeline",
                                                          "satin"};
        schedule.stealing.victim = policies[random.below(policies.size())];
        simulate(all[seed % all.size()], platform, schedule, options);
    }
}

// What a leaver gives away may come to a node that has asked to leave already, and that nothing more is sent
// to. It hands such tasks on: if it ran one, other nodes could steal a part of it, whose result had no way
// home.
TEST(SimMembers, NodesThatLeaveAtTheSameTimeHandOnWhatTheyGiveEachOther) {
    const StatedWorkload work{"uts", {{"tree", "T1"}, {"depth", "6"}}};
    Platform two = four_nodes();
    two.events = {member(us(80), 3, false), member(us(82), 1, false)};
    Platform four = four_nodes();
    four.nodes = 6;
    four.events = {member(us(50), 5, false), member(us(80), 4, false), member(us(120), 3, false),
                   member(us(160), 2, false)};
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        ASSERT_NO_THROW(simulate(work, two, schedule_of(seed)));
        ASSERT_NO_THROW(simulate(work, four, schedule_of(seed)));
    }
}

/// Two networks, joined by the first nodes; the nodes that join are members of one, or of both. Gateways hold
/// little, so that fragments wait for acknowledgments when nodes leave.
Platform on_two_networks(Random& random) {
    Platform platform;
    const auto gateways = static_cast<NodeId>(1 + random.below(2));
    platform.nodes_at_start = gateways + static_cast<NodeId>(1 + random.below(3));
    platform.nodes = platform.nodes_at_start + static_cast<NodeId>(random.below(4));
    platform.cores = static_cast<CoreId>(1 + random.below(2));
    platform.networks = {{"left", {}}, {"right", {}}};
    for (NodeId node = 0; node < platform.nodes; ++node) {
        const std::uint64_t where =
            node < gateways ? 2 : random.below(node < platform.nodes_at_start ? 2 : 3);
        if (where != 1) platform.networks[0].members.push_back(node);
        if (where != 0) platform.networks[1].members.push_back(node);
        if (node < gateways) continue;
        const Time at = us(static_cast<std::int64_t>(random.below(2000)));
        if (node >= platform.nodes_at_start) platform.events.push_back(member(at, node, true));
        if (random.below(2) == 0)
            platform.events.push_back(
                member(at + us(static_cast<std::int64_t>(random.below(2000))), node, false));
    }
    for (auto& network : platform.networks)
        if (network.members.size() < 2) network.members = {0, platform.nodes_at_start - 1};
    platform.gateways.fragment_bytes = 64U << random.below(8);
    platform.gateways.window_bytes = platform.gateways.fragment_bytes * (1 + random.below(4));
    platform.gateways.all_rails = random.below(2) == 0;
    return platform;
}

TEST(SimMembers, AHundredSeedsOnTwoNetworks) {
    const auto all = workloads_here();
    std::uint64_t joined = 0;
    std::uint64_t left = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Platform platform = on_two_networks(random);
        const auto result = simulate(all[seed % all.size()], platform, schedule_of(seed));
        for (const auto& [node, membership] : result.members) {
            if (node >= platform.nodes_at_start && result.nodes[node].tasks > 10) ++joined;
            if (membership.ended != Time::zero()) ++left;
        }
    }
    EXPECT_GT(joined, 30U);
    EXPECT_GT(left, 20U);
}

TEST(SimMembers, OrdersGiveTheSameOnTwoNetworks) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    for (const StatedWorkload& workload : workloads_here()) {
        SCOPED_TRACE(workload.name);
        Random random(11);
        const Platform platform = on_two_networks(random);
        expect_same_in_each_order(workload, platform);
    }
}

/// Node 0 starts the others when it has begun, and each of these asks itself to leave.
class Starter final : public runtime::Program {
public:
    explicit Starter(NodeId node) : node_(node) {}
    void begin(runtime::Worker& worker) override {
        if (node_ == 0 && worker.id.core == 0) runtime::start_nodes(worker.outbox(), 2);
        if (node_ == 0) worker.compute(busy(us(1000)), {});
    }
    void joined(runtime::Node& node, NodeId other) override {
        heard_.push_back(other);
        if (node_ == 0) runtime::ask_to_leave(node.receiver_outbox(), other);
    }
    void left(runtime::Node& /*node*/, NodeId other) override { heard_.push_back(100 + other); }
    runtime::Answer answer() const override { return {}; }
    const std::vector<NodeId>& heard() const { return heard_; }

private:
    NodeId node_;
    std::vector<NodeId> heard_;
};

TEST(SimMembers, AProgramStartsNodesAndSendsThemAway) {
    Platform platform = ideal(4, 1);
    platform.nodes_at_start = 1;
    SimBackend backend(platform, {});
    std::vector<Starter*> programs(platform.nodes);
    runtime::Execution execution(backend, schedule_of(1), [&](NodeId node) {
        auto program = std::make_unique<Starter>(node);
        programs[node] = program.get();
        return program;
    });
    const auto result = execution.run();
    EXPECT_EQ(programs[0]->heard().size(), 4U);
    for (const NodeId node : {1U, 2U}) {
        EXPECT_GT(result.members.at(node).began, Time::zero());
        EXPECT_LT(result.members.at(node).ended, us(1000));
        EXPECT_GT(result.members.at(node).ended, result.members.at(node).began);
    }
    EXPECT_EQ(result.members.at(3).began, never);
}

/// Its root takes 100 us. The second worker of node 0 wakes up after 500.
class OneSleepsLong final : public model::ForkJoinProgram {
public:
    void begin(runtime::Worker& worker) override {
        if (worker.id == WorkerId{0, 1}) sleep_until(worker, us(500));
        ForkJoinProgram::begin(worker);
    }
    void root(model::Strand strand) override { strand.worker().compute(busy(us(100)), {}); }
    runtime::Answer answer() const override { return {}; }
};

// The second worker shows itself active while it sleeps, so that the run still goes on when node 1 joins.
TEST(SimMembers, TheRunEndsWithItsLastTaskAlthoughWorkersBeginLater) {
    Platform platform = ideal(2, 2);
    platform.nodes_at_start = 1;
    platform.events = {member(us(300), 1, true)};
    SimBackend backend(platform, {});
    runtime::Execution execution(backend, schedule_of(1),
                                 [](NodeId) { return std::make_unique<OneSleepsLong>(); });
    const auto result = execution.run();
    EXPECT_EQ(result.makespan, us(100));
    EXPECT_GE(result.members.at(1).began, us(300));
    EXPECT_NE(result.members.at(1).began, never);
    EXPECT_EQ(result.total.times[Activity::working], us(100));
    EXPECT_EQ(result.total.times.sum(), TimeSum(us(400)));
}

/// Node 0 computes for 100 us. The others begin with a microsecond of work.
class EachBeginsWork final : public runtime::Program {
public:
    void begin(runtime::Worker& worker) override {
        worker.compute(busy(us(worker.id.node == 0 ? 100 : 1)), {});
    }
    runtime::Answer answer() const override { return {}; }
};

// Messages take so long that node 2, which joins early, still looks for work when node 1 starts. If that is
// after the end of the run, or soon before it, node 1 is turned away.
TEST(SimMembers, ANodeBeginsWhenItHasJoined) {
    bool turned_away = false;
    for (int starts = 60; starts < 400; starts += 3) {
        SCOPED_TRACE(starts);
        Platform platform = ideal(3, 1);
        platform.network.latency = us(20);
        platform.nodes_at_start = 1;
        platform.events = {member(us(5), 2, true), member(us(starts), 1, true)};
        SimBackend backend(platform, {});
        const auto result = runtime::Execution(backend, schedule_of(1), [](NodeId) {
                                return std::make_unique<EachBeginsWork>();
                            }).run();
        const Time began = result.members.at(1).began;
        turned_away = turned_away || began == never;
        EXPECT_EQ(result.makespan, began == never ? us(100) : std::max<Time>(us(100), began + us(1)));
        EXPECT_EQ(result.total.times[Activity::working], us(began == never ? 101 : 102));
        EXPECT_EQ(result.total.times.sum(), TimeSum(result.makespan) * 3);
    }
    EXPECT_TRUE(turned_away);
}

// A node that is asked to leave just before such a thread is started there stays.
TEST(SimMembers, NoNodeLeavesWhereThreadsAreStartedThatExchangeMessages) {
    Platform platform;
    platform.nodes = 3;
    platform.cores = 1;
    for (const StatedWorkload& workload :
         {StatedWorkload{"neighbours", {{"threads", "3"}, {"rounds", "1"}}},
          StatedWorkload{"ping_pong", {{"messages", "2"}}}, StatedWorkload{"stream", {{"messages", "2"}}}}) {
        SCOPED_TRACE(workload.name);
        for (int leaves = 0; leaves < 20; ++leaves) {
            platform.events = {member(us(leaves), 2, false)};
            EXPECT_TRUE(simulate(workload, platform, schedule_of(1)).members.empty()) << leaves;
        }
    }
}

/// Runs Starter on the platform, where node 0 begins and two more start.
runtime::RunResult started_on(const Platform& platform) {
    SimBackend backend(platform, {});
    runtime::Execution execution(backend, schedule_of(1),
                                 [](NodeId node) { return std::make_unique<Starter>(node); });
    return execution.run();
}

// Nodes that join are no gateways, so the nodes that begin are. Whatever networks node 0 is in, a node that
// it starts begins after the latency of the way: 2 us over each network.
TEST(SimMembers, AProgramStartsNodesOfOtherNetworks) {
    for (const bool exact : {false, true}) {
        SCOPED_TRACE(exact ? "exact" : "full");
        Platform platform = ideal(4, 1);
        platform.nodes_at_start = 2;
        if (exact) platform.network.contention = heddle::Network::Contention::exact;
        // The nodes that start are in another network than node 0; in its second one; in its first one.
        for (const NodeId gateway : {1U, 0U}) {
            platform.networks = {{"left", {0, 1}}, {"right", {gateway, 2, 3}}};
            for (int order = 0; order < 2; ++order) {
                const auto result = started_on(platform);
                for (const NodeId node : {2U, 3U}) {
                    // Node 0 does nothing else before it starts them, and is told of each by a message.
                    EXPECT_GE(result.members.at(node).began, us(gateway == 0 ? 2 : 4));
                    EXPECT_LT(result.members.at(node).began, us(100));
                    EXPECT_GT(result.members.at(node).ended, result.members.at(node).began);
                }
                std::swap(platform.networks[0], platform.networks[1]);
            }
        }
    }
}

TEST(SimMembers, ANodeThatComesTooLateIsTurnedAway) {
    const StatedWorkload work{"nqueens", {{"n", "6"}}};
    Platform platform = four_nodes();
    platform.nodes = 2;
    platform.nodes_at_start = 1;
    platform.events = {member(std::chrono::seconds(5), 1, true)};
    const auto result = simulate(work, platform, schedule_of(1));
    EXPECT_LT(result.makespan, std::chrono::seconds(1));
    EXPECT_EQ(result.members.at(1).began, never);
}

}  // namespace
}  // namespace heddle::sim::testing
