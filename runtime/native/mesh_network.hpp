// A network between processes, as one of them uses it: with which nodes, at which address, and what carries
// the bytes.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "runtime/native/local_meeting.hpp"
#include "runtime/native/ports.hpp"
#include "runtime/native/udp_meeting.hpp"

namespace heddle::native {

struct MeshNetwork {
    std::string name = {};               ///< for errors; empty where one network joins all
    std::vector<NodeId> members = {};    ///< ascending; empty: all nodes
    std::string address = "127.0.0.1";   ///< of this machine, to listen at
    PortRange ports = {};                ///< to listen at, and for UDP
    std::string from = {};               ///< the address to connect from; empty: the system chooses
    Local local = Local::shared_memory;  ///< between processes of one machine
    bool in_machine = false;  ///< all members are on one machine: there is no address, only `local`
    std::optional<UdpOptions> udp = {};  ///< between machines messages travel by UDP; none: by TCP

    bool by_mpi = false;  ///< MPI connects its members (mixed_transport.hpp), and no mesh

    /// Whether a mesh connects it to others there.
    bool joins(NodeId node) const {
        return !by_mpi && (members.empty() || std::ranges::binary_search(members, node));
    }
};

}  // namespace heddle::native
