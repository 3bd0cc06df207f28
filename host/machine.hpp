// The machine that this process runs on: its name, the usable cores, what caches and memory they share, and
// binding a thread to a core.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::host {

/// Cores that this process may use: respects taskset, cpusets and what a container may have (cpu_quota.hpp).
/// A core with several hardware threads counts once. At least 1.
unsigned machine_cores();

/// The hardware threads that this process may use, all those of a core, by the system's numbers. Empty:
/// unknown.
const std::vector<unsigned>& usable_processors();

/// Hardware threads of a machine, by the system's numbers.
using ProcessorSet = std::bitset<2048>;

/// `usable_processors` as a set. Empty: unknown, or a number is too large.
ProcessorSet usable_processor_set();

/// Which of the processes that share some cores a process is, and how many they are.
struct CoreShare {
    std::uint32_t rank = 0;
    std::uint32_t count = 1;
};

/// How process `process` of one machine shares its cores, if `sets` has the usable processors of each process
/// there. A launcher may give each process cores of its own, or some the same. Nothing: not known, because a
/// set is unknown or has a part of the process's own.
std::optional<CoreShare> core_share(std::span<const ProcessorSet> sets, std::size_t process);

/// How many usable cores each NUMA node has, in the order in which `bind_to_core` counts the cores: those
/// that share memory, and among them those that share a cache, follow each other. Not limited by a quota.
std::vector<unsigned> cores_by_memory();

/// A data or unified cache of the first usable core.
struct Cache {
    unsigned level;
    std::uint64_t bytes;
    unsigned cores;  ///< that share it
};
std::vector<Cache> caches();

/// Where the cores begin of process `process` among `processes` on one machine, each with `workers` threads.
/// Processes follow each other. If all of them fit so, none has cores of two of `groups` (cores_by_memory).
unsigned first_core_of(unsigned process, unsigned processes, unsigned workers,
                       const std::vector<unsigned>& groups);

/// Where that process's other threads run, of `cores` cores: beside its workers, and where no worker of the
/// others is.
std::vector<unsigned> cores_beside(unsigned process, unsigned processes, unsigned workers,
                                   const std::vector<unsigned>& groups, unsigned cores);

/// The machine's name, for results.
std::string host_name();

/// Binds the calling thread to the `index`th usable core. False where there is no such core or the system
/// refuses.
bool bind_to_core(unsigned index);
/// To several of them: it runs on any. None: it stays as it is.
bool bind_to_cores(const std::vector<unsigned>& indices);
/// To all hardware threads that the process may use, as before any of these calls.
bool bind_to_all_cores();

}  // namespace heddle::host
