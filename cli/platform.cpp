// heddle platform show: a platform as a simulation would build it.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <iostream>

#include "cli/verbs.hpp"
#include "cli/worlds.hpp"
#include "configs/experiment.hpp"

namespace heddle::cli {

namespace {

struct Options {
    std::string platform;
    std::vector<std::string> sets;
    bool json = false;
};

Platform read(const Options& options) {
    std::vector<configs::Override> overrides;
    for (const std::string& set : options.sets) overrides.push_back(configs::parse_override(set));
    const std::filesystem::path path = options.platform;
    if (path.extension() == ".xml") {
        overrides.insert(overrides.begin(), {"platform.file", options.platform, "the command line"});
        return configs::read_platform_text("{}", options.platform, overrides);
    }
    const bool written_out =
        options.platform.find(':') != std::string::npos && !std::filesystem::exists(path);
    return written_out ? configs::read_platform_text(options.platform, "the command line", overrides)
                       : configs::read_platform(options.platform, overrides);
}

}  // namespace

void add_platform(CLI::App& app, Action& action) {
    const auto options = std::make_shared<Options>();
    CLI::App* verb = app.add_subcommand("platform", "look at a platform before running on it");
    verb->require_subcommand(1);
    CLI::App* show = verb->add_subcommand("show", "nodes, routes, latencies and bandwidths, as simulated");
    show->add_option(
            "PLATFORM", options->platform,
            "an experiment or platform in YAML, a SimGrid platform file (.xml), or YAML written out: "
            "'{nodes: 16, network: {topology: torus}}'")
        ->required();
    show->add_option("--set", options->sets, "KEY=VALUE in place of the file's, such as platform.nodes=4")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    show->add_flag("--json", options->json, "print one JSON object");
    show->callback([options, &action] {
        action = [options] {
            std::cout << describe_platform(read(*options), options->json);
            return success;
        };
    });
}

}  // namespace heddle::cli
