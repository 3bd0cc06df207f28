// Compares the arrivals of a stream of messages in the simulator with a plain SimGrid program's.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/random.hpp"
#include "sim/platform_summary.hpp"
#include "sim/simgrid_module.hpp"
#include "tests/seeds.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

/// `count` transfers between 32 nodes, 1 KB to 4 MB (each power of two as likely as the others), starting at
/// random times of an interval so short that most wait for others.
std::vector<FlowStart> make_stream(std::uint64_t seed, NodeId nodes, Time interval,
                                   std::size_t count = 5000) {
    Random random(seed);
    std::vector<FlowStart> stream(count);
    for (FlowStart& flow : stream) {
        flow.start =
            Time(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(interval.count()))));
        flow.from = static_cast<NodeId>(random.below(nodes));
        flow.to = static_cast<NodeId>((flow.from + 1 + random.below(nodes - 1)) % nodes);
        flow.bytes = static_cast<std::uint64_t>(std::exp2(10 + 12 * random.uniform()));
    }
    std::sort(stream.begin(), stream.end(),
              [](const FlowStart& a, const FlowStart& b) { return a.start < b.start; });
    for (std::size_t i = 0; i < stream.size(); ++i) stream[i].id = i;
    return stream;
}

/// Arrivals by id, calculated by SimGrid alone in a process of its own.
std::vector<Time> in_plain_simgrid(const Platform& platform, const std::vector<FlowStart>& stream) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
        const std::vector<FlowEnd> arrivals = simgrid_module().replay_alone(platform, stream);
        for (const FlowEnd& arrival : arrivals) {
            if (::write(ends[1], &arrival, sizeof arrival) != sizeof arrival) ::_exit(1);
        }
        ::_exit(0);
    }
    ::close(ends[1]);
    std::vector<Time> arrivals(stream.size(), never);
    FlowEnd arrival;
    while (::read(ends[0], &arrival, sizeof arrival) == sizeof arrival) arrivals[arrival.id] = arrival.end;
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return arrivals;
}

/// The same by the simulator: a worker on each node sends at the given times; the first bytes say which
/// message it is.
std::vector<Time> in_heddle(const Platform& platform, const std::vector<FlowStart>& stream) {
    std::vector<Time> arrivals(stream.size(), never);
    run(
        platform,
        [&](Script&, Context& context) {
            for (const FlowStart& flow : stream) {
                if (flow.from != context.id.node || context.id.core != 0) continue;
                sleep_until(context, flow.start);
                runtime::Bytes bytes(flow.bytes);
                std::memcpy(bytes.data(), &flow.id, sizeof flow.id);
                context.backend->send(context, flow.to, std::move(bytes));
            }
        },
        [&](Script&, Context& context, NodeId, std::span<const std::byte> message) {
            std::uint64_t id = 0;
            std::memcpy(&id, message.data(), sizeof id);
            arrivals[id] = now(context);
        });
    return arrivals;
}

struct Difference {
    double end = 0;         ///< of the last arrival, relative
    double message = 0;     ///< of the time that a message takes, relative, mean over all
    double small = 0;       ///< the same for those that take the analytic path
    double contention = 0;  ///< how many times longer messages take than alone, mean
};

Difference compare(const Platform& platform, const std::vector<FlowStart>& stream) {
    const std::vector<Time> expected = in_plain_simgrid(platform, stream);
    const std::vector<Time> found = in_heddle(platform, stream);
    Difference difference;
    std::size_t small = 0;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        EXPECT_NE(expected[i], never) << i;
        EXPECT_NE(found[i], never) << i;
        const double takes = to_seconds(expected[i] - stream[i].start);
        const double error = std::abs(to_seconds(found[i] - expected[i])) / takes;
        difference.message += error / static_cast<double>(stream.size());
        if (stream[i].bytes < platform.network.small_message_bytes) {
            difference.small += error;
            ++small;
        }
        const double alone = 2 * to_seconds(platform.network.latency) +
                             static_cast<double>(stream[i].bytes) / platform.network.bandwidth;
        difference.contention += takes / alone / static_cast<double>(stream.size());
    }
    difference.small /= static_cast<double>(std::max<std::size_t>(small, 1));
    const double end = to_seconds(*std::max_element(expected.begin(), expected.end()));
    difference.end = std::abs(to_seconds(*std::max_element(found.begin(), found.end())) / end - 1);
    std::printf(
        "last arrival %.5f%%, a message %.3f%%, one of the %zu small ones %.3f%%; %.1f times longer than "
        "alone\n",
        100 * difference.end, 100 * difference.message, small, 100 * difference.small, difference.contention);
    return difference;
}

Platform cluster(Network::Topology topology) {
    Platform platform;
    platform.nodes = 32;
    platform.cores = 2;
    platform.overheads = {};
    platform.network.topology = topology;
    return platform;
}

struct Case {
    Network::Topology topology;
    std::int64_t interval_ms;
};

class SimStream : public ::testing::TestWithParam<Case> {};

TEST_P(SimStream, FiveThousandTransfersArriveAsInPlainSimGrid) {
    Platform platform = cluster(GetParam().topology);
    complete(platform);
    const Difference difference = compare(platform, make_stream(7, 32, us(1000 * GetParam().interval_ms)));
    EXPECT_LT(difference.end, 0.01);
    EXPECT_LT(difference.message, 0.05);
    EXPECT_LT(difference.small, 0.1);
    EXPECT_GT(difference.contention, 2);  // it is about sharing
}

INSTANTIATE_TEST_SUITE_P(
    Topologies, SimStream,
    ::testing::Values(Case{Network::Topology::star, 5}, Case{Network::Topology::star, 10},
                      Case{Network::Topology::fat_tree, 10}, Case{Network::Topology::torus, 6},
                      Case{Network::Topology::dragonfly, 60}),
    [](const auto& one) { return name(one.param.topology) + std::to_string(one.param.interval_ms); });

TEST(SimStreamModel, LV08IsSimGridsDefaultModel) {
    Platform platform = cluster(Network::Topology::star);
    platform.network.cost_model = Network::CostModel::LV08;
    complete(platform);
    const Difference difference = compare(platform, make_stream(9, 32, us(20000)));
    EXPECT_LT(difference.end, 0.01);
    EXPECT_LT(difference.message, 0.05);
}

// Where every message takes SimGrid's path nothing is approximate: to a nanosecond.
TEST(SimStreamModel, LargeMessagesArriveExactlyAsInPlainSimGrid) {
    for (const auto topology :
         {Network::Topology::star, Network::Topology::fat_tree, Network::Topology::torus}) {
        Platform platform = cluster(topology);
        platform.network.small_message_bytes = 0;
        complete(platform);
        const Difference difference =
            compare(platform, make_stream(11, 32, us(10000), testing_seeds::seeds(7500)));
        EXPECT_LT(difference.end, 1e-6);
        EXPECT_LT(difference.message, 1e-6);
    }
}

// The same where links change under them: a hundred changes of bandwidth, and of latency where `latency`.
void add_changes(Platform& platform, std::uint64_t seed, bool latency) {
    Random random(seed);
    const std::vector<NamedLink> links = describe(platform, true).named_links;
    for (int i = 0; i < 100; ++i) {
        LinkEvent event;
        event.at = us(static_cast<std::int64_t>(random.below(10000)));
        event.link = links[random.below(links.size())].name;
        event.bandwidth = std::exp2(2 - 5 * random.uniform());
        if (latency) event.latency = std::exp2(4 * random.uniform() - 1);
        platform.link_events.push_back(event);
    }
    complete(platform);
}

TEST(SimStreamChanges, LargeMessagesArriveAsInPlainSimGridWhereLinksChangeUnderThem) {
    for (const auto topology : {Network::Topology::star, Network::Topology::torus}) {
        Platform platform = cluster(topology);
        platform.network.small_message_bytes = 0;
        add_changes(platform, 3, topology == Network::Topology::torus);
        const Difference difference = compare(platform, make_stream(11, 32, us(10000), 1500));
        EXPECT_LT(difference.end, 1e-6);
        EXPECT_LT(difference.message, topology == Network::Topology::torus ? 1e-4 : 1e-6);
    }
}

TEST(SimStreamChanges, SmallAndLargeMessagesArriveAboutAsInPlainSimGrid) {
    for (const auto model : {Network::CostModel::CM02, Network::CostModel::LV08}) {
        Platform platform = cluster(Network::Topology::star);
        platform.network.cost_model = model;
        // SimGrid's LV08 cannot change latencies.
        add_changes(platform, 5, model == Network::CostModel::CM02);
        const Difference difference = compare(platform, make_stream(12, 32, us(10000), 1500));
        EXPECT_LT(difference.end, 0.01);
        EXPECT_LT(difference.message, 0.05);
        EXPECT_LT(difference.small, 0.1);
    }
}

}  // namespace
}  // namespace heddle::sim::testing
