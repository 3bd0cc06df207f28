#include "cli/platform_source.hpp"

#include <filesystem>

#include "configs/experiment.hpp"

namespace heddle::cli {

Platform platform_named(const std::string& platform, const std::vector<std::string>& sets) {
    std::vector<configs::Override> overrides;
    for (const std::string& set : sets) overrides.push_back(configs::parse_override(set));
    const std::filesystem::path path = platform;
    if (path.extension() == ".xml") {
        overrides.insert(overrides.begin(), {"platform.file", platform, "the command line"});
        return configs::read_platform_text("{}", platform, overrides);
    }
    const bool written_out = platform.find(':') != std::string::npos && !std::filesystem::exists(path);
    return written_out ? configs::read_platform_text(platform, "the command line", overrides)
                       : configs::read_platform(platform, overrides);
}

}  // namespace heddle::cli
