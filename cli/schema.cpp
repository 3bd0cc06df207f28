// `heddle schema`: prints the JSON Schema of a configuration, for editors.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>

#include "cli/verbs.hpp"
#include "configs/experiment.hpp"

namespace heddle::cli {

void add_schema(CLI::App& app, Action& action) {
    CLI::App* verb = app.add_subcommand("schema", "print the JSON Schema of an experiment, for editors");
    verb->callback([&action] {
        action = [] {
            std::cout << configs::schema_json();
            return success;
        };
    });
}

}  // namespace heddle::cli
