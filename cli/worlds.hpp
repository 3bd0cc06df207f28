// Chooses the backend of a run: native, simulated or in-process. No other file knows all three.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/platform.hpp"
#include "configs/experiment.hpp"
#include "results/record.hpp"
#include "runtime/backend.hpp"

namespace heddle::native {
struct JobMeeting;
}

namespace heddle::cli {

/// This process's part in a native run: which node of how many it is. One of one if it was not launched.
struct Part {
    NodeId rank = 0;
    NodeId nodes = 1;
    bool launched = false;
    bool by_mpi = false;  ///< launched by mpirun or its like
    /// So many nodes begin, and others may join (heddle launch --capacity). Nothing: all begin.
    std::optional<NodeId> at_start = {};

    /// Only one node of a run talks to people and writes results.
    bool speaks() const { return rank == 0; }
};

/// What the environment says. Throws Error where it makes no sense.
Part part_of_this_process();

/// Throws Error if `heddle launch` has started a verb that starts processes of its own. `advice`: why it can
/// be left out.
void refuse_launch(const std::string& verb, const std::string& advice);

/// The same for an experiment whose messages travel by MPI, which is started. A run on several nodes that no
/// MPI launcher has started becomes an mpirun of the same command. Throws Error.
Part part_by_mpi(const configs::Experiment& experiment, const Part& part);

/// The same for an experiment whose messages travel by TCP, in one of several processes that srun or mpirun
/// started: together they are the nodes of one run. A process that was started alone, or whose launcher
/// offers neither PMI nor PMIx, keeps `part`. Throws Error if the experiment states another number of nodes,
/// or if a process does not come.
Part part_by_job(const configs::Experiment& experiment, const Part& part);

/// Whether the messages of an experiment travel by MPI.
bool by_mpi(const configs::Experiment& experiment);

/// Whether MPI carries messages of it: all, or those of one of several networks.
bool mpi_carries(const configs::Experiment& experiment);

/// Throws Error if a launcher started several processes of this command and they would not work together:
/// each would run the whole experiment.
void refuse_copies(const configs::Experiment& experiment);

/// Completes an experiment for its world: the machine's cores, if none are stated. Throws Error if
/// the world cannot be had: no simulation built in, several nodes that were not launched.
void settle(configs::Experiment& experiment, const Part& part);

/// The world of a settled experiment, for one run. `sim_threads`: how many threads a simulation may use,
/// which changes nothing of what it finds. Throws Error.
std::unique_ptr<runtime::Backend> make_world(const configs::Experiment& experiment, unsigned sim_threads = 1);

/// How many threads a simulation of so many nodes is worth on this machine.
unsigned sim_threads_worth(NodeId nodes);

/// What a reader of the result must know of a world that has run, such as load on which it is not accurate.
std::vector<std::string> warnings_of(const runtime::Backend& world);

/// How far the times of nodes on other machines may be off in a record of a run that has ended; 0 on one
/// machine.
double clock_error_seconds(const runtime::Backend& world);

/// After a native run, on node 0: the names of the machines that the nodes ran on, by node. Else nothing.
std::vector<std::string> hosts_of(const runtime::Backend& world);

/// The world as placement sees it. A message also costs what the platform charges for one.
ClusterView cluster_view(const configs::Experiment& experiment, const runtime::Backend& world);

/// The same of a platform as it would be simulated, without a run. Throws Error where simulation is not built
/// in or cannot build it.
ClusterView cluster_view(const Platform& platform);

/// Whether simulation was built in.
bool has_simulation();

/// What `heddle platform show` says of a platform: `json`: one object, otherwise a table; `links`: with the
/// names of all links. Throws Error.
std::string describe_platform(const Platform& platform, bool json, bool links);

results::Versions versions();

}  // namespace heddle::cli
