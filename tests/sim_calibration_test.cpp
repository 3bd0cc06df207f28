// Tests the calibration of simulated platforms. On random platforms, the micro-benchmarks find the stated
// values, although they see a platform only through the run.
#include <cmath>

#include "base/random.hpp"
#include "calibration/entries.hpp"
#include "calibration/node_speeds.hpp"
#include "calibration/probe.hpp"
#include "configs/experiment.hpp"
#include "sim/sim_backend.hpp"

using namespace heddle;
using namespace heddle::calibration;

namespace {

/// Defaults of zero would stay zero: these are of the order of a current machine's.
Overheads nominal() {
    using std::chrono::microseconds;
    using std::chrono::nanoseconds;
    Overheads costs = Overheads::defaults();
    costs.message_send_kib = nanoseconds(100);
    costs.message_receive_kib = nanoseconds(150);
    costs.fork_shared = nanoseconds(30);
    costs.closure = nanoseconds(20);
    costs.message_thread = nanoseconds(80);
    costs.page_first = nanoseconds(700);
    costs.poll_peer = nanoseconds(60);
    costs.compute = nanoseconds(20);
    costs.placed_task = nanoseconds(60);
    costs.placed_input = nanoseconds(20);
    costs.ready_elsewhere = nanoseconds(250);
    costs.message_rouse = microseconds(5);
    costs.message_interrupt = microseconds(4);
    costs.message_match = nanoseconds(120);
    costs.wake_up_message = microseconds(2);
    costs.wake_up_receiving = nanoseconds(300);
    costs.wake_up_asleep = microseconds(8);
    costs.wake_up_deep = microseconds(20);
    costs.deep_sleep = microseconds(100);
    costs.unpark = nanoseconds(400);
    return costs;
}

/// 0.3 to 3 times, on a logarithmic scale.
double factor(Random& random) {
    return 0.3 * std::pow(10.0, static_cast<double>(random.below(1'000'001)) * 1e-6);
}

Time scaled(Time time, Random& random) {
    return from_seconds(to_seconds(time) * factor(random));
}

Platform random_platform(std::uint64_t seed) {
    Random random = Random(seed).split(5);
    Platform platform;
    Overheads& costs = platform.overheads;
    costs = nominal();
    for (Time* const cost : {&costs.fork,
                             &costs.join,
                             &costs.fork_shared,
                             &costs.closure,
                             &costs.steal_attempt,
                             &costs.steal,
                             &costs.steal_far,
                             &costs.readiness,
                             &costs.sync,
                             &costs.strand,
                             &costs.strand_switch,
                             &costs.token,
                             &costs.compute,
                             &costs.placed_task,
                             &costs.placed_input,
                             &costs.ready_elsewhere,
                             &costs.message_enqueue,
                             &costs.message_send,
                             &costs.message_receive,
                             &costs.message_send_kib,
                             &costs.message_receive_kib,
                             &costs.message_rouse,
                             &costs.message_interrupt,
                             &costs.message_match,
                             &costs.message_thread,
                             &costs.poll,
                             &costs.poll_peer,
                             &costs.wake_up,
                             &costs.wake_up_asleep,
                             &costs.wake_up_deep,
                             &costs.wake_up_message,
                             &costs.wake_up_receiving,
                             &costs.deep_sleep,
                             &costs.unpark,
                             &costs.page_fault,
                             &costs.page_protect,
                             &costs.page_fill,
                             &costs.page_first,
                             &costs.page_diff_kib})
        *cost = scaled(*cost, random);
    platform.core_speed *= factor(random);
    platform.memory_bandwidth = MemoryBandwidth(40e9 * factor(random));
    platform.core_memory_bandwidth = 15e9 * factor(random);
    platform.network.latency = scaled(platform.network.latency, random);
    platform.network.bandwidth *= factor(random);
    platform.shared_memory.latency = scaled(platform.shared_memory.latency, random);
    platform.shared_memory.bandwidth *= factor(random);
    return platform;
}

constexpr double kernel_factor = 1.7;

Effort small_effort() {
    Effort effort;
    effort.repetitions = 2;
    effort.scale = 0.02;
    effort.sweep_bytes = 64U << 10;
    effort.message_bytes = 2U << 20;
    effort.deep_seconds = 5e-3;
    // Work of which a core does more flops than core_speed.
    const auto declares = [](double flops) { return [flops] { return Kernel::Code{flops, [] {}}; }; };
    effort.kernels = {{"test.work", {{0, declares(1e4)}}},
                      {"test.sized", {{10, declares(1e4)}, {20, declares(3e4)}}}};
    effort.declared = [](const std::string&, double size, double flops) {
        return flops / (size == 20 ? 1 : kernel_factor);
    };
    return effort;
}

constexpr CoreId cores = 4;

Samples measured(const Platform& given, Way way, const Reach& reach = {cores, cores / 2, 3}) {
    Readings all;
    for (const Probe& probe : probes(small_effort(), reach)) {
        Platform platform = given;
        platform.nodes = probe.nodes;
        platform.cores = probe.cores;
        if (probe.name == "far") platform.sockets = 2;
        if (way == Way::shared_memory) platform.processes = probe.nodes;
        sim::SimOptions options;
        options.single_module = probe.schedule.modules == runtime::Modules::single;
        options.workers_send = probe.schedule.modules == runtime::Modules::worker;
        options.looks = probe.nodes > 1 ? probe.schedule.spin : probe.schedule.spin_alone;
        options.receiver_looks = std::chrono::milliseconds(10);
        sim::SimBackend backend(platform, options);
        const Readings of_probe = run(probe, backend);
        EXPECT_FALSE(of_probe.empty()) << probe.name;
        all.insert(all.end(), of_probe.begin(), of_probe.end());
    }
    return samples_of(all);
}

std::map<std::string, double> expected(const Platform& platform, Way way) {
    std::map<std::string, double> values;
    for (const auto& [name, cost] : configs::overheads_by_name(platform.overheads))
        values["overheads." + name] = to_seconds(cost);
    values["core_speed"] = platform.core_speed;
    values["kernels.test.work"] = kernel_factor * platform.core_speed;
    values["kernels.test.sized@10"] = kernel_factor * platform.core_speed;
    values["kernels.test.sized@20"] = platform.core_speed;
    for (CoreId streams = 1; streams <= cores; ++streams)
        values["memory_bandwidth." + std::to_string(streams)] = std::min(
            streams * platform.core_memory_bandwidth, platform.memory_bandwidth.by_streams().front());
    if (way == Way::network) {
        values["network.latency"] = to_seconds(platform.network.latency);
        values["network.bandwidth"] = platform.network.bandwidth;
        values.erase("overheads.message_rouse");  // of nodes that share a machine
    } else {
        values["shared_memory.latency"] = to_seconds(platform.shared_memory.latency);
        values["shared_memory.bandwidth"] = platform.shared_memory.bandwidth;
    }
    return values;
}

/// Of one repetition on nodes with these speeds.
std::vector<NodeSpeed> compared(const std::vector<double>& node_speeds) {
    Platform platform = random_platform(1);
    platform.nodes = static_cast<NodeId>(node_speeds.size());
    platform.cores = 1;
    platform.node_speeds = node_speeds;
    sim::SimBackend backend(platform, sim::SimOptions{});
    return node_speeds_of(run(node_probe(small_effort(), platform.nodes), backend));
}

class Calibrated : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Platforms, Calibrated, ::testing::Range<std::uint64_t>(1, 21));

}  // namespace

TEST_P(Calibrated, EveryEntryIsFoundWithinTwoPercent) {
    const Way way = GetParam() % 4 == 0 ? Way::shared_memory : Way::network;
    const Platform platform = random_platform(GetParam());
    const Calibration found = calibrate(measured(platform, way), way);
    std::map<std::string, double> wanted = expected(platform, way);
    std::map<std::string, double> values;
    for (const Entry& entry : found.entries) values[entry.key] = entry.value;
    // They are known as a sum.
    for (auto* const map : {&wanted, &values}) {
        (*map)["overheads.fork + join"] = map->at("overheads.fork") + map->at("overheads.join");
        map->erase("overheads.fork");
        map->erase("overheads.join");
    }
    for (const auto& [key, value] : wanted) {
        ASSERT_TRUE(values.contains(key)) << key;
        EXPECT_NEAR(values[key] / value, 1, 0.02) << key << ": " << values[key] << " for " << value;
    }
}

// 10 us are a sixth of a reading of arithmetic, and about half of one of memory.
TEST(CalibratedSpeeds, DoNotContainWhatAPieceOfWorkCostsBesides) {
    Platform platform = random_platform(1);
    platform.overheads.compute = std::chrono::microseconds(10);
    const Calibration found = calibrate(measured(platform, Way::network, {1, 0, 1}), Way::network);
    const std::map<std::string, double> wanted = expected(platform, Way::network);
    int seen = 0;
    for (const Entry& entry : found.entries) {
        if (entry.key != "core_speed" && entry.key != "memory_bandwidth.1" &&
            entry.key != "overheads.compute")
            continue;
        ++seen;
        EXPECT_NEAR(entry.value / wanted.at(entry.key), 1, 0.02) << entry.key << ": " << entry.value;
    }
    EXPECT_EQ(seen, 3);
}

// A worker that wakes up late ends its last copies late. They are no part of the next repetition.
TEST(CalibratedSpeeds, OfMemoryIsNotSharedWithCopiesOfTheStepBefore) {
    Platform platform;
    platform.cores = 2;
    platform.memory_bandwidth = 10e9;
    platform.overheads.wake_up = std::chrono::microseconds(10);
    Effort effort = small_effort();
    effort.repetitions = 9;
    sim::SimBackend backend(platform, sim::SimOptions{});
    const Samples samples = samples_of(run(memory_probe(effort, platform.cores), backend));
    const Calibration found = calibrate(samples, Way::network);
    int seen = 0;
    for (const Entry& entry : found.entries) {
        if (!entry.key.starts_with("memory_bandwidth.")) continue;
        ++seen;
        EXPECT_NEAR(entry.value / 10e9, 1, 0.02) << entry.key << ": " << entry.value;
    }
    EXPECT_EQ(seen, 2);
}

TEST(CalibratedNodes, ThoseThatAreSlowAreNamed) {
    const std::vector<double> stated = {1.05, 1, 0.7, 1, 0.95};
    const auto nodes = compared(stated);
    ASSERT_EQ(nodes.size(), stated.size());
    for (const NodeSpeed& node : nodes) {
        EXPECT_NEAR(node.core, stated[node.node], 1e-5) << node.node;
        EXPECT_NEAR(node.memory, 1, 0.05) << node.node;
        EXPECT_EQ(node.is_slow(), node.node == 2) << node.node;
    }
}
