// Prints a resolved configuration as YAML and JSON: every key with its value, in a fixed order.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.hpp"
#include "configs/experiment.hpp"
#include "configs/fields.hpp"

namespace heddle::configs {

namespace {

using Json = nlohmann::ordered_json;

/// Whole numbers without a decimal point.
Json number(double value) {
    const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
    return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

}  // namespace

Json shown_setting(const Settings& settings, const Setting& setting) {
    switch (setting.kind) {
        case SettingKind::integer:
            return settings.integer(setting.name);
        case SettingKind::number:
            return number(settings.number(setting.name));
        case SettingKind::boolean:
            return settings.boolean(setting.name);
        case SettingKind::time:
            return print_time(settings.time(setting.name));
        case SettingKind::flops:
            return print_flops(settings.number(setting.name));
        case SettingKind::bytes:
            return print_bytes(settings.number(setting.name));
        case SettingKind::input_path:
        case SettingKind::output_path:
            return settings.path(setting.name);
        case SettingKind::text:
        case SettingKind::choice:
            break;
    }
    return settings.text(setting.name);
}

namespace {

/// Whether a key means something in the experiment's world. Natively the machine is what it is; a platform
/// file says what the YAML does not.
bool applies(const std::string& key, const Experiment& experiment) {
    if (key == "transport.receive" && experiment.backend == Backend::sim)
        return experiment.messages.receive == Messages::Receive::poll;
    if (key == "transport.send" && experiment.backend == Backend::sim)
        return experiment.messages.send == Messages::Send::sequence;
    if (key.starts_with("transport."))
        return experiment.backend == Backend::native && experiment.is_stated(key);
    if (key == "schedule.placement_file") return experiment.reads_placement();
    if (!key.starts_with("platform.")) return true;
    if (key == "platform.overheads.message_bytes")
        return !experiment.platform.overheads.message_bytes.empty();
    if (key == "platform.kernels") return !experiment.kernels.empty();
    if (key == "platform.compute")
        return experiment.backend == Backend::sim && experiment.compute != Compute::declared;
    if (key == "platform.from") return !experiment.platform_from.empty();
    if (key == "platform.nodes_at_start") return experiment.platform.nodes_at_start != 0;
    if (key == "platform.events" && experiment.platform.members_change()) return true;
    const bool count = key == "platform.nodes" || key == "platform.cores";
    if (count && experiment.platform.cores == 0 && key == "platform.cores") return false;
    if (key == "platform.clusters") return experiment.backend != Backend::sim && experiment.is_stated(key);
    if (key == "platform.networks" || key == "platform.rails" || key.starts_with("platform.gateways."))
        return !experiment.platform.networks.empty();
    if (key == "platform.transport") {
        return experiment.backend == Backend::native &&
               (experiment.platform.nodes > 1 || experiment.transport != Transport::tcp);
    }
    // What declared work lasts, and what schedulers are told of messages.
    const bool told = key == "platform.core_speed" || key == "platform.network.latency" ||
                      key == "platform.network.bandwidth";
    if (experiment.backend == Backend::native && told) return experiment.is_stated(key);
    if (experiment.backend != Backend::sim) return count;
    if (experiment.platform.file.empty()) return key != "platform.file";
    if (key == "platform.core_speed" || count || key.starts_with("platform.network.")) {
        return experiment.is_stated(key);
    }
    return true;
}

Json resolved(const Experiment& experiment) {
    Json root = Json::object();
    for (const Field& field : fields()) {
        if (applies(field.key, experiment)) {
            Json* place = &root;
            std::size_t begin = 0;
            for (std::size_t dot = field.key.find('.'); dot != std::string::npos;
                 dot = field.key.find('.', begin)) {
                place = &(*place)[field.key.substr(begin, dot - begin)];
                begin = dot + 1;
            }
            (*place)[field.key.substr(begin)] = field.show(experiment);
            const Settings& own = experiment.schedule.stealing.own;
            if (field.key == "schedule.stealing.victim")
                for (const Setting& setting : own.declared())
                    (*place)[setting.name] = shown_setting(own, setting);
        }
        if (field.key != "name") continue;
        Json workload = {{"name", experiment.kind->name}};
        for (const Setting& setting : experiment.kind->settings) {
            // A setting without a value of its own follows from others unless it is stated.
            if (setting.initial.empty() && !experiment.settings.stated(setting.name)) continue;
            workload[setting.name] = shown_setting(experiment.settings, setting);
        }
        root["workload"] = std::move(workload);
    }
    return root;
}

bool is_plain(const std::string& text) {
    if (text.empty() ||
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") !=
            std::string::npos) {
        return false;
    }
    for (const char* other :
         {"true", "false", "null",  "yes",  "no",  "on", "off", "True", "False", "Null", "Yes", "No", "On",
          "Off",  "TRUE",  "FALSE", "NULL", "YES", "NO", "ON",  "OFF",  "y",     "n",    "Y",   "N"}) {
        if (text == other) return false;
    }
    // Text that would be read as a number, or as a list.
    double number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    return parsed.ptr != text.data() + text.size() && text.front() != '-' && text.front() != '.';
}

void write_yaml(const Json& value, int indent, std::string& out) {
    for (const auto& [key, child] : value.items()) {
        out += std::string(static_cast<std::size_t>(indent), ' ') + key + ":";
        if (child.is_object()) {
            out += "\n";
            write_yaml(child, indent + 2, out);
        } else if (child.is_string() && is_plain(child.get<std::string>())) {
            out += fmt::format(" {}\n", child.get<std::string>());
        } else {
            out += fmt::format(" {}\n", child.dump());  // JSON's scalars and lists are YAML's
        }
    }
}

Json of_value(const Value& value) {
    if (value.kind == Value::Kind::list) {
        Json list = Json::array();
        for (const Value& item : value.children) list.push_back(of_value(item));
        return list;
    }
    if (value.kind == Value::Kind::mapping) {
        Json mapping = Json::object();
        for (const Value& entry : value.children) mapping[entry.key] = of_value(entry);
        return mapping;
    }
    if (!value.quoted) {
        Json parsed = Json::parse(value.text, nullptr, false);
        if (parsed.is_number() || parsed.is_boolean()) return parsed;
    }
    return value.text;
}

}  // namespace

std::string resolved_json(const Experiment& experiment) {
    return resolved(experiment).dump();
}

std::string resolved_yaml(const Experiment& experiment) {
    std::string out;
    Json root = resolved(experiment);
    if (!experiment.compare.axes.empty()) root["compare"] = of_value(experiment.compare.section);
    if (experiment.published) root["published"] = of_value(experiment.published->section);
    write_yaml(root, 0, out);
    return out;
}

}  // namespace heddle::configs
