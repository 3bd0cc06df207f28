// The meeting point of a native run, held by the launcher: each node connects to it once and learns all
// nodes' addresses. Nodes that differ in program or experiment are refused.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/native/agreement.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

/// The launcher's side. Serves any number of runs, one after the other.
class Rendezvous {
public:
    /// Listens at `address`, at one of `ports`. If one of `nodes` has not come `meeting_max` after the first,
    /// those that wait are told to give up. Throws Error.
    Rendezvous(NodeId nodes, const Credentials& credentials, const std::string& address = "127.0.0.1",
               std::chrono::milliseconds meeting_max = std::chrono::seconds(10), const PortRange& ports = {});
    ~Rendezvous();
    Rendezvous(const Rendezvous&) = delete;
    Rendezvous& operator=(const Rendezvous&) = delete;

    /// host:port, for Membership::rendezvous.
    std::string address() const;

    /// The process of `node` has ended and will not come. The nodes that wait are told at once. The first
    /// node that ended is named to all, because later ends may follow from it.
    void node_ended(NodeId node);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A node's side: reports that it can be reached at `listening_address` and waits for all others. If that is
/// a wildcard, the host is the one that the rendezvous sees. Returns every node's address, by rank. Throws
/// Error if a node does not come, or if nodes differ in their agreement.
std::vector<std::string> meet(const Membership& membership, const Agreement& agreement,
                              const std::string& listening_address, std::chrono::milliseconds meeting_max);

}  // namespace heddle::native
