// Reads the variables that srun and mpirun leave in the environment.
#include "runtime/native/job_step.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace heddle::native {

namespace {

std::optional<NodeId> number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (!text || !*text) return std::nullopt;
    NodeId value = 0;
    const char* const last = text + std::strlen(text);
    const auto [end, error] = std::from_chars(text, last, value);
    if (error != std::errc{} || end != last) return std::nullopt;
    return value;
}

}  // namespace

std::optional<JobStep> job_step() {
    const char* independent = std::getenv(independent_variable);
    if (independent && std::string_view(independent) == "1") return std::nullopt;
    // The nearest first: mpirun in a job of Slurm starts its daemons by srun, whose variables count these.
    struct Launcher {
        const char* rank;
        const char* processes;
        bool sole = true;  ///< only one launcher sets these, so that 1 means a process alone
    };
    // Open MPI; MVAPICH; MPICH, Intel MPI and Slurm's pmi2, which a shell in a step of one process passes on.
    // Slurm sets SLURM_NTASKS in a batch script, too, which runs once; only srun sets the step's number.
    constexpr Launcher launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                      {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                      {"PMI_RANK", "PMI_SIZE", false},
                                      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    for (const Launcher& launcher : launchers) {
        const auto count = number_in(launcher.processes);
        if (count.value_or(0) > 1)
            return JobStep{launcher.processes, number_in(launcher.rank).value_or(0), *count};
        if (count && launcher.sole) break;
    }
    return std::nullopt;
}

}  // namespace heddle::native
