// Runs up to a thousand random small programs on random platforms. No worker's clock goes back, a module does
// one thing at a time, and no message is faster than its route allows. The test reads what a recorder is
// told, and computes the routes from the platform alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "partitioners/place_graph.hpp"
#include "runtime/stealing/policy.hpp"
#include "tests/placed_graph_testing.hpp"
#include "tests/scheduler_testing.hpp"
#include "tests/seeds.hpp"
#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

const std::uint64_t programs = testing_seeds::seeds(1000);
constexpr double lv08_latency = 13.01;  // SimGrid's documentation of its default model
constexpr double lv08_bandwidth = 0.97;

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    std::uint64_t to(std::uint64_t most) { return random_.below(most + 1); }
    bool one_in(std::uint64_t count) { return random_.below(count) == 0; }
    double between(double least, double most) { return least + (most - least) * random_.uniform(); }
    template <class T>
    T of(std::vector<T> choices) {
        return choices[random_.below(choices.size())];
    }

private:
    Random random_;
};

// --- the ways, from the platform alone

/// How many links lie between two nodes, at least: closed forms. A dragonfly's ways are at least two links.
std::uint32_t links_between(const Network& network, NodeId from, NodeId to) {
    switch (network.topology) {
        case Network::Topology::star:
        case Network::Topology::dragonfly:
            break;
        case Network::Topology::fat_tree: {
            std::uint32_t links = 2;
            for (const std::uint32_t below : network.shape) {
                from /= below;
                to /= below;
                if (from == to) return links;
                links += 2;
            }
            return links;
        }
        case Network::Topology::torus: {
            std::uint32_t links = 0;
            for (const std::uint32_t extent : network.shape) {
                const std::uint32_t apart = (to % extent + extent - from % extent) % extent;
                links += std::min(apart, extent - apart);
                from /= extent;
                to /= extent;
            }
            return links;
        }
    }
    return 2;
}

/// What an event of `link-N` of a star makes of its figures by `time`: factors of bandwidth and latency.
std::pair<double, double> factors_at(const Platform& platform, const std::string& link, Time time) {
    std::pair<double, double> factors{1, 1};
    for (const LinkEvent& event : platform.link_events) {
        if (event.at > time || event.link != link) continue;
        if (event.bandwidth) factors.first = *event.bandwidth;
        if (event.latency) factors.second = *event.latency;
    }
    return factors;
}

/// The least time that a message needs which departs at `departure`: the latency of its links then, and its
/// bytes at the greatest bandwidth that any link ever has.
Time least_time(const Platform& platform, const MessageNote& message, Time departure) {
    const Network& network = platform.network;
    double links = links_between(network, message.from, message.to);
    double widest = 1;
    if (network.topology == Network::Topology::star) {
        links = 0;
        for (const NodeId node : {message.from, message.to})
            links += factors_at(platform, "link-" + std::to_string(node), departure).second;
    }
    for (const LinkEvent& event : platform.link_events)
        widest = std::max(widest, event.bandwidth.value_or(1));
    const bool lv08 = network.cost_model == Network::CostModel::LV08;
    const double latency = to_seconds(network.latency) * links * (lv08 ? lv08_latency : 1);
    const double bandwidth = network.bandwidth * widest * (lv08 ? lv08_bandwidth : 1);
    // Times are rounded to picoseconds, some of them several times; SimGrid calculates with 16 digits.
    const double least = latency + static_cast<double>(message.bytes) / bandwidth;
    return Time(static_cast<std::int64_t>(std::floor(least * 1e12 * (1 - 1e-9)))) - Time(5);
}

// --- what is told

/// Holds what it is told to the rules. Counts, so that a test that hears nothing fails.
class Auditor final : public Recorder {
public:
    explicit Auditor(Platform platform) : platform_(std::move(platform)) {}

    void begin(NodeId nodes, CoreId cores, std::function<Time()> settled) override {
        settled_ = std::move(settled);
        nodes_.resize(nodes);
        for (Node& node : nodes_) node.clocks.resize(cores);
    }
    void entered(WorkerId worker, Activity, Time time) override {
        Time& clock = nodes_.at(worker.node).clocks.at(worker.core);
        hold(time >= clock, "a worker's clock goes back");
        hold(time >= all_are_at(), "something is told of a time before which all was told");
        clock = time;
        ++slices;
    }
    void sending(const MessageNote& message, Time begin, Time end) override {
        Node& node = nodes_.at(message.from);
        hold(begin <= end && begin >= node.sender, "a sender module sends two messages at a time");
        node.sender = end;
        hold(under_way_.emplace(std::pair(message.from, message.number), end).second,
             "a message is sent twice");
    }
    void receiving(const MessageNote& message, Time begin) override {
        Node& node = nodes_.at(message.to);
        hold(begin >= node.receiver, "a receiver module receives two messages at a time");
        node.receiver = begin;
        hold(begin >= all_are_at(), "a message arrives at a time before which all was told");
        const auto sent = under_way_.find({message.from, message.number});
        if (sent == under_way_.end()) return hold(false, "a message arrives that was not sent");
        hold(begin - sent->second >= least_time(platform_, message, sent->second),
             "a message arrives earlier than its way allows");
        const bool in_order = platform_.network.contention != Network::Contention::none;
        if (in_order && message.bytes < platform_.network.small_message_bytes) {
            std::uint64_t& last = node.last_small[message.from];
            hold(message.number >= last, "a small message overtakes another of its pair");
            last = message.number;
        }
        under_way_.erase(sent);
        ++messages;
    }
    void delivered(const MessageNote& message, Time end) override {
        Time& receiver = nodes_.at(message.to).receiver;
        hold(end >= receiver, "a message is delivered before it is received");
        receiver = end;
    }
    void finish(Time makespan) override {
        hold(under_way_.empty(), "a message is never received");
        hold(makespan >= all_are_at(), "the run ends before a time that is within it");
    }

    std::uint64_t slices = 0;
    std::uint64_t messages = 0;
    std::string complaint;  ///< the first one

private:
    struct Node {
        std::vector<Time> clocks;
        Time sender{};
        Time receiver{};
        std::map<NodeId, std::uint64_t> last_small;
    };

    /// As all nodes have reached a time, that may not go back either.
    Time all_are_at() {
        const Time time = settled_();
        hold(time >= settled_last_, "the time that all have reached goes back");
        settled_last_ = time;
        return time;
    }
    void hold(bool holds, const char* otherwise) {
        if (!holds && complaint.empty()) complaint = otherwise;
    }

    Platform platform_;
    std::vector<Node> nodes_;
    std::map<std::pair<NodeId, std::uint64_t>, Time> under_way_;
    std::function<Time()> settled_;
    Time settled_last_{};
};

// --- what is run

Network random_network(Dice& dice) {
    using Topology = Network::Topology;
    using Contention = Network::Contention;
    Network network;
    network.topology = dice.of<Topology>(
        {Topology::star, Topology::star, Topology::fat_tree, Topology::torus, Topology::dragonfly});
    network.bandwidth = std::pow(10, dice.between(8, 10.5));
    network.latency = ns(1 + static_cast<std::int64_t>(std::pow(10, dice.between(0, 4))));
    if (dice.one_in(4)) network.gap = ns(static_cast<std::int64_t>(dice.to(500)));
    network.contention =
        dice.of<Contention>({Contention::full, Contention::full, Contention::exact, Contention::none});
    network.small_message_bytes = dice.of<std::uint64_t>({0, 100, 4096, 4096, 1'000'000});
    if (dice.one_in(8)) network.cost_model = Network::CostModel::LV08;
    return network;
}

void add_events(Platform& platform, Dice& dice) {
    for (NodeId node = 0; node < platform.nodes; ++node) {
        if (!dice.one_in(3)) continue;
        const Time at = ns(static_cast<std::int64_t>(dice.to(20'000)));
        platform.events.push_back({.at = at, .node = node, .speed = dice.between(0.1, 3)});
        if (!dice.one_in(2)) continue;
        const Time back = at + ns(1 + static_cast<std::int64_t>(dice.to(50'000)));
        platform.events.push_back({.at = at, .node = node, .stop = true});
        platform.events.push_back({.at = back, .node = node, .stop = false});
    }
    if (platform.network.topology != Network::Topology::star) return;
    for (std::uint64_t i = dice.to(5); i > 0; --i) {
        LinkEvent event;
        event.at = ns(static_cast<std::int64_t>(dice.to(40'000)));
        event.link = "link-" + std::to_string(dice.to(platform.nodes - 1));
        event.bandwidth = dice.between(0.05, 2);
        if (dice.one_in(2)) event.latency = dice.between(0.3, 20);
        platform.link_events.push_back(event);
    }
}

Platform random_platform(Dice& dice) {
    Platform platform;
    platform.nodes = static_cast<NodeId>(dice.one_in(8) ? 1 : 2 + dice.to(7));
    platform.cores = static_cast<CoreId>(1 + dice.to(2));
    platform.sockets = dice.one_in(3) ? platform.cores : 1;
    platform.core_speed = std::pow(10, dice.between(9, 10.3));
    platform.memory_bandwidth = std::pow(10, dice.between(9, 11));
    platform.network = random_network(dice);
    if (dice.one_in(5)) platform.overheads = {};
    if (dice.one_in(3)) platform.node_speeds = {1, dice.between(0.2, 2), 0.7};
    if (dice.one_in(3)) platform.core_speeds = {dice.between(0.2, 2), 1};
    if (dice.one_in(3)) platform.noise = {.node = dice.between(0, 0.3), .task = dice.between(0, 0.5)};
    if (dice.one_in(2)) add_events(platform, dice);
    complete(platform);
    return platform;
}

runtime::Schedule random_schedule(Dice& dice, std::uint64_t seed) {
    runtime::Schedule schedule;
    schedule.seed = seed;
    schedule.stealing.victim = dice.of(runtime::victim_policies());
    schedule.stealing.amount =
        dice.of<runtime::Stealing::Amount>({runtime::Stealing::Amount::one, runtime::Stealing::Amount::half,
                                            runtime::Stealing::Amount::donation});
    schedule.stealing.retries = static_cast<std::uint32_t>(1 + dice.to(15));
    schedule.aggregate_bytes = dice.of<std::uint32_t>({0, 64, 4096});
    // The last throw, so that what was thrown before is as it was.
    schedule.stealing.busy = dice.one_in(2) ? runtime::Stealing::Busy::wait : runtime::Stealing::Busy::refuse;
    return schedule;
}

StatedWorkload random_workload(Dice& dice) {
    const auto number = [&](std::uint64_t least, std::uint64_t most) {
        return std::to_string(least + dice.to(most - least));
    };
    const std::string placement = dice.of<std::string>({"none", "block", "cyclic"});
    const std::string graph_placement = dice.of<std::string>({"block", "cyclic", "etf", "heft", "metis"});
    switch (dice.to(6)) {
        case 0:
            return {"fib", {{"n", number(1, 11)}}};
        case 1:
            return {"nqueens", {{"n", number(1, 6)}}};
        case 2:
            return {"uts", {{"tree", "T1"}, {"depth", number(1, 3)}}, placement};
        case 3:
            return {"bag", {{"tasks", number(1, 60)}, {"task_cost", "5kf"}, {"spread", "1"}}, placement};
        case 4:
            return {"cholesky", {{"tiles", number(1, 4)}, {"tile_size", "8"}}, graph_placement};
        case 5:
            return {"lu", {{"tiles", number(1, 3)}, {"tile_size", "8"}}, graph_placement};
        default:
            return {"dag",
                    {{"graph", "stencil_2d:width=" + number(1, 4) + ",height=4,steps=" + number(1, 4)}},
                    graph_placement};
    }
}

/// A random graph, each task anywhere.
void run_random_graph(const Platform& platform, const runtime::Schedule& schedule, const SimOptions& options,
                      Dice& dice, Auditor& auditor) {
    const auto tasks = static_cast<TaskIndex>(1 + dice.to(40));
    TaskGraphBuilder builder;
    for (TaskIndex task = 0; task < tasks; ++task) builder.add_task(static_cast<double>(dice.to(20'000)));
    for (TaskIndex task = 1; task < tasks; ++task) {
        for (TaskIndex before = 0; before < task; ++before) {
            if (dice.one_in(task)) builder.add_edge(before, task, static_cast<double>(dice.to(10'000)));
        }
    }
    const TaskGraph graph = builder.build();
    std::vector<WorkerId> places;
    std::vector<TaskIndex> sequence;
    for (TaskIndex task = 0; task < tasks; ++task) {
        places.push_back({static_cast<NodeId>(dice.to(platform.nodes - 1)),
                          static_cast<CoreId>(dice.to(platform.cores - 1))});
        sequence.push_back(task);
    }
    using model::PlacedGraph;
    const bool nothing_is_stolen = schedule.stealing.victim == "none";
    const PlacedGraph plan(
        graph, Placement({platform.nodes, platform.cores}, places), sequence,
        nothing_is_stolen && dice.one_in(2) ? PlacedGraph::Order::strict : PlacedGraph::Order::ready,
        PlacedGraph::Data::declared);
    SimBackend backend(platform, options);
    testing_placed::Diary diary(tasks);
    runtime::Execution execution(
        backend, schedule,
        [&](NodeId node) { return std::make_unique<testing_placed::DiaryProgram>(plan, node, diary); },
        &auditor);
    execution.run();
    for (TaskIndex task = 0; task < tasks; ++task)
        EXPECT_TRUE(diary[task].times == 1 && diary[task].data_right) << "task " << task;
}

TEST(SimRandomPrograms, NoClockGoesBackAndNoMessageIsFasterThanItsWay) {
    std::uint64_t slices = 0;
    std::uint64_t messages = 0;
    for (std::uint64_t seed = 1; seed <= programs && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        const Platform platform = random_platform(dice);
        const runtime::Schedule schedule = random_schedule(dice, seed);
        const SimOptions options{
            .sends_sequences = seed % 3 == 0, .seed = seed, .reverse_nodes = dice.one_in(2)};
        Auditor auditor(platform);
        if (dice.one_in(4)) {
            run_random_graph(platform, schedule, options, dice, auditor);
        } else {
            simulate(random_workload(dice), platform, schedule, options, &auditor);
        }
        EXPECT_EQ(auditor.complaint, "");
        slices += auditor.slices;
        messages += auditor.messages;
    }
    EXPECT_GT(slices, 50 * programs);
    EXPECT_GT(messages, 20 * programs);
}

}  // namespace
}  // namespace heddle::sim::testing
