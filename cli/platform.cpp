// `heddle platform` lists platforms; `heddle platform show` prints one as a simulation would build it.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>

#include "base/printable.hpp"
#include "cli/listing.hpp"
#include "cli/platform_source.hpp"
#include "cli/verbs.hpp"
#include "cli/worlds.hpp"

namespace heddle::cli {

namespace {

struct PlatformOptions {
    std::string platform;
    std::vector<std::string> sets;
    bool json = false;
    bool links = false;
};

}  // namespace

void add_platform(CLI::App& app, Action& action) {
    const auto options = std::make_shared<PlatformOptions>();
    CLI::App* verb = app.add_subcommand("platform", "look at a platform before running on it");
    verb->require_subcommand(0, 1);
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
    show->add_flag("--links", options->links, "list all links by name, for `platform.events`");
    verb->callback([verb, &action] {
        if (!verb->get_subcommands().empty()) return;
        action = [] {
            std::cout << platforms_listed()
                      << "show one: heddle platform show '{nodes: 16, network: {topology: torus}}'\n";
            return success;
        };
    });
    show->callback([options, &action] {
        action = [options] {
            std::cout << printable_lines(describe_platform(platform_named(options->platform, options->sets),
                                                           options->json, options->links));
            return success;
        };
    });
}

}  // namespace heddle::cli
