// The hosts that Slurm has given to the job in which this process runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/host_list.hpp"

namespace heddle::host {

/// The numbers of a list as Slurm writes counts by host: `2(x3),1` is 2, 2, 2, 1. Throws Error.
std::vector<std::uint32_t> expand_counts(std::string_view text);

/// The job's hosts, each with as many slots as the job has tasks there, in Slurm's order. Nothing outside of
/// a job, and in a step that a user's srun has started: that has its own tasks. (salloc's shell may be in a
/// step, too.) Throws Error if Slurm's variables make no sense.
std::optional<std::vector<HostSlots>> slurm_hosts();

}  // namespace heddle::host
