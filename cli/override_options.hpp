// Options that replace values of an experiment file, such as --set; the same for every verb that reads one.
#pragma once

#include <string>
#include <vector>

#include "configs/experiment.hpp"

namespace CLI {
class App;
}

namespace heddle::cli {

struct OverrideOptions {
    std::vector<std::string> sets;
    std::string backend, seed, repeat;
};

/// Adds --set, --backend, --seed and --repeat to a verb. `options` must outlive it.
void add_override_options(CLI::App& verb, OverrideOptions& options);

/// In the order in which they apply. Throws Error.
std::vector<configs::Override> overrides_of(const OverrideOptions& options);

}  // namespace heddle::cli
