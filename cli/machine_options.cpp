// Makes the processors of a schedule: from numbers on the command line, from a platform, or from the table of
// costs in the graph's file.
#include "cli/machine_options.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/memory_need.hpp"
#include "base/units.hpp"
#include "cli/graph_options.hpp"
#include "cli/option_rules.hpp"
#include "cli/platform_source.hpp"
#include "cli/route_file.hpp"
#include "cli/worlds.hpp"
#include "model/placed_graph.hpp"

namespace heddle::cli {

namespace {

using Json = nlohmann::ordered_json;
using schedulers::Machine;
using schedulers::MessageCost;
using schedulers::ProcessorIndex;

constexpr ProcessorIndex processors_max = 1'000'000;

void refuse_other_costs(const graphs::GraphFile& graph, ProcessorIndex processors, const char* advice) {
    if (graph.costs.empty() || graph.costs.front().size() == processors) return;
    throw Error(fmt::format("the graph gives the cost of each task on each of {} processors",
                            graph.costs.front().size()),
                advice);
}

double seconds_in(std::string_view text) {
    return to_seconds(parse_time(text));
}

/// Free where nothing is stated.
MessageCost message_cost(const std::string& suffix, const std::string& latency,
                         const std::string& bandwidth) {
    MessageCost cost;
    if (!latency.empty()) cost.latency = quantity("--latency" + suffix, latency, seconds_in);
    if (bandwidth.empty()) return cost;
    const double bytes_per_second = quantity("--bandwidth" + suffix, bandwidth, parse_bandwidth);
    if (!(bytes_per_second > 0))
        throw Error("nothing passes at a bandwidth of 0", {}, {"--bandwidth" + suffix, 0});
    cost.time_per_byte = 1 / bytes_per_second;
    return cost;
}

/// The speed of a processor in flops a second; 1 if the graph counts seconds on a processor.
double speed_in(const MachineOptions& options, const graphs::GraphFile& graph) {
    if (options.core_speed.empty()) {
        if (graph.unit == graphs::WorkUnit::seconds) return 1;
        throw Error("the times of messages are given, but not the speed of a processor",
                    "state --core-speed too, such as 10Gf");
    }
    const double speed = quantity("--core-speed", options.core_speed, parse_flops);
    if (!(speed > 0)) throw Error("a processor without speed", "such as 10Gf", {"--core-speed", 0});
    return speed;
}

/// Sets the number of processors and of those of a node.
void count_processors(const MachineOptions& options, const graphs::GraphFile& graph, Machine& machine) {
    const bool nodes = !options.nodes.empty() || !options.cores.empty();
    const auto costs = graph.costs.empty() ? 0 : static_cast<ProcessorIndex>(graph.costs.front().size());
    machine.processors = 0;  // not stated
    if (nodes) {
        const ProcessorIndex each =
            options.cores.empty() ? 1
                                  : whole_number<std::uint32_t>("--cores", options.cores, 1, processors_max);
        const ProcessorIndex count =
            options.nodes.empty()
                ? 1
                : whole_number<std::uint32_t>("--nodes", options.nodes, 1, processors_max / each);
        machine.processors = count * each;
        machine.processors_per_node = each;
    }
    if (!options.processors.empty()) {
        const bool bounded = options.processors != "unbounded";
        if (!bounded && nodes)
            throw Error("nodes have a number of processors",
                        "state --nodes and --cores, or --procs unbounded");
        const ProcessorIndex stated =
            bounded ? whole_number<std::uint32_t>("--procs", options.processors, 1, processors_max)
                    : schedulers::unbounded;
        if (nodes && stated != machine.processors) {
            throw Error(fmt::format("{} nodes of {} cores are not {} processors",
                                    machine.processors / machine.processors_per_node,
                                    machine.processors_per_node, stated),
                        "leave out --procs");
        }
        machine.processors = stated;
    }
    if (machine.processors == 0) {
        machine.processors = costs == 0 ? schedulers::unbounded : costs;
    }
    refuse_other_costs(graph, machine.processors, "use as many, or leave out --procs, --nodes and --cores");
}

/// The network of a platform that states none: two links of a star between two nodes.
MessageCost default_network() {
    const Network network;
    return {2 * to_seconds(network.latency), 1 / network.bandwidth};
}

std::string in_words(const MessageCost& cost, bool in_seconds) {
    if (cost.latency == 0 && cost.time_per_byte == 0) return "nothing";
    if (!in_seconds) return "its bytes as time";
    if (cost.time_per_byte == 0) return show_seconds(cost.latency);
    // Rounded, because the bandwidth that was stated is not kept. A file may hold what no network has.
    const double rate = 1 / cost.time_per_byte;
    const std::string bandwidth = rate > 1e-6 && rate < 1e24
                                      ? print_bandwidth(std::stod(fmt::format("{:.6g}", rate)))
                                      : fmt::format("{:.3g} Bps", rate);
    return cost.latency == 0 ? fmt::format("its bytes at {}", bandwidth)
                             : fmt::format("{} and its bytes at {}", show_seconds(cost.latency), bandwidth);
}

Json json_of(const MessageCost& cost) {
    return {{"latency", cost.latency}, {"time_per_byte", cost.time_per_byte}};
}

MessageCost cost_in(const graphs::JsonValue& machine, const char* name) {
    const graphs::JsonValue cost = machine.at(name, "the machine");
    return {cost.at("latency", name).weight("the latency"),
            cost.at("time_per_byte", name).weight("the time of a byte")};
}

/// The platform as placed task graphs see it when they run on it.
MachineChoice machine_of_platform(const MachineOptions& options, const graphs::GraphFile& graph) {
    std::vector<std::string> sets = options.sets;
    std::erase_if(sets, states_unit);  // the graph has been read in these
    ClusterView cluster = cluster_view(platform_named(options.platform, sets));
    cluster.bytes_besides = model::PlacedGraph::message_bytes_besides;
    MachineChoice choice{Machine::of_cluster(cluster), true};
    refuse_other_costs(graph, choice.machine.processors,
                       "set platform.nodes and platform.cores so that there are as many cores");
    choice.flops_per_unit = graphs::flops_per_unit(graph.unit, cluster.core_speed);
    return choice;
}

/// `10Gf`, or `1Gf to 10Gf`.
std::string speeds_in_words(const Machine& machine) {
    if (machine.speeds.empty()) return print_flops(machine.speed);
    const auto [least, most] = std::minmax_element(machine.speeds.begin(), machine.speeds.end());
    const auto rounded = [](double speed) { return print_flops(std::stod(fmt::format("{:.4g}", speed))); };
    return *least == *most ? print_flops(*least) : fmt::format("{} to {}", rounded(*least), rounded(*most));
}

/// What messages take, in the mean if the distances differ.
std::string routes_in_words(const Machine& machine) {
    const RouteTable::Mean mean = machine.routes->mean();
    const std::string words = in_words(MessageCost{mean.latency, mean.seconds_per_byte}, true);
    return machine.routes->uniform() ? words : fmt::format("{} in the mean of all pairs of nodes", words);
}

}  // namespace

void add_machine_options(CLI::App& verb, MachineOptions& options) {
    verb.add_option("--procs", options.processors, "processors, or unbounded (the default)")->type_name("P");
    verb.add_option("--nodes", options.nodes, "nodes, in place of --procs")->type_name("N");
    verb.add_option("--cores", options.cores, "processors of each node")->type_name("C");
    verb.add_option("--core-speed", options.core_speed, "of a processor, such as 10Gf; times are in seconds");
    verb.add_option("--latency", options.latency, "of a message between nodes, such as 1us");
    verb.add_option("--bandwidth", options.bandwidth, "of a message between nodes, such as 10Gbps");
    verb.add_option("--latency-within-node", options.latency_within_node,
                    "of a message between the processors of a node (0s)");
    verb.add_option("--bandwidth-within-node", options.bandwidth_within_node, "the same (messages are free)");
    verb.add_flag("--bytes-as-time", options.bytes_as_time,
                  "a message takes its bytes as time, also where work is in seconds");
    CLI::Option* platform = verb.add_option(
        "--platform", options.platform,
        "in place of all of these: an experiment or platform in YAML, a SimGrid platform file "
        "(.xml), or YAML written out");
    refuse_beside(verb, "--platform",
                  {"--procs", "--nodes", "--cores", "--core-speed", "--latency", "--bandwidth",
                   "--latency-within-node", "--bandwidth-within-node", "--bytes-as-time"});
    verb.add_option("--set", options.sets, "KEY=VALUE in place of the platform's, such as platform.nodes=4")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->needs(platform);
}

bool states_machine(const MachineOptions& options) {
    for (const std::string* text : {&options.processors, &options.nodes, &options.cores, &options.core_speed,
                                    &options.latency, &options.bandwidth, &options.latency_within_node,
                                    &options.bandwidth_within_node, &options.platform}) {
        if (!text->empty()) return true;
    }
    return options.bytes_as_time;
}

MachineChoice machine_of(const MachineOptions& options, const graphs::GraphFile& graph) {
    if (!options.platform.empty()) return machine_of_platform(options, graph);
    MachineChoice choice;
    Machine& machine = choice.machine;
    count_processors(options, graph, machine);
    const bool within = !options.latency_within_node.empty() || !options.bandwidth_within_node.empty();
    const bool network = within || !options.latency.empty() || !options.bandwidth.empty();
    const bool seconds = graph.unit == graphs::WorkUnit::seconds;
    if (options.bytes_as_time && network) {
        throw Error("a message takes its bytes as time, or what a latency and a bandwidth give",
                    "leave out --bytes-as-time, or the latency and bandwidth");
    }
    choice.in_seconds = network || seconds || !options.core_speed.empty();
    if (choice.in_seconds) {
        machine.speed = speed_in(options, graph);
        choice.flops_per_unit = graphs::flops_per_unit(graph.unit, machine.speed);
    }
    choice.network_assumed = seconds && !network && !options.bytes_as_time;
    if (!choice.in_seconds || options.bytes_as_time) {
        machine.between_nodes = {0, 1};
    } else if (choice.network_assumed) {
        machine.between_nodes = default_network();
    } else {
        machine.between_nodes = message_cost("", options.latency, options.bandwidth);
    }
    if (within && options.cores.empty())
        throw Error("what a message within a node costs is given, but no nodes", "state --nodes and --cores");
    machine.within_node =
        message_cost("-within-node", options.latency_within_node, options.bandwidth_within_node);
    return choice;
}

void fit(MachineChoice& choice, graphs::GraphFile& graph) {
    if (choice.flops_per_unit != 1) {
        graph.unit = graphs::WorkUnit::seconds;  // whatever it counts, a unit has that many flops
        graph = graphs::in_flops(std::move(graph), choice.flops_per_unit);
    }
    choice.machine.set_costs(graph.costs);
}

std::string in_words(const MachineChoice& choice) {
    const Machine& machine = choice.machine;
    const std::string count =
        machine.processors == schedulers::unbounded
            ? "any number of processors"
            : fmt::format("{} processor{}", machine.processors, machine.processors == 1 ? "" : "s");
    const bool nodes = machine.processors_per_node > 1;
    std::string words = count;
    if (choice.in_seconds && (machine.speed != 1 || !machine.speeds.empty()))
        words += " of " + speeds_in_words(machine);
    if (nodes) words += fmt::format(" in nodes of {}", machine.processors_per_node);
    if (!machine.times.empty()) words += ", each with its own costs";
    const bool bytes_as_time = machine.between_nodes.latency == 0 && machine.between_nodes.time_per_byte == 1;
    words +=
        fmt::format("; a message takes {}",
                    machine.routes ? routes_in_words(machine)
                                   : in_words(machine.between_nodes, choice.in_seconds && !bytes_as_time));
    if (choice.network_assumed)
        words += " (assumed; --latency and --bandwidth, or --platform, state another network)";
    if (nodes) words += fmt::format(", within a node {}", in_words(machine.within_node, choice.in_seconds));
    return words;
}

Json machine_json(const MachineChoice& choice) {
    const Machine& machine = choice.machine;
    const bool bounded = machine.processors != schedulers::unbounded;
    Json json = {{"processors", bounded ? Json(machine.processors) : Json("unbounded")},
                 {"processors_per_node", machine.processors_per_node},
                 {"speed", machine.speed},
                 {"in_seconds", choice.in_seconds},
                 {"flops_per_unit", choice.flops_per_unit},
                 {"network_assumed", choice.network_assumed},
                 {"within_node", json_of(machine.within_node)},
                 {"between_nodes", json_of(machine.between_nodes)}};
    if (!machine.speeds.empty()) json["speeds"] = machine.speeds;
    if (machine.routes) {
        json["bytes_besides"] = machine.bytes_besides;
        json["routes"] = routes_json(*machine.routes);
    }
    return json;
}

MachineChoice machine_in(const graphs::JsonValue& value) {
    using Kind = graphs::JsonValue::Kind;
    value.expect(Kind::object, "\"machine\"");
    const auto count = [&value](const char* name) {
        const graphs::JsonValue field = value.at(name, "the machine");
        const double number = field.number(fmt::format("\"{}\"", name));
        constexpr ProcessorIndex most = schedulers::unbounded - 1;  // a platform may have so many
        if (!(number >= 1 && number <= most && number == std::floor(number)))
            throw Error(fmt::format("\"{}\" is {}", name, number),
                        fmt::format("expected a whole number from 1 to {}", most), field.where());
        constexpr double bytes_each = 16;  // a schedule has the place of each one's tasks
        need_memory(bytes_each * number, fmt::format("{:.0f} processors", number),
                    "the file may be damaged; state a smaller machine", field.where());
        return static_cast<ProcessorIndex>(number);
    };
    MachineChoice choice;
    Machine& machine = choice.machine;
    const graphs::JsonValue processors = value.at("processors", "the machine");
    const bool bounded = processors.kind() != Kind::text || processors.text("\"processors\"") != "unbounded";
    machine.processors = bounded ? count("processors") : schedulers::unbounded;
    machine.processors_per_node = count("processors_per_node");
    machine.speed = value.at("speed", "the machine").weight("\"speed\"");
    machine.within_node = cost_in(value, "within_node");
    machine.between_nodes = cost_in(value, "between_nodes");
    const graphs::JsonValue in_seconds = value.at("in_seconds", "the machine");
    in_seconds.expect(Kind::boolean, "\"in_seconds\"");
    choice.in_seconds = in_seconds.boolean();
    if (const auto assumed = value.find("network_assumed")) {
        assumed->expect(Kind::boolean, "\"network_assumed\"");
        choice.network_assumed = assumed->boolean();
    }
    if (const auto unit = value.find("flops_per_unit")) {
        choice.flops_per_unit = unit->weight("\"flops_per_unit\"");
        if (!(choice.flops_per_unit > 0))
            throw Error("a unit of work is no flops", "state a number above 0", unit->where());
    }
    if (const auto speeds = value.find("speeds")) {
        for (const graphs::JsonValue speed : *speeds) machine.speeds.push_back(speed.weight("a speed"));
    }
    if (const auto routes = value.find("routes")) {
        machine.routes = routes_in(*routes);
        machine.bytes_besides = value.at("bytes_besides", "the machine").weight("\"bytes_besides\"");
    }
    return choice;
}

}  // namespace heddle::cli
