// Writes the text of a Slurm job array, in which each task runs a share of a comparison's cells.
#include "cli/slurm_script.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/comparison_plan.hpp"
#include "host/command_line.hpp"

namespace heddle::cli {

namespace {

/// An option as a line of the script has it. Blanks in a value belong to it; in `-p debug` they are sbatch's.
std::string directive_of(const std::string& option) {
    if (option.find_first_of("\n\r") != std::string::npos)
        throw Error(fmt::format("--sbatch: {} has a line break", host::shell_words({option})),
                    "state each option by an --sbatch of its own");
    const std::size_t equals = option.find('=');
    if (!option.starts_with("--") || equals == std::string::npos || option.find(' ') < equals) return option;
    const std::string value = option.substr(equals + 1);
    if (value.starts_with('\'') || value.starts_with('"')) return option;  // the user has quoted it
    return option.substr(0, equals + 1) + host::shell_words({value});
}

}  // namespace

std::string slurm_script(const SlurmOptions& options) {
    std::string text = "#!/bin/sh\n";
    const auto directive = [&text](const std::string& option) { text += "#SBATCH " + option + "\n"; };
    directive("--job-name=" + host::shell_words({options.name}));
    directive(fmt::format("--array=0-{}", options.tasks - 1));
    if (options.processes > 1) directive(fmt::format("--nodes={}", options.processes));
    directive(fmt::format("--ntasks={}", options.processes));
    if (options.processes > 1) directive("--ntasks-per-node=1");
    if (options.cores > 1) directive(fmt::format("--cpus-per-task={}", options.cores));
    directive("--output=" + host::shell_words({options.directory + "/slurm-%A_%a.out"}));
    // Finished cells stay finished, so a task that was taken off its machine simply goes on.
    directive("--requeue");
    if (options.alone) directive("--exclusive");
    for (const std::string& option : options.sbatch) directive(directive_of(option));
    text +=
        "\n# Each task runs cells that no other task has taken. Submit it again and it goes on where it was "
        "cut "
        "off.\n";
    text += fmt::format("cd {} || exit 1\n", host::shell_words({options.working_directory}));
    text +=
        fmt::format("exec {} --claim --processes {}\n", host::shell_words(options.words), options.processes);
    return text;
}

}  // namespace heddle::cli
