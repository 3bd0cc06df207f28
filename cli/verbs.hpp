// The verbs of the command line, each in a file of its own. A verb adds itself and its options to the parser.
// If the user typed it, parsing sets `action` to a function that does the work.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace CLI {
class App;
}

namespace heddle::cli {

/// Exit codes. 4, a lost node, is runtime/native's. `undecided`: validate has shown neither an error nor that
/// there is none. `refused`: Error::is_refusal.
enum ExitCode : int {
    success = 0,
    wrong_answer = 1,
    mistake = 2,
    our_mistake = 3,
    undecided = 5,
    refused = 6
};

inline ExitCode exit_code_of(const Error& error) {
    return error.is_refusal() ? refused : mistake;
}

/// What the typed verb does. Returns the exit code, throws Error.
using Action = std::function<int()>;

void add_run(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_schedule(CLI::App& app, Action& action);
void add_partition(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_platform(CLI::App& app, Action& action);
void add_schema(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action);
void add_validate(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);

/// `command`: the words after `--`, which the parser does not see.
void add_launch(CLI::App& app, Action& action, const std::vector<std::string>& command);

}  // namespace heddle::cli
