// Tests the settings for nodes that differ and change: what is read, and what is refused with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "configs/cell.hpp"
#include "configs/experiment.hpp"

namespace heddle::configs {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* start = "workload: {name: fib}\nbackend: sim\nplatform:\n  nodes: 8\n  cores: 4\n";

Experiment experiment_of(const std::string& rest) {
    return read_experiment_text(start + rest, "a.yaml");
}

std::string error_of(const std::string& rest) {
    try {
        experiment_of(rest);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

constexpr const char* all = R"(  sockets: 2
  node_speeds: [1, 0.5]
  core_speeds: [2]
  noise: {node: 0.05, task: 0.1}
  events:
    - {at: 2ms, node: 3, stop: true}
    - {at: 1ms, node: 2, speed: 0.5}
    - {at: 3ms, node: 3, stop: false}
    - {at: 5ms, link: link-3, bandwidth: 0.1}
    - {at: 4ms, link: link-2_UP, bandwidth: 0.5, latency: 10}
  overheads: {steal_far: 1us}
)";

TEST(ConfigNodes, SaysHowNodesDifferAndChange) {
    const Platform platform = experiment_of(all).platform;
    EXPECT_EQ(platform.sockets, 2U);
    EXPECT_THAT(platform.node_speeds, ElementsAre(1, 0.5));
    EXPECT_THAT(platform.core_speeds, ElementsAre(2));
    EXPECT_EQ(platform.noise.node, 0.05);
    EXPECT_EQ(platform.noise.task, 0.1);
    EXPECT_EQ(platform.overheads.steal_far, std::chrono::microseconds(1));
    ASSERT_EQ(platform.events.size(), 3U);
    EXPECT_EQ(platform.events[0].at, milliseconds(1));  // in the order of time
    EXPECT_EQ(platform.events[0].node, 2U);
    EXPECT_EQ(platform.events[0].speed, 0.5);
    EXPECT_FALSE(platform.events[0].stop);
    EXPECT_EQ(platform.events[1].stop, true);
    EXPECT_EQ(platform.events[2].stop, false);
    EXPECT_EQ(platform.events[2].where.line, 13);
    ASSERT_EQ(platform.link_events.size(), 2U);
    EXPECT_EQ(platform.link_events[0].at, milliseconds(4));
    EXPECT_EQ(platform.link_events[0].link, "link-2_UP");
    EXPECT_EQ(platform.link_events[0].bandwidth, 0.5);
    EXPECT_EQ(platform.link_events[0].latency, 10);
    EXPECT_EQ(platform.link_events[1].link, "link-3");
    EXPECT_EQ(platform.link_events[1].bandwidth, 0.1);
    EXPECT_FALSE(platform.link_events[1].latency);
    EXPECT_EQ(platform.link_events[1].where.line, 14);
}

TEST(ConfigNodes, WhatIsResolvedReadsBackAsTheSame) {
    const Experiment once = experiment_of(
        std::string(all) + "compare:\n  platform.events: [[], [{at: 1ms, node: 1, speed: 2}]]\n");
    const std::string text = resolved_yaml(once);
    const Experiment twice = read_experiment_text(text, "b.yaml");
    EXPECT_EQ(resolved_yaml(twice), text);
    EXPECT_EQ(cell_name(once), cell_name(twice));
    EXPECT_EQ(twice.platform.events.size(), 3U);
    EXPECT_EQ(twice.platform.link_events.size(), 2U);
    EXPECT_NE(cell_name(once),
              cell_name(experiment_of(all + std::string("seed: 1\n") + "repeat: 1\nname: x\n").with_seed(2)));
}

TEST(ConfigNodes, NothingIsStatedNothingDiffers) {
    const Platform platform = experiment_of("").platform;
    EXPECT_EQ(platform.sockets, 1U);
    EXPECT_EQ(platform.speed_factor(7, 3), 1);
    EXPECT_EQ(platform.noise.node, 0);
    EXPECT_EQ(platform.noise.task, 0);
    EXPECT_TRUE(platform.events.empty());
}

TEST(ConfigNodes, MistakesAreToldWithTheirLine) {
    EXPECT_THAT(error_of("  sockets: 3\n"), AllOf(HasSubstr("a.yaml:"), HasSubstr("evenly among 3 sockets")));
    EXPECT_THAT(error_of("  node_speeds: 2\n"), AllOf(HasSubstr("a.yaml:6"), HasSubstr("expected a list")));
    EXPECT_THAT(error_of("  node_speeds: [0]\n"), AllOf(HasSubstr("a.yaml:6"), HasSubstr("out of range")));
    EXPECT_THAT(error_of("  noise: {task: -0.1}\n"), AllOf(HasSubstr("a.yaml:6"), HasSubstr("out of range")));
    EXPECT_THAT(error_of("  noise: {tasks: 0.1}\n"), HasSubstr("did you mean \"task\"?"));
    EXPECT_THAT(error_of("  noise: {task: nan}\n"), HasSubstr("out of range"));
    const auto event = [](const std::string& text) { return error_of("  events:\n  - " + text + "\n"); };
    EXPECT_THAT(event("3"), AllOf(HasSubstr("a.yaml:7"), HasSubstr("expected an event")));
    EXPECT_THAT(event("{at: 1, node: 0, speed: 1}"), AllOf(HasSubstr("a.yaml:7"), HasSubstr("unit")));
    EXPECT_THAT(event("{at: 1s, node: 8, speed: 1}"),
                AllOf(HasSubstr("a.yaml:7"), HasSubstr("there are 8 nodes")));
    EXPECT_THAT(event("{at: 1s, node: 0}"), HasSubstr("one of `speed`, `stop` and `member`"));
    EXPECT_THAT(event("{at: 1s, node: 0, speed: 1, stop: true}"),
                HasSubstr("one of `speed`, `stop` and `member`"));
    EXPECT_THAT(event("{node: 0, speed: 1}"), HasSubstr("needs `at`"));
    EXPECT_THAT(event("{at: 1s, speed: 1}"), HasSubstr("needs `at`, `node`"));
    EXPECT_THAT(event("{at: 1s, node: 0, stop: yes}"), HasSubstr("expected true or false"));
    EXPECT_THAT(event("{at: 1s, node: 0, member: false}"),
                AllOf(HasSubstr("a.yaml:7"), HasSubstr("node 0 leads the run")));
    EXPECT_THAT(event("{at: 1s, node: 3, member: true}"),
                AllOf(HasSubstr("a.yaml:7"), HasSubstr("it has joined before")));
    EXPECT_THAT(event("{at: 1s, node: 3, member: false}\n  - {at: 2s, node: 3, member: false}"),
                AllOf(HasSubstr("a.yaml:8"), HasSubstr("it has left before")));
    EXPECT_THAT(error_of("  nodes_at_start: 4\n  events:\n  - {at: 1s, node: 5, member: false}\n"),
                HasSubstr("it has not joined by then"));
    EXPECT_THAT(error_of("  nodes_at_start: 9\n"), HasSubstr("there are 8 nodes"));
    const std::string shaped = "  networks: [{name: a, topology: fat_tree, shape: [4, 2], cables: [1, 1]}]\n";
    EXPECT_EQ(error_of(shaped), "no error");
    EXPECT_THAT(error_of(shaped + "  network: {cables: [1, 1]}\n"),
                AllOf(HasSubstr("a.yaml:7"), HasSubstr("in the entry of each network")));
    const std::string networks = "  networks: [{name: a, members: 0-3}, {name: b, members: 3-7}]\n";
    // What follows from the topology anyway, as older versions resolved it.
    EXPECT_EQ(error_of(networks + "  network: {shape: [], cables: []}\n"), "no error");
    EXPECT_THAT(error_of(networks + "  nodes_at_start: 3\n"),
                AllOf(HasSubstr("a.yaml:"), HasSubstr("would have to pass node 3"),
                      HasSubstr("takes part from the beginning to the end")));
    EXPECT_THAT(error_of(networks + "  events:\n  - {at: 1s, node: 3, member: false}\n"),
                AllOf(HasSubstr("a.yaml:8"), HasSubstr("would have to pass node 3")));
    EXPECT_EQ(error_of(networks + "  nodes_at_start: 6\n  events:\n  - {at: 1s, node: 4, member: false}\n"),
              "no error");
    EXPECT_THAT(event("{at: 1s, node: 0, sped: 1}"), HasSubstr("did you mean \"speed\"?"));
    EXPECT_THAT(event("{at: 1s, link: a}"),
                AllOf(HasSubstr("a.yaml:7"), HasSubstr("`bandwidth`, `latency`")));
    EXPECT_THAT(event("{at: 1s, latency: 2}"), HasSubstr("needs `at`, `link`"));
    EXPECT_THAT(event("{at: 1s, link: a, latency: 2, speed: 1}"), HasSubstr("and nothing else"));
    EXPECT_THAT(event("{at: 1s, link: a, latency: 0}"), HasSubstr("out of range"));
    EXPECT_THAT(event("{at: 1s, link: a, bandwidth: 1GBps}"), HasSubstr("expected a number"));
    EXPECT_THAT(event("{at: 1s, link: a, latencey: 2}"), HasSubstr("did you mean \"latency\"?"));
    EXPECT_THAT(event("{at: 1s, node: 0, stop: false}"),
                AllOf(HasSubstr("a.yaml:7"), HasSubstr("has not stopped")));
}

// Natively the members of such a network are not known when the configuration is read.
TEST(ConfigNodes, NetworksOfAllNodesReadBackInEachWorld) {
    for (const std::string backend : {"native", "inprocess", "sim"}) {
        const std::string yaml = resolved_yaml(
            read_experiment_text("workload: {name: fib}\nbackend: " + backend +
                                     "\nplatform: {nodes: 2, networks: [{name: a}, {name: b}]}\n",
                                 "a.yaml"));
        EXPECT_EQ(resolved_yaml(read_experiment_text(yaml, "a.yaml")), yaml) << backend;
    }
}

}  // namespace
}  // namespace heddle::configs
