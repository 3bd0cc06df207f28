// Reads the list of networks of a platform, and how messages pass from one to another.
#include "configs/network_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "configs/field_makers.hpp"

namespace heddle::configs {

namespace {

using Json = nlohmann::ordered_json;
using Kind = Shape::Kind;

constexpr const char* example_of_networks =
    "write it like `- {name: left, members: 0-3, latency: 1us, bandwidth: 10GBps}`";
constexpr const char* members_example = "write node numbers and ranges, such as `members: 0-3,8`";

NodeId node_in(std::string_view text, const std::string& key, const Value& value) {
    NodeId node = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), node);
    if (error != std::errc() || end != text.data() + text.size() || node >= Platform::nodes_max)
        throw Error(fmt::format("{}: \"{}\" is no node number", key, text), members_example, value.where);
    return node;
}

/// `0-3,8`. An empty text is an error: a list without nodes means that none are stated.
std::vector<NodeId> members_in(const Value& value, const std::string& key) {
    const std::string text = scalar_text(value, key, {Kind::text});
    std::vector<NodeId> members;
    for (std::size_t at = 0; at <= text.size();) {
        const std::string_view item = std::string_view(text).substr(at, text.find(',', at) - at);
        at += item.size() + 1;
        const std::size_t dash = item.find('-');
        const NodeId first = node_in(item.substr(0, dash), key, value);
        const NodeId last = dash == item.npos ? first : node_in(item.substr(dash + 1), key, value);
        if (last < first)
            throw Error(fmt::format("{}: {} runs backwards", key, item), members_example, value.where);
        for (NodeId node = first; node <= last; ++node) members.push_back(node);
    }
    return members;
}

std::string shown_members(const std::vector<NodeId>& members) {
    std::string text;
    for (std::size_t i = 0; i < members.size();) {
        std::size_t last = i;
        while (last + 1 < members.size() && members[last + 1] == members[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(members[i]);
        if (last > i) text += '-' + std::to_string(members[last]);
        i = last + 1;
    }
    return text;
}

const std::vector<std::string>& carrier_names() {
    static const std::vector<std::string> names{"tcp", "udp", "shared_memory", "unix", "mpi"};
    return names;
}

NetworkCarrier::Kind carrier_in(const Value& value, const std::string& key) {
    const std::string text = scalar_text(value, key, {Kind::text});
    const auto place = std::ranges::find(carrier_names(), text);
    if (place == carrier_names().end())
        throw Error(fmt::format("{}: unknown value \"{}\"", key, text), nearest_advice(text, carrier_names()),
                    value.where);
    return static_cast<NetworkCarrier::Kind>(place - carrier_names().begin());
}

/// Uses the fields of `platform.network` and `transport`, so that both take the same values.
class EntryReader {
public:
    EntryReader(PartialNetwork& network, NetworkCarrier& carrier) : network_(network), carrier_(carrier) {}

    void read(const Value& entry, const std::string& key) {
        if (entry.key == "name") {
            network_.name = scalar_text(entry, key, {Kind::text});
        } else if (entry.key == "members") {
            network_.members = members_in(entry, key);
        } else if (entry.key == "topology") {
            network_.topology = figure(entry).topology;
        } else if (entry.key == "bandwidth") {
            network_.bandwidth = figure(entry).bandwidth;
        } else if (entry.key == "latency") {
            network_.latency = figure(entry).latency;
        } else if (entry.key == "gap") {
            network_.gap = figure(entry).gap;
        } else if (entry.key == "shape") {
            network_.shape = figure(entry).shape;
        } else if (entry.key == "cables") {
            network_.cables = figure(entry).cables;
        } else if (entry.key == "transport") {
            carrier_.transport = carrier_in(entry, key);
        } else if (entry.key == "interface") {
            carrier_.interface = scalar_text(entry, key, {Kind::text});
        } else if (entry.key == "ports") {
            carrier_.ports = scalar_text(entry, key, {Kind::text});
        } else {
            const std::vector<std::string> keys(network_keys.begin(), network_keys.end());
            throw Error(fmt::format("unknown key \"{}\" in platform.networks", entry.key),
                        nearest_advice(entry.key, keys), entry.key_where);
        }
    }

private:
    Network figure(const Value& entry) {
        Experiment scratch;
        find_field("platform.network." + entry.key)->read(scratch, entry);
        return scratch.platform.network;
    }

    PartialNetwork& network_;
    NetworkCarrier& carrier_;
};

Json shown(const PartialNetwork& network, const NetworkCarrier& carrier) {
    Json json = {{"name", network.name}};
    if (!network.members.empty()) json["members"] = shown_members(network.members);
    if (network.topology) json["topology"] = heddle::name(*network.topology);
    if (network.bandwidth) json["bandwidth"] = print_bandwidth(*network.bandwidth);
    if (network.latency) json["latency"] = print_time(*network.latency);
    if (network.gap) json["gap"] = print_time(*network.gap);
    if (!network.shape.empty()) json["shape"] = network.shape;
    if (!network.cables.empty()) json["cables"] = network.cables;
    if (carrier.transport) json["transport"] = carrier_names()[static_cast<std::size_t>(*carrier.transport)];
    if (!carrier.interface.empty()) json["interface"] = carrier.interface;
    if (!carrier.ports.empty()) json["ports"] = carrier.ports;
    return json;
}

Field networks() {
    const std::string key = "platform.networks";
    return {
        key,
        {Kind::networks},
        "several networks, each of which joins some of the nodes: its `name`, its `members` (such as 0-3,8), "
        "and what is not as in platform.network",
        [=](Experiment& experiment, const Value& value) {
            if (value.kind != Value::Kind::list)
                throw Error(fmt::format("{}: expected a list, found {}", key, value.described()),
                            example_of_networks, value.where);
            std::vector<PartialNetwork> read;
            std::vector<NetworkCarrier> carriers;
            for (const Value& item : value.children) {
                if (item.kind != Value::Kind::mapping)
                    throw Error(fmt::format("{}: expected a network, found {}", key, item.described()),
                                example_of_networks, item.where);
                PartialNetwork& network = read.emplace_back();
                network.where = item.where;
                EntryReader reader(network, carriers.emplace_back());
                for (const Value& entry : item.children) reader.read(entry, key + "." + entry.key);
            }
            experiment.platform.networks = std::move(read);
            experiment.carriers = std::move(carriers);
        },
        [](const Experiment& experiment) {
            Json list = Json::array();
            // A platform that code has made states no carriers.
            std::vector<NetworkCarrier> carriers = experiment.carriers;
            carriers.resize(experiment.platform.networks.size());
            for (std::size_t i = 0; i < carriers.size(); ++i)
                list.push_back(shown(experiment.platform.networks[i], carriers[i]));
            return list;
        }};
}

}  // namespace

const std::vector<const char*> network_keys = {
    "name",  "members", "topology",  "bandwidth", "latency", "gap",
    "shape", "cables",  "transport", "interface", "ports",
};

void add_network_fields(std::vector<Field>& all) {
    all.push_back(networks());
    all.push_back(choice(
        "platform.rails", {"best", "all"},
        "if several networks join two nodes: messages take the fastest, or all of them at the same time",
        [](const Experiment& e) { return e.platform.gateways.all_rails ? "all" : "best"; },
        [](Experiment& e, const std::string& text, std::size_t) {
            e.platform.gateways.all_rails = text == "all";
        }));
    all.push_back(quantity(
        "platform.gateways.fragment", Kind::bytes, parse_bytes, print_bytes, 1, 1e9,
        "what messages are divided into that pass a gateway, or take several networks",
        [](auto& e) -> auto& { return e.platform.gateways.fragment_bytes; }));
    all.push_back(quantity(
        "platform.gateways.window", Kind::bytes, parse_bytes, print_bytes, 1, 1e15,
        "the most bytes from one node to another that gateways hold",
        [](auto& e) -> auto& { return e.platform.gateways.window_bytes; }));
}

}  // namespace heddle::configs
