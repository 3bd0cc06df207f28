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
    // Slurm sets SLURM_NTASKS in a batch script, too, which runs once; only srun sets the step's number.
    // Then Open MPI; MPICH, Intel MPI and Slurm's pmi2; MVAPICH.
    constexpr const char* variables[][2] = {{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
                                            {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                            {"PMI_RANK", "PMI_SIZE"},
                                            {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"}};
    for (const auto& [rank, processes] : variables) {
        const auto count = number_in(processes);
        if (count.value_or(1) > 1) return JobStep{processes, number_in(rank).value_or(0), *count};
    }
    return std::nullopt;
}

}  // namespace heddle::native
