// Writes a comparison as a Slurm job array: a script for sbatch, which the user submits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/ids.hpp"

namespace heddle::cli {

struct SlurmOptions {
    std::string name;                 ///< of the job
    std::string directory;            ///< of the results; the tasks' own output goes there, too
    std::string working_directory;    ///< relative paths are relative to it
    std::vector<std::string> words;   ///< `heddle compare FILE ...`, without --claim
    std::size_t tasks = 1;            ///< of the array; each runs cells that no other task has taken
    NodeId processes = 1;             ///< of each cell
    CoreId cores = 0;                 ///< that each process needs; 0: not stated
    bool alone = false;               ///< a task has its machine for itself, because cells take real time
    std::vector<std::string> sbatch;  ///< further options, such as --time=1:00:00
};

/// Throws Error for an option of several lines.
std::string slurm_script(const SlurmOptions& options);

}  // namespace heddle::cli
