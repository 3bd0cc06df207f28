// Tests several simulated networks: how long messages take over gateways, by formula, and that programs run
// over them.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/outbox.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/run/execution.hpp"
#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

using runtime::Handler;
using runtime::Node;
using runtime::Worker;

/// When the message had arrived.
class OneMessage final : public runtime::Program {
public:
    OneMessage(NodeId to, std::uint64_t padding) : to_(to), padding_(padding) {}
    void begin(Worker& worker) override;
    runtime::Answer answer() const override { return {}; }

    Time arrival{};

private:
    NodeId to_;
    std::uint64_t padding_;
};

const Handler arrival_handler("sim_networks_test.arrival", Handler::Kind::work, [](Node& node, NodeId, auto) {
    static_cast<OneMessage&>(node.program()).arrival = node.receiver().clock;
});

void OneMessage::begin(Worker& worker) {
    if (worker.id != WorkerId{0, 0}) return;
    worker.outbox().post(to_, arrival_handler, {}, runtime::Enclosure{{}, padding_});
}

Time arrival(const Platform& platform, NodeId to, std::uint64_t padding) {
    SimBackend backend(platform, {});
    std::vector<OneMessage*> programs(platform.nodes);
    runtime::Execution execution(backend, {}, [&](NodeId node) {
        auto program = std::make_unique<OneMessage>(to, padding);
        programs[node] = program.get();
        return program;
    });
    (void)execution.run();
    return programs[to]->arrival;
}

/// Nodes in a line: node i and i + 1 share a network of links of 1 byte a nanosecond and 1 us.
Platform line(NodeId nodes) {
    Platform platform = ideal(nodes);
    for (NodeId node = 0; node + 1 < nodes; ++node)
        platform.networks.push_back({std::to_string(node), {node, node + 1}});
    platform.gateways.window_bytes = 1ULL << 30;
    return platform;
}

void expect_within_one_percent(Time found, Time expected) {
    EXPECT_NEAR(to_seconds(found), to_seconds(expected), to_seconds(expected) / 100);
}

/// n fragments over h equal hops: n + h - 1 fragment times and h latencies, because a gateway sends a
/// fragment on as soon as it has it (store and forward: Kermani, Kleinrock, Computer Networks 3, 1979).
void expect_pipeline(heddle::Network::Contention contention, std::uint64_t fragment_bytes) {
    for (const NodeId hops : {2U, 3U, 5U}) {
        for (const std::uint64_t fragments : {1ULL, 2ULL, 16ULL, 100ULL}) {
            SCOPED_TRACE(std::to_string(hops) + " hops, " + std::to_string(fragments) + " fragments");
            Platform platform = line(hops + 1);
            platform.network.contention = contention;
            platform.gateways.fragment_bytes = fragment_bytes;
            constexpr std::uint64_t header = 8;
            const Time found = arrival(platform, hops, fragments * fragment_bytes - header);
            const Time fragment = ns(static_cast<std::int64_t>(fragment_bytes));
            const Time latency = us(2);  // to the switch, and from it
            expect_within_one_percent(found, (fragments + hops - 1) * fragment + hops * latency);
        }
    }
}

}  // namespace

TEST(SimNetworks, FragmentsPassGatewaysInAPipeline) {
    expect_pipeline(heddle::Network::Contention::full, 64 << 10);
    expect_pipeline(heddle::Network::Contention::exact, 64 << 10);
    expect_pipeline(heddle::Network::Contention::none, 64 << 10);
}

TEST(SimNetworks, TheSlowestHopDecidesHowFastFragmentsFlow) {
    Platform platform = line(4);
    platform.networks[1].bandwidth = 0.25e9;
    constexpr std::uint64_t fragments = 50;
    const Time fragment = ns(64 << 10);
    const Time found = arrival(platform, 3, fragments * (64 << 10) - 8);
    expect_within_one_percent(found, fragments * 4 * fragment + 2 * fragment + 3 * us(2));
}

TEST(SimNetworks, TwoNetworksAtOnceCarryASharedMessageAtTheSumOfTheirBandwidths) {
    Platform platform = ideal(2);
    platform.networks = {{"fast", {0, 1}}, {"slow", {0, 1}}};
    platform.networks[1].bandwidth = 0.5e9;
    platform.gateways.window_bytes = 1ULL << 30;
    constexpr std::uint64_t bytes = 300ULL << 16;
    const Time best = arrival(platform, 1, bytes);
    platform.gateways.all_rails = true;
    const Time both = arrival(platform, 1, bytes);
    EXPECT_NEAR(to_seconds(best) / to_seconds(both), 1.5, 0.02);
}

/// Messages wait for acknowledgments: a window each round trip.
TEST(SimNetworks, AWindowBoundsWhatIsUnderWay) {
    Platform platform = line(3);
    platform.network.latency = us(1000);
    platform.gateways.window_bytes = 4 << 16;
    constexpr std::uint64_t windows = 25;
    const Time found = arrival(platform, 2, windows * (4 << 16) - 8);
    const Time round_trip = 4 * us(2000);
    EXPECT_GT(found, (windows - 1) * round_trip);
    EXPECT_LT(found, windows * (round_trip + 8 * ns(64 << 10)));
}

TEST(SimNetworks, ProgramsGiveTheirAnswerOverAGateway) {
    Platform platform;
    platform.nodes = 9;
    platform.cores = 2;
    platform.networks = {{"left", {0, 1, 2, 3, 4}}, {"right", {4, 5, 6, 7, 8}}};
    const std::vector<StatedWorkload> programs = {
        {"uts", {{"tree", "T1"}, {"depth", "5"}}},
        {"nqueens", {{"n", "8"}}},
        {"cholesky", {{"tiles", "6"}, {"tile_size", "8"}}, "cyclic"},
        {"earth_fib", {{"n", "10"}}},
    };
    for (const StatedWorkload& program : programs) {
        runtime::Schedule schedule;
        const auto first = simulate(program, platform, schedule);
        EXPECT_EQ(all_of(first), all_of(simulate(program, platform, schedule))) << program.name;
        SimOptions reverse;
        reverse.reverse_nodes = true;
        EXPECT_EQ(all_of(first), all_of(simulate(program, platform, schedule, reverse))) << program.name;
        // The gateway has passed on what the two sides exchanged.
        EXPECT_GT(first.nodes[4].messages, 0U) << program.name;
    }
}

TEST(SimNetworks, MachinesOfSeveralNodesShareTheirCards) {
    Platform platform = ideal(6);
    platform.processes = 2;
    platform.networks = {{"left", {0, 1, 2, 3}}, {"right", {2, 3, 4, 5}}};
    // Over node 2 or 3, which are both gateways.
    expect_within_one_percent(arrival(platform, 5, 64 * (64 << 10) - 8), 65 * ns(64 << 10) + 2 * us(2));
    const StatedWorkload uts{"uts", {{"tree", "T1"}, {"depth", "5"}}};
    EXPECT_GT(simulate(uts, platform, {}).total.tasks, 0U);
    platform.networks[0].members = {0, 1, 2};
    EXPECT_THROW(SimBackend(platform, {}), Error);
}

TEST(SimNetworks, DistancesAndRoutesFollowTheWays) {
    Platform platform = line(4);
    platform.networks[2].latency = us(7);
    SimBackend backend(platform, {});
    const auto& distances = backend.topology().distances;
    EXPECT_EQ(distances.latency(2, 3), us(14));
    EXPECT_EQ(distances.latency(0, 3), us(18)) << "of a small message";
    const ClusterView view = backend.cluster(Time::zero());
    const Time fragment = from_seconds(static_cast<double>(platform.gateways.fragment_bytes) / 1e9);
    EXPECT_EQ(view.routes->between(0, 1).latency, us(2));
    EXPECT_EQ(view.routes->between(0, 3).latency, us(18) + 2 * fragment);
}

}  // namespace heddle::sim::testing
