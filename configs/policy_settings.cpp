// Reads the settings that a stealing policy declares for itself, and refuses those of other policies.
#include "configs/policy_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/stealing/policy.hpp"

namespace heddle::configs {

namespace {

const std::string section = "schedule.stealing";

std::string name_in(const std::string& key) {
    return key.substr(key.rfind('.') + 1);
}

/// The policies that declare a setting of that name.
std::vector<std::string> policies_with(const std::string& setting) {
    std::vector<std::string> found;
    for (const auto& kind : runtime::victim_policy_kinds()) {
        if (std::ranges::find(kind.settings, setting, &Setting::name) != kind.settings.end())
            found.push_back(kind.name);
    }
    return found;
}

[[noreturn]] void refuse(const Experiment& experiment, const std::string& name, const Value& value) {
    const std::string& policy = experiment.schedule.stealing.victim;
    if (const auto owners = policies_with(name); !owners.empty()) {
        throw Error(fmt::format("{}.{} is a setting of the policy {}, but the victim is {}", section, name,
                                fmt::join(owners, " and "), policy),
                    fmt::format("state `victim: {}`, or leave the key out", owners.front()), value.key_where);
    }
    std::vector<std::string> known = names_below(section);
    for (const Setting& setting : experiment.schedule.stealing.own.declared()) known.push_back(setting.name);
    throw Error(fmt::format("unknown key \"{}\" in {}", name, section), nearest_advice(name, known),
                value.key_where);
}

}  // namespace

void choose_policy(Experiment& experiment, const std::string& name) {
    runtime::Stealing& stealing = experiment.schedule.stealing;
    const auto& kind = runtime::find_victim_policy(name);
    const bool same = stealing.victim == name && stealing.own.declared().size() == kind.settings.size();
    if (same) return;
    for (const Setting& setting : kind.settings) {
        if (find_field(section + "." + setting.name) == nullptr) continue;
        throw Error(
            fmt::format("the policy {} declares a setting {}, but {}.{} has a meaning for all policies", name,
                        setting.name, section, setting.name),
            "let the policy call it something else");
    }
    stealing.victim = name;
    stealing.own = Settings(kind.settings);
}

bool is_policy_setting(const std::string& key) {
    return key.starts_with(section + ".") && !policies_with(name_in(key)).empty();
}

std::vector<std::string> policy_keys(const std::string& policy) {
    std::vector<std::string> keys;
    for (const Setting& setting : runtime::find_victim_policy(policy).settings)
        keys.push_back(section + "." + setting.name);
    return keys;
}

void read_policy_setting(Experiment& experiment, const std::string& key, const Value& value) {
    Settings& own = experiment.schedule.stealing.own;
    const std::string name = name_in(key);
    if (std::ranges::find(own.declared(), name, &Setting::name) == own.declared().end())
        refuse(experiment, name, value);
    read_setting(own, section, name, value);
}

void read_setting(Settings& settings, const std::string& section_of, const std::string& name,
                  const Value& value) {
    const auto setting = std::ranges::find(settings.declared(), name, &Setting::name);
    const bool known = setting != settings.declared().end();
    try {
        settings.set(name, known ? scalar_text(value, section_of + "." + name, shape_of(*setting)) : "",
                     value.where);
    } catch (const Error& error) {
        if (!known) throw Error(error.message() + " in " + section_of, error.advice(), value.key_where);
        const bool short_name = error.message().starts_with(name + ": ");
        throw Error((short_name ? section_of + "." : "") + error.message(), error.advice(), value.where);
    }
}

}  // namespace heddle::configs
