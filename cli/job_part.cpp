// Makes processes that srun or mpirun started from one command line the nodes of one run, or refuses them.
#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/native_world.hpp"
#include "cli/worlds.hpp"
#include "runtime/native/job_space.hpp"
#include "runtime/native/job_start.hpp"
#include "runtime/native/job_step.hpp"
#include "runtime/native/mpi_start.hpp"

namespace heddle::cli {

Part part_by_job(const configs::Experiment& experiment, const Part& part) {
    const auto step = native::job_step();
    const bool over_tcp = experiment.backend == configs::Backend::native && !by_mpi(experiment);
    if (!step || part.launched || !over_tcp || !native::job_offers_space()) return part;
    const NodeId nodes = experiment.platform.nodes;
    if (experiment.is_stated("platform.nodes") && nodes != step->processes) {
        throw Error(
            fmt::format("the experiment has {} node{}, and {} processes were started ({}={})", nodes,
                        nodes == 1 ? "" : "s", step->processes, step->variable, step->processes),
            fmt::format("start as many processes as nodes, or leave platform.nodes out; if each process is a "
                        "run of its own, set {}=1",
                        native::independent_variable),
            experiment.where("platform.nodes"));
    }
    start_mpi_first(experiment);
    const native::Membership& self = native::join_job(job_meeting(experiment));
    return {self.rank, self.nodes, true};
}

void refuse_copies(const configs::Experiment& experiment) {
    const auto step = native::job_step();
    if (!step || (by_mpi(experiment) && native::mpi_hint())) return;
    const bool native_run = experiment.backend == configs::Backend::native;
    throw Error(fmt::format("{} processes of this command were started ({}={}), and each would run the whole "
                            "experiment",
                            step->processes, step->variable, step->processes),
                fmt::format("start one process{}; or, if each is a run of its own, set {}=1",
                            native_run ? ", or connect them: srun --mpi=pmi2 or --mpi=pmix" : " (srun -n 1)",
                            native::independent_variable));
}

}  // namespace heddle::cli
