// Starts and ends MPI in this process (join_mpi, leave_mpi).
#ifdef HEDDLE_HAVE_MPI

#include "runtime/native/mpi_world.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "host/descriptor.hpp"
#include "host/machine.hpp"
#include "runtime/native/mpi_mesh.hpp"
#include "runtime/native/mpi_start.hpp"

namespace heddle::native {

MpiWorld& mpi_world() {
    static MpiWorld the;
    return the;
}

namespace {

/// A process that no mpirun started makes Open MPI's directory for temporary files, which all processes of a
/// user share. If two make it at once, one fails ("File exists"). So such processes start one after the
/// other.
host::Descriptor turn_to_start() {
    if (mpi_hint()) return {};
    std::error_code problem;
    const auto folder = std::filesystem::temp_directory_path(problem);
    host::Descriptor turn(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (turn) flock(turn.get(), LOCK_EX);
    return turn;
}

/// Errors of MPI's own end all processes: that is its default.
void start_mpi(MpiWorld& the) {
    int initialized = 0;
    MPI_Initialized(&initialized);
    int provided = MPI_THREAD_SINGLE;
    if (initialized) {
        MPI_Query_thread(&provided);
    } else {
        // Open MPI yields in every call where it knows of more ranks than cores; see `pause`.
        setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
        const host::Descriptor turn = turn_to_start();
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    }
    the.started = true;
    if (provided < MPI_THREAD_SERIALIZED)
        throw Error("this MPI does not let several threads call it in turn",
                    "use one that provides MPI_THREAD_SERIALIZED, or transport: tcp");
    MPI_Comm_dup(MPI_COMM_WORLD, &the.all);
    const auto count = [](int (*ask)(MPI_Comm, int*), MPI_Comm group) {
        int value = 0;
        ask(group, &value);
        return static_cast<std::uint32_t>(value);
    };
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(the.all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    the.self.rank = count(MPI_Comm_rank, the.all);
    the.self.nodes = count(MPI_Comm_size, the.all);
    the.self.local_rank = count(MPI_Comm_rank, here);
    the.self.local_count = count(MPI_Comm_size, here);
    const host::ProcessorSet own = host::usable_processor_set();
    std::vector<host::ProcessorSet> sets(the.self.local_count);
    MPI_Allgather(&own, sizeof own, MPI_BYTE, sets.data(), sizeof own, MPI_BYTE, here);
    the.self.cores = host::core_share(sets, the.self.local_rank);
    MPI_Comm_free(&here);
}

}  // namespace

std::string mpi_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string version(text.data(), static_cast<std::size_t>(length));
    return version.substr(0, version.find_first_of(",\n"));
}

Membership join_mpi() {
    MpiWorld& the = mpi_world();
    const std::lock_guard lock(the.mutex);
    HEDDLE_ASSERT(!the.ended);
    if (!the.started) start_mpi(the);
    return the.self;
}

void leave_mpi(int exit_code) {
    MpiWorld& the = mpi_world();
    const std::lock_guard lock(the.mutex);
    if (!the.started || std::exchange(the.ended, true)) return;
    if (exit_code == 0) {
        MPI_Finalize();
    } else {
        MPI_Abort(MPI_COMM_WORLD, exit_code);
    }
}

}  // namespace heddle::native

#endif
