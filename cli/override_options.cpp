// Adds --set, --backend and the like to a verb, and collects their values in the order of the command line.
#include "cli/override_options.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace heddle::cli {

void add_override_options(CLI::App& verb, OverrideOptions& options) {
    verb.add_option("--set", options.sets, "KEY=VALUE in place of the file's, such as platform.nodes=4")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    verb.add_option("--backend", options.backend, "native, sim or inprocess, in place of the file's");
    verb.add_option("--seed", options.seed, "in place of the file's");
    verb.add_option("--repeat", options.repeat,
                    "runs with the seeds seed, seed + 1, ...; the median is shown");
}

std::vector<configs::Override> overrides_of(const OverrideOptions& options) {
    std::vector<configs::Override> overrides;
    for (const std::string& set : options.sets) overrides.push_back(configs::parse_override(set));
    if (!options.backend.empty()) overrides.push_back({"backend", options.backend, "--backend"});
    if (!options.seed.empty()) overrides.push_back({"seed", options.seed, "--seed"});
    if (!options.repeat.empty()) overrides.push_back({"repeat", options.repeat, "--repeat"});
    return overrides;
}

}  // namespace heddle::cli
