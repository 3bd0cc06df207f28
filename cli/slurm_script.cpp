// Writes the text of a Slurm job array, in which each task runs a share of a comparison's cells.
#include "cli/slurm_script.hpp"

#include <fmt/format.h>

#include "cli/comparison_plan.hpp"
#include "host/command_line.hpp"

namespace heddle::cli {

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
    for (const std::string& option : options.sbatch) directive(option);
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
