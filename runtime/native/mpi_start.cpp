// Reads what MPI's launchers leave in the environment, and replaces this process by mpirun if none was used.
#include "runtime/native/mpi_start.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "host/command_line.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

namespace {

constexpr const char* started_mark = "HEDDLE_MPI_STARTED";

std::optional<NodeId> number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (!text || !*text) return std::nullopt;
    const std::string_view digits = text;
    NodeId value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
}

/// The words of this process's command line.
std::vector<std::string> own_words() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    return words;
}

}  // namespace

std::optional<MpiHint> mpi_hint() {
    // Open MPI; MPICH, Intel MPI and Slurm's pmi2; MVAPICH; PMIx, which does not say how many.
    constexpr const char* variables[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                            {"PMI_RANK", "PMI_SIZE"},
                                            {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                            {"PMIX_RANK", "PMIX_SIZE"}};
    for (const auto& [rank, nodes] : variables)
        if (const auto value = number_in(rank)) return MpiHint{*value, number_in(nodes)};
    return std::nullopt;
}

void become_mpirun(NodeId nodes) {
    const std::string command = fmt::format("mpirun -n {} heddle run ...", nodes);
    if (std::getenv(started_mark))
        throw Error("mpirun was started, but says nothing of ranks that this program knows",
                    "start it yourself: " + command);
    std::vector<std::string> words = own_words();
    if (!words.empty()) words.front() = host::own_program();
    words.insert(words.begin(), {"mpirun", "-n", std::to_string(nodes)});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    setenv(started_mark, "1", 1);
    // Open MPI (4 and 5) else refuses more ranks than cores, and binds each to one core with all its workers.
    // Other implementations do neither, and look at other variables.
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
    setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
    setenv("PRTE_MCA_hwloc_default_binding_policy", "none", 0);
    execvp("mpirun", argv.data());
    throw Error(fmt::format("cannot start mpirun: {}", error_text(errno)),
                "install it (Debian: apt-get install openmpi-bin), or start the run with: " + command);
}

void let_rank_0_speak() {
    std::this_thread::sleep_for(std::chrono::seconds(2));
}

void let_launcher_read() {
    if (mpi_hint()) std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

}  // namespace heddle::native
