// Makes the JSON Schema of a configuration from the table of keys that reading uses.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "configs/experiment.hpp"
#include "configs/fields.hpp"
#include "configs/network_fields.hpp"
#include "runtime/stealing/policy.hpp"

namespace heddle::configs {

namespace {

using Json = nlohmann::ordered_json;
using Kind = Shape::Kind;

constexpr const char* number_pattern = R"(\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)";

Json quantity(const std::string& units, bool plain_number, const std::string& description) {
    Json number = {{"type", "number"}, {"minimum", 0}};
    if (!plain_number) number["maximum"] = 0;
    const std::string unit = plain_number ? fmt::format("( *{})?", units) : " *" + units;
    return {{"description", description},
            {"anyOf",
             Json::array({Json{{"type", "string"}, {"pattern", fmt::format("^{}{}$", number_pattern, unit)}},
                          std::move(number)})}};
}

/// An event with all of `keys` and none of `others`.
Json event_with(const std::vector<std::string>& keys, const std::vector<std::string>& others) {
    Json any = Json::array();
    for (const std::string& other : others) any.push_back({{"required", Json::array({other})}});
    return {{"required", keys}, {"not", {{"anyOf", any}}}};
}

/// The shapes that have a form of their own, by the name under which the schema refers to them.
Json definitions() {
    return {
        {"time", quantity("(ps|ns|us|ms|s)", false, "a time: 1us, 2.5ms")},
        {"flops", quantity("[kMGTPE]?f", false, "floating-point operations: 20f, 10Gf")},
        {"bytes", quantity("([kMGTPE]|[KMGTPE]i)?B", true, "bytes: 4096, 4KiB, 64MB")},
        {"bandwidth", quantity("([kMGTPE]|[KMGTPE]i)?[Bb]ps", false,
                               "bytes per second, 12.5GBps, or bits per second, 100Gbps")},
        // Some readers of YAML take 1e-3 for text.
        {"number",
         {{"anyOf",
           Json::array({Json{{"type", "number"}},
                        Json{{"type", "string"}, {"pattern", fmt::format("^-?{}$", number_pattern)}}})}}},
        {"text", {{"type", Json::array({"string", "number", "boolean"})}}},
        {"kernel",
         {{"type", "object"},
          {"additionalProperties", false},
          {"required", Json::array({"kernel", "speed"})},
          {"properties",
           {{"kernel", {{"type", "string"}, {"minLength", 1}}},
            {"size", {{"$ref", "#/definitions/number"}}},
            {"speed", {{"$ref", "#/definitions/flops"}}}}}}},
        {"message_bytes",
         {{"type", "object"},
          {"additionalProperties", false},
          {"required", Json::array({"size", "send", "receive"})},
          {"properties",
           {{"size", {{"$ref", "#/definitions/bytes"}}},
            {"send", {{"$ref", "#/definitions/time"}}},
            {"receive", {{"$ref", "#/definitions/time"}}}}}}},
        {"event",
         {{"type", "object"},
          {"additionalProperties", false},
          {"required", Json::array({"at"})},
          {"properties",
           {{"at", {{"$ref", "#/definitions/time"}}},
            {"node", {{"type", "integer"}, {"minimum", 0}}},
            {"speed", {{"$ref", "#/definitions/number"}}},
            {"stop", {{"type", "boolean"}}},
            {"member", {{"type", "boolean"}}},
            {"link", {{"type", Json::array({"string", "number"})}, {"minLength", 1}}},
            {"bandwidth", {{"$ref", "#/definitions/number"}}},
            {"latency", {{"$ref", "#/definitions/number"}}}}},
          {"oneOf",
           Json::array(
               {event_with({"node", "speed"}, {"stop", "member", "link", "bandwidth", "latency"}),
                event_with({"node", "stop"}, {"speed", "member", "link", "bandwidth", "latency"}),
                event_with({"node", "member"}, {"speed", "stop", "link", "bandwidth", "latency"}),
                event_with({"link", "bandwidth"}, {"node", "speed", "stop", "member"}),
                event_with({"link", "latency"}, {"node", "speed", "stop", "member", "bandwidth"})})}}},
    };
}

Json with_bounds(Json schema, const Shape& shape) {
    if (shape.at_least > -1e300) schema["minimum"] = static_cast<std::int64_t>(shape.at_least);
    schema["maximum"] = static_cast<std::int64_t>(shape.at_most);
    return schema;
}

Json schema_of(const Shape& shape) {
    const auto reference = [](const char* name) {
        return Json{{"allOf", Json::array({Json{{"$ref", fmt::format("#/definitions/{}", name)}}})}};
    };
    switch (shape.kind) {
        case Kind::integer:
            return with_bounds({{"type", "integer"}}, shape);
        case Kind::integers:
            return {{"type", "array"}, {"items", with_bounds({{"type", "integer"}}, shape)}};
        case Kind::names:
            return {{"type", "array"}, {"items", {{"type", "string"}}}};
        case Kind::factors:
            return {{"type", "array"}, {"items", reference("number")}};
        case Kind::events:
            return {{"type", "array"}, {"items", {{"$ref", "#/definitions/event"}}}};
        case Kind::kernels:
            return {{"type", "array"}, {"items", {{"$ref", "#/definitions/kernel"}}}};
        case Kind::message_bytes:
            return {{"type", "array"}, {"items", {{"$ref", "#/definitions/message_bytes"}}}};
        case Kind::networks:
            return {{"type", "array"}, {"items", {{"$ref", "#/definitions/network"}}}};
        case Kind::boolean:
            return {{"type", "boolean"}};
        case Kind::choice:
            return {{"enum", shape.choices}};
        case Kind::number: {
            // The definition allows text as well, which bounds do not touch.
            Json number = reference("number");
            if (shape.at_least > -1e300) number["minimum"] = shape.at_least;
            if (shape.at_most < 1e300) number["maximum"] = shape.at_most;
            return number;
        }
        case Kind::time:
            return reference("time");
        case Kind::flops:
            return reference("flops");
        case Kind::bytes:
            return reference("bytes");
        case Kind::bandwidth:
            return reference("bandwidth");
        case Kind::bandwidths: {
            const Json one = {{"$ref", "#/definitions/bandwidth"}};
            return {{"anyOf", Json::array({one, Json{{"type", "array"}, {"minItems", 1}, {"items", one}}})}};
        }
        case Kind::text:
            break;
    }
    return reference("text");
}

Json described(const Shape& shape, const std::string& help, const Json& initial,
               const std::string& range = {}) {
    Json schema = schema_of(shape);
    schema["description"] = range.empty() ? help : fmt::format("{} ({})", help, range);
    if (!initial.is_null() && initial != Json("")) schema["default"] = initial;
    return schema;
}

Json section_schema() {
    return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
}

Json initial(const Setting& setting) {
    const bool text = setting.kind == SettingKind::text || setting.kind == SettingKind::choice;
    const Json parsed = text ? Json() : Json::parse(setting.initial, nullptr, false);
    return parsed.is_number() || parsed.is_boolean() ? parsed : Json(setting.initial);
}

Json workload_schema() {
    Json names = Json::array();
    Json each = Json::array();
    for (const workloads::Kind& kind : workloads::all()) {
        names.push_back(kind.name);
        Json settings = section_schema();
        settings["properties"]["name"] = {{"const", kind.name}, {"description", kind.help}};
        for (const Setting& setting : kind.settings) {
            settings["properties"][setting.name] =
                described(shape_of(setting), setting.help, initial(setting), range_in_words(setting));
        }
        each.push_back(
            {{"if",
              {{"properties", {{"name", {{"const", kind.name}}}}}, {"required", Json::array({"name"})}}},
             {"then", std::move(settings)}});
    }
    return {{"type", "object"},
            {"description", "the program, by its name, and its settings"},
            {"required", Json::array({"name"})},
            {"properties", {{"name", {{"enum", std::move(names)}}}}},
            {"allOf", std::move(each)}};
}

/// Adds the settings that policies declare to the section of stealing: each is described for the policies
/// that have it, and refused beside any other.
void add_policy_settings(Json& stealing, const std::string& default_policy) {
    std::map<std::string, Json> owners;
    Json rules = Json::array();
    const auto if_policy = [&](const std::string& policy) {
        Json condition = {{"properties", {{"victim", {{"const", policy}}}}}};
        if (policy != default_policy) condition["required"] = Json::array({"victim"});
        return condition;
    };
    for (const auto& kind : runtime::victim_policy_kinds()) {
        Json own = Json::object();
        for (const Setting& setting : kind.settings) {
            own[setting.name] =
                described(shape_of(setting), setting.help, initial(setting), range_in_words(setting));
            owners[setting.name].push_back(if_policy(kind.name));
        }
        if (!own.empty())
            rules.push_back({{"if", if_policy(kind.name)}, {"then", {{"properties", std::move(own)}}}});
    }
    for (auto& [name, policies] : owners) {
        stealing["properties"][name] = true;
        rules.push_back({{"if", {{"required", Json::array({name})}}}, {"then", {{"anyOf", policies}}}});
    }
    if (!rules.empty()) stealing["allOf"] = std::move(rules);
}

/// Gives a section a second form: the word `none`.
Json or_none(Json schema, const std::string& help) {
    return {{"description", help}, {"anyOf", Json::array({Json{{"const", "none"}}, std::move(schema)})}};
}

Json compare_schema() {
    const Json values = {{"type", "array"}, {"minItems", 1}};
    const Json lists = {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", values}};
    const Json text = {{"type", "string"}};
    return {
        {"type", "object"},
        {"description", "dotted keys with the values that they take; every combination is a cell"},
        {"properties",
         {{"zip",
           {{"description", "keys whose values go together: the first of each, then the second of each"},
            {"anyOf", Json::array({lists, Json{{"type", "array"}, {"minItems", 1}, {"items", lists}}})}}},
          {"variants",
           {{"description", "names, and the keys that each of them sets"},
            {"type", "object"},
            {"minProperties", 1},
            {"additionalProperties", {{"type", Json::array({"object", "null"})}}}}},
          {"baseline",
           {{"description", "compared keys with a value each: what speedup and efficiency are relative to"},
            {"type", "object"},
            {"minProperties", 1}}},
          {"pivot",
           {{"description", "a matrix in place of a list"},
            {"type", "object"},
            {"required", Json::array({"rows", "columns"})},
            {"additionalProperties", false},
            {"properties",
             {{"rows", text},
              {"columns", text},
              {"shows", {{"enum", Json::array({"median", "ratio", "speedup", "efficiency"})}}}}}}}}},
        {"additionalProperties", values}};
}

Json published_schema() {
    const Json text = {{"type", "string"}};
    const Json keys = {{"type", "object"}, {"minProperties", 1}};
    const auto lines = [](const char* number, const char* bound, int limit, const Json& others) {
        Json line = {{"type", "object"}, {"required", Json::array({number})}, {"properties", others}};
        line["properties"][number] = {{"type", "number"}, {bound, limit}};
        for (const auto& [key, shape] : others.items()) line["required"].push_back(key);
        return Json{{"type", "array"}, {"items", std::move(line)}};
    };
    const auto has = [](const char* key) { return Json{{"required", Json::array({key})}}; };
    const Json none = Json::object();
    return {{"type", "object"},
            {"description",
             "published numbers of cells of `compare`: speedups over a run with the keys of `baseline`, "
             "seconds, and improvements in percent over the cell that differs in the keys of `over`"},
            {"anyOf", Json::array({has("baseline"), has("seconds"), has("improvements")})},
            {"dependencies", {{"speedups", Json::array({"baseline"})}}},
            {"additionalProperties", false},
            {"properties",
             {{"source", text},
              {"what", text},
              {"baseline", keys},
              {"speedups", lines("speedup", "exclusiveMinimum", 0, none)},
              {"seconds", lines("seconds", "exclusiveMinimum", 0, none)},
              {"improvements", lines("percent", "exclusiveMaximum", 100, {{"over", keys}})}}}};
}

/// An entry of `platform.networks`: most keys are as in `platform.network`.
Json network_schema() {
    Json schema = section_schema();
    schema["required"] = Json::array({"name"});
    for (const char* const key : network_keys) {
        const Field* const field = find_field(fmt::format("platform.network.{}", key));
        schema["properties"][key] = schema_of(field ? field->shape : Shape{Kind::text});
    }
    return schema;
}

}  // namespace

std::string schema_json() {
    const Experiment defaults;
    Json properties = Json::object();
    for (const Field& field : fields()) {
        Json* place = &properties;
        std::size_t begin = 0;
        for (std::size_t dot = field.key.find('.'); dot != std::string::npos;
             dot = field.key.find('.', begin)) {
            const std::string name = field.key.substr(begin, dot - begin);
            if (!place->contains(name)) (*place)[name] = section_schema();
            place = &(*place)[name]["properties"];
            begin = dot + 1;
        }
        const bool computed = field.key == "platform.cores";
        (*place)[field.key.substr(begin)] =
            described(field.shape, field.help, computed ? Json() : field.show(defaults));
        if (field.key == "name") properties["workload"] = workload_schema();
    }
    Json& stealing = properties["schedule"]["properties"]["stealing"];
    add_policy_settings(stealing, defaults.schedule.stealing.victim);
    stealing = or_none(std::move(stealing), "what an idle worker does; none: nothing");
    Json& overheads = properties["platform"]["properties"]["overheads"];
    overheads =
        or_none(std::move(overheads), "what the scheduler's operations cost in simulation; none: nothing");
    properties["compare"] = compare_schema();
    properties["published"] = published_schema();

    Json root = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "Heddle experiment"},
                 {"type", "object"},
                 {"required", Json::array({"workload"})},
                 {"additionalProperties", false},
                 {"properties", std::move(properties)},
                 {"definitions", definitions()}};
    root["definitions"]["network"] = network_schema();
    return root.dump(2) + "\n";
}

}  // namespace heddle::configs
