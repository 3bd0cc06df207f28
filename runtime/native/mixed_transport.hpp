// The transport of a run in which MPI carries some networks and streams of bytes carry the others.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/network_routes.hpp"
#include "runtime/native/mesh.hpp"
#include "runtime/native/mpi_mesh.hpp"

namespace heddle::native {

/// Two transports deliver on threads of their own, in turns.
class MixedTransport final : public Transport {
public:
    /// `mesh`: of all networks; those with `by_mpi` are MPI's. Every process is a rank of MPI. Throws Error.
    MixedTransport(const MeshOptions& mesh, const MpiMeshOptions& mpi,
                   std::shared_ptr<const NetworkRoutes> routes);

    void start(Events events) override;
    void post(NodeId to, FrameKind kind, runtime::Bytes payload, runtime::SentBody body) override;
    void send(NodeId to, NetworkId network, runtime::Bytes&& message, runtime::SentBody&& body,
              Sender sender) override;
    void pad(NodeId to, NetworkId network, std::uint64_t bytes, Sender sender) override;
    bool part() override;
    void end_all(int exit_code) override;

private:
    Transport& carrier(NetworkId network);

    NodeId rank_;
    std::shared_ptr<const NetworkRoutes> routes_;
    std::vector<bool> by_mpi_;  ///< by network
    std::mutex turn_;           ///< held while an event is handled
    Mesh streams_;
    MpiMesh mpi_;
};

}  // namespace heddle::native
