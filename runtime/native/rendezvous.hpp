// Where the nodes of a run learn each other's addresses: the launcher holds it, every node comes once a run.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/native/membership.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

/// The launcher's side. Serves any number of runs, one after the other.
class Rendezvous {
public:
    /// Listens at `address`. Tells those who wait to give up when one of `nodes` has not come `meeting_max`
    /// after the first. Throws Error.
    Rendezvous(NodeId nodes, const Key& key, const std::string& address = "127.0.0.1",
               std::chrono::milliseconds meeting_max = std::chrono::seconds(10));
    ~Rendezvous();
    Rendezvous(const Rendezvous&) = delete;
    Rendezvous& operator=(const Rendezvous&) = delete;

    /// host:port, for Membership::rendezvous.
    std::string address() const;

    /// That node's process has ended: it will not come. Those who wait are told at once.
    void node_ended(NodeId node);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A node's side: reports that it can be reached at `port` (on `host`, or, where that is a wildcard address,
/// where the rendezvous sees it) and waits for all others. Returns every node's address, by rank. Throws
/// Error where somebody does not come.
std::vector<std::string> meet(const Membership& membership, const std::string& listening_address,
                              std::chrono::milliseconds meeting_max);

}  // namespace heddle::native
