#include "configs/node_fields.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
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

/// A number within the shape's bounds. Throws Error.
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

NodeEvent event_in(const Value& value, const std::string& key) {
    constexpr const char* example =
        "write it like `{at: 1ms, node: 3, speed: 0.5}` or `{at: 1ms, node: 3, stop: true}`";
    if (value.kind != Value::Kind::mapping) {
        throw Error(fmt::format("{}: expected an event, found {}", key, value.described()), example,
                    value.where);
    }
    NodeEvent event;
    event.where = value.where;
    bool at = false;
    bool node = false;
    for (const Value& entry : value.children) {
        const std::string name = key + "." + entry.key;
        if (entry.key == "at") {
            const std::string text = scalar_text(entry, name, {Kind::time});
            try {
                event.at = parse_time(text);
            } catch (const Error& error) {
                throw Error(name + ": " + error.message(), error.advice(), entry.where);
            }
            at = true;
        } else if (entry.key == "node") {
            event.node = static_cast<NodeId>(whole_number(entry, name, {Kind::integer, 0, 1e7}));
            node = true;
        } else if (entry.key == "speed") {
            event.speed = number_in(entry, name, {Kind::number, factor_least, factor_most});
        } else if (entry.key == "stop") {
            const std::string text = scalar_text(entry, name, {Kind::boolean});
            if (text != "true" && text != "false") {
                throw Error(fmt::format("{}: expected true or false, found {}", name, entry.described()), "",
                            entry.where);
            }
            event.stop = text == "true";
        } else {
            throw Error(fmt::format("unknown key \"{}\" in {}", entry.key, key),
                        nearest_advice(entry.key, {"at", "node", "speed", "stop"}), entry.key_where);
        }
    }
    if (!at || !node || event.speed.has_value() == event.stop.has_value()) {
        throw Error(fmt::format("{}: an event needs `at`, `node`, and one of `speed` and `stop`", key),
                    example, value.where);
    }
    return event;
}

Json shown(const NodeEvent& event) {
    Json json = {{"at", print_time(event.at)}, {"node", event.node}};
    if (event.speed) json["speed"] = *event.speed;
    if (event.stop) json["stop"] = *event.stop;
    return json;
}

Field events(const std::string& key, std::string help) {
    return {key,
            {Kind::events},
            std::move(help),
            [=](Experiment& experiment, const Value& value) {
                std::vector<NodeEvent> read;
                for (const Value& item : items_of(value, key, "[{at: 1ms, node: 3, speed: 0.5}]"))
                    read.push_back(event_in(item, key));
                experiment.platform.events = std::move(read);
            },
            [](const Experiment& experiment) {
                Json list = Json::array();
                for (const NodeEvent& event : experiment.platform.events) list.push_back(shown(event));
                return list;
            }};
}

}  // namespace

void add_node_fields(std::vector<Field>& all) {
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
    all.push_back(events("platform.events",
                         "what happens to nodes at a time: `speed` is a factor from then on; `stop: true`: "
                         "nothing goes on there until `stop: false`"));
}

}  // namespace heddle::configs
