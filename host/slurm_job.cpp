// Reads the job's hosts from the environment variables that Slurm's salloc and sbatch set.
#include "host/slurm_job.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "base/error.hpp"

namespace heddle::host {

namespace {

constexpr const char* hosts_variable = "SLURM_JOB_NODELIST";
constexpr const char* counts_variable = "SLURM_TASKS_PER_NODE";

/// The step of salloc's shell where Slurm runs it on the job's first host (SLURM_INTERACTIVE_STEP).
constexpr const char* interactive_step = "4294967290";

std::string value_of(const char* variable) {
    const char* const value = std::getenv(variable);
    return value ? value : "";
}

[[noreturn]] void refuse_counts(std::string_view all) {
    throw Error(fmt::format("\"{}\" is no list of counts", all), "Slurm writes it like 2(x3),1");
}

/// Takes a number off the front. Throws Error.
std::uint32_t take_number(std::string_view& text, std::string_view all) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) refuse_counts(all);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

}  // namespace

std::vector<std::uint32_t> expand_counts(std::string_view text) {
    const std::string_view all = text;
    std::vector<std::uint32_t> counts;
    for (;;) {
        const std::uint32_t count = take_number(text, all);
        std::uint32_t times = 1;
        if (text.starts_with("(x")) {
            text.remove_prefix(2);
            times = take_number(text, all);
            if (!text.starts_with(')')) refuse_counts(all);
            text.remove_prefix(1);
        }
        if (times > hosts_max || counts.size() + times > hosts_max) refuse_counts(all);
        counts.insert(counts.end(), times, count);
        if (text.empty()) return counts;
        if (text.front() != ',') refuse_counts(all);
        text.remove_prefix(1);
    }
}

std::optional<std::vector<HostSlots>> slurm_hosts() {
    const std::string names = value_of(hosts_variable);
    // srun sets the number of a step, and so does the batch script's own step, which has no tasks. The
    // shell's step has one, but the whole job is the user's to fill.
    const bool in_step =
        !value_of("SLURM_STEP_NUM_TASKS").empty() && value_of("SLURM_STEP_ID") != interactive_step;
    if (names.empty() || in_step) return std::nullopt;
    const std::vector<std::string> hosts = expand_host_list(names);
    const std::string text = value_of(counts_variable);
    const std::vector<std::uint32_t> counts =
        text.empty() ? std::vector<std::uint32_t>(hosts.size(), 1) : expand_counts(text);
    if (counts.size() != hosts.size()) {
        throw Error(fmt::format("Slurm names {} hosts ({}={}) and tasks on {} ({}={})", hosts.size(),
                                hosts_variable, names, counts.size(), counts_variable, text),
                    "name the hosts: heddle launch --hosts a,b:2");
    }
    std::vector<HostSlots> list;
    for (std::size_t i = 0; i < hosts.size(); ++i)
        if (counts[i] > 0) list.push_back({hosts[i], counts[i]});
    return list;
}

}  // namespace heddle::host
