// Reads factors of speed, noise and events of nodes and links from the `platform` section.
#include "configs/node_fields.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/units.hpp"

namespace heddle::configs {

namespace {

using Json = nlohmann::ordered_json;
using Kind = Shape::Kind;

constexpr double factor_least = 1e-9;
constexpr double factor_most = 1e9;

}  // namespace

double number_in(const Value& value, const std::string& key, const Shape& shape) {
    const std::string text = scalar_text(value, key, shape);
    std::string_view digits = text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    double number = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const std::string range = fmt::format("{} to {}", shape.at_least, shape.at_most);
    if (parsed.ec == std::errc::invalid_argument || parsed.ptr != digits.data() + digits.size()) {
        throw Error(fmt::format("{}: expected a number, found {}", key, value.described()), range,
                    value.where);
    }
    if (parsed.ec != std::errc() || !(number >= shape.at_least && number <= shape.at_most)) {
        throw Error(fmt::format("{}: {} is out of range", key, text), "expected " + range, value.where);
    }
    return number;
}

Time time_in(const Value& value, const std::string& key) {
    const std::string text = scalar_text(value, key, {Kind::time});
    try {
        return parse_time(text);
    } catch (const Error& error) {
        throw Error(key + ": " + error.message(), error.advice(), value.where);
    }
}

namespace {

const std::vector<Value>& items_of(const Value& value, const std::string& key, const char* example) {
    if (value.kind != Value::Kind::list) {
        throw Error(fmt::format("{}: expected a list, found {}", key, value.described()),
                    fmt::format("write it like `{}: {}`", key.substr(key.rfind('.') + 1), example),
                    value.where);
    }
    return value.children;
}

Field deviation(const std::string& key, std::string help, double Noise::*member) {
    const Shape shape{Kind::number, 0, 100};
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                experiment.platform.noise.*member = number_in(value, key, shape);
            },
            [=](const Experiment& experiment) { return Json(experiment.platform.noise.*member); }};
}

Field factors(const std::string& key, std::string help, std::vector<double> Platform::*member) {
    const Shape shape{Kind::factors, factor_least, factor_most};
    return {key, shape, std::move(help),
            [=](Experiment& experiment, const Value& value) {
                std::vector<double> read;
                for (const Value& item : items_of(value, key, "[1, 0.5]"))
                    read.push_back(number_in(item, key, {Kind::number, factor_least, factor_most}));
                experiment.platform.*member = std::move(read);
            },
            [=](const Experiment& experiment) { return Json(experiment.platform.*member); }};
}

Field hosts() {
    const std::string key = "platform.hosts";
    const Shape shape{Kind::names};
    return {key, shape, "the hosts of the file that are nodes, by name or pattern; all by default",
            [=](Experiment& experiment, const Value& value) {
                std::vector<std::string> read;
                for (const Value& item : items_of(value, key, "[\"front-*\", node-7]"))
                    read.push_back(scalar_text(item, key, {Kind::text}));
                experiment.platform.hosts = std::move(read);
            },
            [=](const Experiment& experiment) { return Json(experiment.platform.hosts); }};
}

constexpr const char* event_example =
    "write it like `{at: 1ms, node: 3, speed: 0.5}`, `{at: 1ms, node: 3, stop: true}`, `{at: 1ms, node: 3, "
    "member: "
    "false}` or `{at: 1ms, link: NAME, bandwidth: 0.1, latency: 10}`";

bool boolean_in(const Value& value, const std::string& key) {
    const std::string text = scalar_text(value, key, {Kind::boolean});
    if (text == "true" || text == "false") return text == "true";
    throw Error(fmt::format("{}: expected true or false, found {}", key, value.described()), "", value.where);
}

/// An entry of the list as it is written: of a node or of a link.
struct StatedEvent {
    std::optional<Time> at{};
    std::optional<NodeId> node{};
    std::optional<double> speed{};
    std::optional<bool> stop{};
    std::optional<bool> member{};
    std::optional<std::string> link{};
    std::optional<double> bandwidth{};
    std::optional<double> latency{};
};

StatedEvent stated_event(const Value& value, const std::string& key) {
    if (value.kind != Value::Kind::mapping) {
        throw Error(fmt::format("{}: expected an event, found {}", key, value.described()), event_example,
                    value.where);
    }
    const Shape factor{Kind::number, factor_least, factor_most};
    StatedEvent event;
    for (const Value& entry : value.children) {
        const std::string name = key + "." + entry.key;
        if (entry.key == "at") {
            event.at = time_in(entry, name);
        } else if (entry.key == "node") {
            event.node = static_cast<NodeId>(whole_number(entry, name, {Kind::integer, 0, 1e7}));
        } else if (entry.key == "speed") {
            event.speed = number_in(entry, name, factor);
        } else if (entry.key == "stop") {
            event.stop = boolean_in(entry, name);
        } else if (entry.key == "member") {
            event.member = boolean_in(entry, name);
        } else if (entry.key == "link") {
            event.link = scalar_text(entry, name, {Kind::text});
        } else if (entry.key == "bandwidth") {
            event.bandwidth = number_in(entry, name, factor);
        } else if (entry.key == "latency") {
            event.latency = number_in(entry, name, factor);
        } else {
            throw Error(fmt::format("unknown key \"{}\" in {}", entry.key, key),
                        nearest_advice(entry.key, {"at", "node", "speed", "stop", "member", "link",
                                                   "bandwidth", "latency"}),
                        entry.key_where);
        }
    }
    return event;
}

void read_event(Platform& platform, const Value& value, const std::string& key) {
    const StatedEvent event = stated_event(value, key);
    const bool of_link = event.link || event.bandwidth || event.latency;
    if (of_link) {
        if (!event.at || !event.link || event.link->empty() || (!event.bandwidth && !event.latency) ||
            event.node || event.speed || event.stop || event.member) {
            throw Error(fmt::format("{}: an event of a link needs `at`, `link`, and `bandwidth`, `latency` "
                                    "or both, and nothing else",
                                    key),
                        event_example, value.where);
        }
        platform.link_events.push_back({*event.at, *event.link, event.bandwidth, event.latency, value.where});
        return;
    }
    if (!event.at || !event.node ||
        event.speed.has_value() + event.stop.has_value() + event.member.has_value() != 1) {
        throw Error(
            fmt::format("{}: an event needs `at`, `node`, and one of `speed`, `stop` and `member`", key),
            event_example, value.where);
    }
    platform.events.push_back({*event.at, *event.node, event.speed, event.stop, event.member, value.where});
}

Json shown(const NodeEvent& event) {
    Json json = {{"at", print_time(event.at)}, {"node", event.node}};
    if (event.speed) json["speed"] = *event.speed;
    if (event.stop) json["stop"] = *event.stop;
    if (event.member) json["member"] = *event.member;
    return json;
}

Json shown(const LinkEvent& event) {
    Json json = {{"at", print_time(event.at)}, {"link", event.link}};
    if (event.bandwidth) json["bandwidth"] = *event.bandwidth;
    if (event.latency) json["latency"] = *event.latency;
    return json;
}

Field events(const std::string& key, std::string help) {
    return {key,
            {Kind::events},
            std::move(help),
            [=](Experiment& experiment, const Value& value) {
                Platform& platform = experiment.platform;
                platform.events.clear();
                platform.link_events.clear();
                for (const Value& item : items_of(value, key, "[{at: 1ms, node: 3, speed: 0.5}]"))
                    read_event(platform, item, key);
            },
            [](const Experiment& experiment) {
                Json list = Json::array();
                for (const NodeEvent& event : experiment.platform.events) list.push_back(shown(event));
                for (const LinkEvent& event : experiment.platform.link_events) list.push_back(shown(event));
                return list;
            }};
}

}  // namespace

void add_node_fields(std::vector<Field>& all) {
    all.push_back(hosts());
    all.push_back(factors("platform.node_speeds",
                          "factors of core_speed, a node each; a shorter list begins again",
                          &Platform::node_speeds));
    all.push_back(factors("platform.core_speeds",
                          "factors of core_speed, a core of each node each; a shorter list begins again",
                          &Platform::core_speeds));
    all.push_back(deviation("platform.noise.node",
                            "relative standard deviation of the time that the nodes need for the same work",
                            &Noise::node));
    all.push_back(deviation("platform.noise.task",
                            "relative standard deviation of the size of pieces of work", &Noise::task));
    all.push_back(
        events("platform.events",
               "what happens to nodes and links at a time: `speed` is a factor from then on; `stop: "
               "true`: nothing goes on there until `stop: false`; `member: true`: the node joins the run, "
               "`member: false`: it leaves; `bandwidth` and `latency` are "
               "factors of a link from then on"));
}

}  // namespace heddle::configs
