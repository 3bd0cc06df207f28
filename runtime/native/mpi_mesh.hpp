// Connects the nodes of a native run by MPI, to use a cluster's fast network; a rank is a node. One thread
// makes all MPI calls, for sending and receiving. Only mpi_world.hpp includes MPI's header; in a build
// without MPI, mpi_absent.cpp replaces this code. Starting processes is the work of mpi_start.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/native/agreement.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/transport.hpp"

namespace heddle::native {

/// The MPI that was built in, such as `Open MPI v4.1.4`; empty: none. Starts nothing.
std::string mpi_version();

/// Starts MPI in this process, once. Returns which rank of how many it is, in all and on this machine.
/// Throws Error where MPI was not built in, or does not allow threads.
Membership join_mpi();

/// Ends MPI where it was started. Exit code 0 waits for the other processes; any other ends all of them with
/// that code, and may not return.
void leave_mpi(int exit_code);

struct MpiOptions {
    /// Longest piece that is handed to MPI at once, which counts in `int`; larger frames are split.
    std::size_t part_bytes = std::size_t{1} << 30;
    /// All nodes live in this one process, which has joined alone. For tests.
    bool together = false;
};

struct MpiMeshOptions {
    Membership membership;
    Agreement agreement;
    MpiOptions mpi;
    std::uint64_t window = 8U << 20;   ///< see Flow
    bool core_left = false;            ///< the workers leave a core to the thread: it may look more often
    std::vector<unsigned> cores = {};  ///< see MeshOptions
};

class MpiMesh final : public Transport {
public:
    /// Waits until all nodes have come to the same place. `join_mpi` came before. Throws Error, on all nodes,
    /// where they do not run the same program.
    explicit MpiMesh(const MpiMeshOptions& options);
    ~MpiMesh() override;

    void start(Events events) override;
    void post(NodeId to, FrameKind kind, runtime::Bytes payload, runtime::SentBody body) override;
    void send(NodeId to, NetworkId network, runtime::Bytes&& message, runtime::SentBody&& body,
              Sender sender) override;
    void pad(NodeId to, NetworkId network, std::uint64_t bytes, Sender sender) override;
    bool part() override;
    void end_all(int exit_code) override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace heddle::native
