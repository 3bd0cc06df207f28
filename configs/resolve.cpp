// Prints a resolved configuration as YAML and JSON: every key with its value, in a fixed order.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/paths.hpp"
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
    const Messages& messages = experiment.messages;
    if (experiment.backend == Backend::sim) {
        // What a simulation takes of these (cli/worlds.cpp), where it is not the default.
        if (key == "transport.receive") return messages.receive != Messages{}.receive;
        if (key == "transport.look")
            return messages.receive == Messages::Receive::automatic && messages.look != Messages{}.look;
        if (key == "transport.send") return messages.send != Messages{}.send;
    }
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
    const bool of_one_network = key == "platform.network.shape" || key == "platform.network.cables";
    if (of_one_network && !experiment.platform.networks.empty()) return false;
    // What declared work lasts, and what schedulers are told of messages.
    const bool told = key == "platform.core_speed" || key == "platform.network.latency" ||
                      key == "platform.network.bandwidth";
    if (experiment.backend == Backend::native && told) return experiment.is_stated(key);
    // It says what the kernel's speed costs.
    if (experiment.backend == Backend::inprocess && key == "platform.core_speed")
        return experiment.unit_cost_of_kernel && experiment.is_stated(key);
    if (experiment.backend != Backend::sim) return count;
    if (experiment.platform.file.empty()) return key != "platform.file";
    if (key == "platform.core_speed" || count || key.starts_with("platform.network.")) {
        return experiment.is_stated(key);
    }
    return true;
}

/// A path as a caller can open it, in another form. `stated`: what the experiment states.
std::string in_form(const std::string& path, const std::string& stated, const Experiment& experiment,
                    Paths paths) {
    namespace fs = std::filesystem;
    const bool stays = paths == Paths::from_its_folder && fs::path(stated).is_absolute();
    std::error_code problem;
    const fs::path whole = fs::absolute(path, problem).lexically_normal();
    if (path.empty() || stays || problem) return path;
    if (paths == Paths::absolute) {
        expect_utf8(whole);
        return whole;
    }
    const fs::path file = fs::absolute(experiment.file, problem).lexically_normal();
    return problem ? path : whole.lexically_relative(file.parent_path()).string();
}

bool names_file(const Setting& setting, const std::string& value) {
    const bool path = setting.kind == SettingKind::input_path || setting.kind == SettingKind::output_path;
    return path && (setting.names_file == nullptr || setting.names_file(value));
}

Json resolved_setting(const Setting& setting, const Experiment& experiment, Paths paths) {
    Json shown = shown_setting(experiment.settings, setting);
    if (!shown.is_string() || !names_file(setting, experiment.settings.text(setting.name))) return shown;
    const std::string formed =
        in_form(shown.get<std::string>(), experiment.settings.text(setting.name), experiment, paths);
    return formed.empty() || names_file(setting, formed) ? formed : "./" + formed;
}

Json resolved_field(const Field& field, const Experiment& experiment, Paths paths) {
    Json shown = field.show(experiment);
    const auto stated = experiment.stated_paths.find(field.key);
    if (stated == experiment.stated_paths.end()) return shown;
    return in_form(shown.get<std::string>(), stated->second, experiment, paths);
}

Json resolved(const Experiment& experiment, Paths paths) {
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
            (*place)[field.key.substr(begin)] = resolved_field(field, experiment, paths);
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
            // Read back as a stated one, it would be the work that the program declares.
            if (setting.name == "unit_cost" && experiment.unit_cost_of_kernel) continue;
            workload[setting.name] = resolved_setting(setting, experiment, paths);
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

/// Whether a key with this value names a file.
bool is_path(const std::string& key, const std::string& value, const Experiment& experiment) {
    if (key == "platform.file" || key == "platform.from" || key == "schedule.placement_file") return true;
    const auto setting = std::ranges::find_if(
        experiment.settings.declared(), [&](const Setting& each) { return key == "workload." + each.name; });
    return setting != experiment.settings.declared().end() && names_file(*setting, value);
}

/// A section that names files of compared keys, with absolute paths.
Value with_absolute_paths(Value value, const std::string& key, const Experiment& experiment) {
    if (value.kind == Value::Kind::scalar && is_path(key, value.text, experiment))
        value.text = in_form(path_from(value.text, value.where), value.text, experiment, Paths::absolute);
    for (Value& child : value.children)
        child = with_absolute_paths(child, value.kind == Value::Kind::list ? key : child.key, experiment);
    return value;
}

std::string quoted(const std::string& text) {
    return Json(text).dump();  // JSON's texts are YAML's
}

/// A value of a section on one line. What is not in quotes stays as it was written: YAML takes more numbers
/// than JSON, and a text in quotes is no number.
std::string in_one_line(const Value& value) {
    std::string items;
    const auto add = [&items](const std::string& item) { items += (items.empty() ? "" : ",") + item; };
    switch (value.kind) {
        case Value::Kind::null:
            return "null";
        case Value::Kind::scalar:
            break;
        case Value::Kind::list:
            for (const Value& item : value.children) add(in_one_line(item));
            return "[" + items + "]";
        case Value::Kind::mapping:
            for (const Value& entry : value.children) add(quoted(entry.key) + ": " + in_one_line(entry));
            return "{" + items + "}";
    }
    const bool plain = !value.quoted && value.text.find_first_of(",[]{}\"'#:\n") == std::string::npos;
    return plain ? value.text : quoted(value.text);
}

void write_section(const std::string& key, const Value& value, int indent, std::string& out) {
    out += std::string(static_cast<std::size_t>(indent), ' ') + (is_plain(key) ? key : quoted(key)) + ":";
    if (value.kind != Value::Kind::mapping || value.children.empty()) {
        out += " " + in_one_line(value) + "\n";
        return;
    }
    out += "\n";
    for (const Value& entry : value.children) write_section(entry.key, entry, indent + 2, out);
}

}  // namespace

std::string resolved_json(const Experiment& experiment, Paths paths) {
    return resolved(experiment, paths).dump();
}

std::string resolved_yaml(const Experiment& experiment) {
    std::string out;
    write_yaml(resolved(experiment, Paths::absolute), 0, out);
    const auto write = [&](const std::string& key, const Value& section) {
        write_section(key, with_absolute_paths(section, key, experiment), 0, out);
    };
    if (!experiment.compare.axes.empty()) write("compare", experiment.compare.section);
    if (experiment.published) write("published", experiment.published->section);
    return out;
}

}  // namespace heddle::configs
