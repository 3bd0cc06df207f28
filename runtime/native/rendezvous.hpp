// The meeting point of a native run, held by the launcher: each node connects to it once and learns all
// nodes' addresses. Nodes that differ in program or experiment are refused.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/native/agreement.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

/// The nodes of a run: 0 to `at_start` - 1 begin it, the others may join, each once.
struct Places {
    NodeId at_start;
    NodeId capacity;

    Places(NodeId nodes) : at_start(nodes), capacity(nodes) {}  // NOLINT(google-explicit-constructor)
    Places(NodeId beginning, NodeId all) : at_start(beginning), capacity(all) {}
};

/// A node of the run asks for more processes.
struct StartRequest {
    NodeId count = 1;
    std::optional<NodeId> node = {};  ///< this one; nothing: the lowest that never started
};

/// The run has ended, or is about to end, and takes no node any more. Not a failure.
class RunOver : public Error {
public:
    using Error::Error;
};

/// The launcher's side. Serves any number of runs, one after the other. Nodes that join are served one after
/// the other too, and each is told of all before it. So of two nodes, the later one connects to the earlier.
class Rendezvous {
public:
    /// Listens at `address`, at one of `ports`. If some nodes have come, others are to begin, and none comes
    /// for `meeting_max`, those that wait are told to give up. `ask`: a node asks for more processes; on a
    /// thread of the rendezvous. Throws Error.
    Rendezvous(Places places, const Credentials& credentials, const std::string& address = "127.0.0.1",
               std::chrono::milliseconds meeting_max = std::chrono::seconds(10), const PortRange& ports = {},
               std::function<void(const StartRequest&)> ask = {});
    ~Rendezvous();
    Rendezvous(const Rendezvous&) = delete;
    Rendezvous& operator=(const Rendezvous&) = delete;

    /// host:port, for Membership::rendezvous.
    std::string address() const;

    /// The process of `node` has ended and will not come. The nodes that wait are told at once. The first
    /// node that ended is named to all, because later ends may follow from it. Nodes that join are not told
    /// of it any more; if it is node 0, they are told that the run is over.
    void node_ended(NodeId node);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The addresses at which the nodes listen, by node and network. Empty: the node takes no part now, or is not
/// in that network.
using AddressTable = std::vector<std::vector<std::string>>;

/// A node's side: reports that it can be reached at `listening`, an address for each network (empty: it is
/// not in it), and waits for all others. `meeting_max` is for reaching the rendezvous, which says how long
/// the nodes wait for each other. If a host is a wildcard, it is the one that the rendezvous sees. A node
/// that joins does not wait. Throws Error if a node does not come, or if nodes differ in their agreement;
/// RunOver.
AddressTable meet(const Membership& membership, const Agreement& agreement,
                  const std::vector<std::string>& listening, std::chrono::milliseconds meeting_max);

/// Asks the launcher for more processes, by the rendezvous. Waits until `deadline` at most. Throws Error.
void ask_for_nodes(const Membership& membership, const StartRequest& request, Deadline deadline);

}  // namespace heddle::native
