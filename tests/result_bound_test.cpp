// Tests the lower bound on a makespan that declared bytes give, if the memory's bandwidth depends on how many
// cores stream, and where there is none. The bounds are calculated by hand.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "results/lower_bound.hpp"

namespace heddle::results {
namespace {

/// The bound of a run that declares 1 GB, and took 10 s, on these nodes.
double bound(NodeId nodes, CoreId cores, const MemoryBandwidth& bandwidth, double of_core = 0,
             NodeId processes = 1) {
    Record record;
    record.experiment.backend = configs::Backend::sim;
    record.experiment.platform.nodes = nodes;
    record.experiment.platform.processes = processes;
    record.experiment.platform.memory_bandwidth = bandwidth;
    record.experiment.platform.core_memory_bandwidth = of_core;
    record.topology.nodes = nodes;
    record.topology.cores = cores;
    record.topology.core_speed = 1e9;
    record.result.total.declared_bytes = 1e9;
    record.result.makespan = std::chrono::seconds(10);
    return lower_bound_seconds(record).value();
}

const MemoryBandwidth falling({1e9, 1.6e9, 1.5e9, 1.2e9});

TEST(ResultBound, BytesPassAtTheMostThatAnyNumberOfCoresGets) {
    EXPECT_DOUBLE_EQ(bound(1, 1, falling), 1 / 1.0);
    EXPECT_DOUBLE_EQ(bound(1, 2, falling), 1 / 1.6);
    EXPECT_DOUBLE_EQ(bound(1, 4, falling), 1 / 1.6);
    EXPECT_DOUBLE_EQ(bound(1, 9, falling), 1 / 1.6);
    EXPECT_DOUBLE_EQ(bound(4, 4, falling), 1 / 6.4);
    EXPECT_DOUBLE_EQ(bound(1, 9, MemoryBandwidth({1e9, 2e9})), 1 / 2.0);
    EXPECT_DOUBLE_EQ(bound(2, 4, 3e9), 1 / 6.0);
}

// Tasks may then take less time than they declare.
TEST(ResultBound, IsUnknownWhereTheTimeOfCodeIsMeasured) {
    Record record;
    record.experiment.backend = configs::Backend::sim;
    record.topology.nodes = record.topology.cores = 1;
    record.topology.core_speed = 1e9;
    record.result.total.declared_flops = 1e9;
    record.result.makespan = std::chrono::milliseconds(1);
    EXPECT_EQ(lower_bound_seconds(record), 1);
    record.experiment.compute = configs::Compute::measured;
    EXPECT_EQ(lower_bound_seconds(record), std::nullopt);
}

// The plan's messages may take longer than those of the run, so that only the work gives a bound.
TEST(ResultBound, MessagesThatAreNotAsPlannedGiveNone) {
    Record record;
    record.experiment.backend = configs::Backend::sim;
    record.topology.nodes = record.topology.cores = 1;
    record.topology.core_speed = 1e9;
    record.result.makespan = std::chrono::seconds(10);
    record.forecast.lower_bound_seconds = 7;
    record.forecast.work_bound_seconds = 5;
    EXPECT_EQ(lower_bound_seconds(record), 7);
    record.experiment.platform.gateways.all_rails = true;
    EXPECT_EQ(lower_bound_seconds(record), 5);
    record.experiment.platform.gateways.all_rails = false;
    const JoinedNodes left{"left", {0, 1}, Time(1000), 1e9}, right{"right", {1, 2}, Time(1000), 1e9};
    record.topology.nodes = 3;
    record.topology.routes = std::make_shared<NetworkRoutes>(3, std::vector{left, right}, Gateways{});
    EXPECT_EQ(lower_bound_seconds(record), 5);  // node 1 is a gateway
    const JoinedNodes all{"all", {0, 1, 2}, Time(1000), 1e9};
    record.topology.routes = std::make_shared<NetworkRoutes>(3, std::vector{all, right}, Gateways{});
    EXPECT_EQ(lower_bound_seconds(record), 7);
    record.topology.routes = nullptr;
    record.experiment.platform.link_events.push_back({.at = Time::zero(), .link = "a", .bandwidth = 100});
    EXPECT_EQ(lower_bound_seconds(record), 5);
    record.experiment.platform.events.push_back({.at = Time::zero(), .node = 0, .speed = 2});
    EXPECT_EQ(lower_bound_seconds(record), std::nullopt);
}

// min(B(k), k c): 0.7, 1.4, 1.5 and 1.2 GB/s for c = 0.7 GB/s.
TEST(ResultBound, TheLimitOfACoreHoldsForEachNumberOfThem) {
    EXPECT_DOUBLE_EQ(bound(1, 1, falling, 0.7e9), 1 / 0.7);
    EXPECT_DOUBLE_EQ(bound(1, 2, falling, 0.7e9), 1 / 1.4);
    EXPECT_DOUBLE_EQ(bound(1, 4, falling, 0.7e9), 1 / 1.5);
    EXPECT_DOUBLE_EQ(bound(1, 8, MemoryBandwidth({1e9, 3e9}), 0.7e9), 1 / 3.0);
    EXPECT_DOUBLE_EQ(bound(1, 4, 40e9, 0.7e9), 1 / 2.8);
}

TEST(ResultBound, TheCoresOfAMachinesNodesCount) {
    EXPECT_DOUBLE_EQ(bound(2, 1, falling, 0, 2), 1 / 1.6);
    EXPECT_DOUBLE_EQ(bound(4, 1, falling, 0, 2), 1 / 3.2);
    EXPECT_DOUBLE_EQ(bound(4, 1, falling), 1 / 4.0);
}

}  // namespace
}  // namespace heddle::results
