// Tells which node of a native run this process is, and how it finds the other nodes. The launcher states it
// in the environment (launch.hpp). Opens no connection: that is rendezvous.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.hpp"
#include "host/machine.hpp"
#include "runtime/native/keys.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

/// This process's part in a run over several processes.
struct Membership {
    NodeId rank = 0;   ///< the node that this process is
    NodeId nodes = 1;  ///< of the whole run
    Credentials credentials = {};
    std::string rendezvous;         ///< host:port where the nodes learn each other's addresses
    std::uint32_t local_rank = 0;   ///< among the processes of the run on this machine
    std::uint32_t local_count = 1;  ///< processes of the run on this machine
    std::string address = {};       ///< of this machine, at which the other nodes reach it; empty: not stated
    /// If others may join: so many nodes begin the run, the lowest. Nothing: all.
    std::optional<NodeId> at_start = {};
    /// If the launcher is known to give processes of this machine cores of their own. Nothing: all share all.
    std::optional<host::CoreShare> cores = {};

    host::CoreShare core_share() const { return cores.value_or(host::CoreShare{local_rank, local_count}); }
};

/// How long the nodes of a run may take to come to the rendezvous, and then to connect to each other: more
/// time for more nodes, which may all start on one machine.
std::chrono::milliseconds meeting_time(NodeId nodes);

/// The environment variables that carry a membership from the launcher to the processes it starts.
namespace environment {
inline constexpr const char* rank = "HEDDLE_RANK";
inline constexpr const char* nodes = "HEDDLE_NODES";
inline constexpr const char* at_start = "HEDDLE_AT_START";
inline constexpr const char* rendezvous = "HEDDLE_RENDEZVOUS";
inline constexpr const char* key_file = "HEDDLE_KEY_FILE";
inline constexpr const char* local_rank = "HEDDLE_LOCAL_RANK";
inline constexpr const char* local_count = "HEDDLE_LOCAL_COUNT";
inline constexpr const char* address = "HEDDLE_ADDRESS";
}  // namespace environment

/// What the environment says; nothing where HEDDLE_RANK is not set (a run of one process). Throws Error for a
/// value that makes no sense, and for a key file that is missing, malformed, or readable by others.
std::optional<Membership> membership_from_environment();

}  // namespace heddle::native
