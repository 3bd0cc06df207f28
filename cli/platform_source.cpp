// Reads a platform from a YAML file, a SimGrid file, or YAML text on the command line itself.
#include "cli/platform_source.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "configs/document.hpp"
#include "configs/experiment.hpp"

namespace heddle::cli {

namespace {

bool is_written_out(const std::string& platform) {
    std::error_code too_long_for_a_name;
    const bool like_yaml = platform.find(':') != std::string::npos || platform.starts_with('{');
    return like_yaml && !std::filesystem::exists(platform, too_long_for_a_name);
}

bool is_simgrid_file(const std::string& platform) {
    return std::filesystem::path(platform).extension() == ".xml";
}

}  // namespace

bool states_unit(const std::string& set) {
    const std::string key = set.substr(0, set.find('='));
    return key == "workload.time_unit" || key == "workload.bytes_unit";
}

Platform platform_named(const std::string& platform, const std::vector<std::string>& sets) {
    return platform_section_named(platform, sets).platform;
}

configs::PlatformSection platform_section_named(const std::string& platform,
                                                const std::vector<std::string>& sets) {
    std::vector<configs::Override> overrides;
    for (const std::string& set : sets) {
        overrides.push_back(configs::parse_override(set));
        const std::string& key = overrides.back().key;
        // Nothing but the platform is read, so another key would change nothing.
        if (key == "platform" || key.starts_with("platform.")) continue;
        throw Error(fmt::format("\"{}\" is no key of a platform", key),
                    "these begin with `platform.`: --set platform.nodes=4", {overrides.back().origin, 0});
    }
    if (is_simgrid_file(platform)) {
        overrides.insert(overrides.begin(), {"platform.file", platform, "the command line"});
        return configs::read_platform_section("{}", platform, overrides);
    }
    return is_written_out(platform)
               ? configs::read_platform_section(platform, "the command line", overrides)
               : configs::read_platform_section(configs::read_text_file(platform), platform, overrides);
}

StatedUnits units_named(const std::string& platform, const std::vector<std::string>& sets) {
    StatedUnits units;
    const auto take = [&units](const std::string& key, const std::string& value) {
        if (key == "workload.time_unit") units.time_unit = value;
        if (key == "workload.bytes_unit") units.bytes_unit = value;
    };
    if (!is_simgrid_file(platform) && !is_written_out(platform)) {
        const configs::Value root = configs::parse_document(configs::read_text_file(platform), platform);
        const configs::Value* workload = root.find("workload");
        const configs::Value* name = workload ? workload->find("name") : nullptr;
        if (name && name->text == "dag") {
            for (const configs::Value& setting : workload->children)
                take("workload." + setting.key, setting.text);
        }
    }
    for (const std::string& set : sets) {
        const configs::Override given = configs::parse_override(set);
        take(given.key, given.value);
    }
    return units;
}

}  // namespace heddle::cli
