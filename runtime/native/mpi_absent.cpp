// Replaces mpi_mesh.cpp in a build without MPI: a function that needs MPI throws an error with advice.
#ifndef HEDDLE_HAVE_MPI

#include "base/error.hpp"
#include "runtime/native/mpi_mesh.hpp"

namespace heddle::native {

namespace {

[[noreturn]] void no_mpi() {
    throw Error(
        "this heddle was built without MPI",
        "install an MPI (Debian: apt-get install libopenmpi-dev openmpi-bin), configure and build again; "
        "or state transport: tcp");
}

}  // namespace

std::string mpi_version() {
    return {};
}

Membership join_mpi() {
    no_mpi();
}

void leave_mpi(int) {}

struct MpiMesh::State {};

MpiMesh::MpiMesh(const MpiMeshOptions&) {
    no_mpi();
}
MpiMesh::~MpiMesh() = default;
void MpiMesh::start(Events) {}
void MpiMesh::post(NodeId, FrameKind, runtime::Bytes, runtime::SentBody) {}
void MpiMesh::send(NodeId, NetworkId, runtime::Bytes&&, runtime::SentBody&&, Sender) {}
void MpiMesh::pad(NodeId, NetworkId, std::uint64_t, Sender) {}
bool MpiMesh::part() {
    return false;
}
void MpiMesh::end_all(int) {}

}  // namespace heddle::native

#endif
