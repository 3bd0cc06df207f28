// Passes frames that are no messages between two nodes that no network joins. Gateways pass each on inside a
// frame that names source and destination. The frames take the same way as messages
// (base/network_routes.hpp). Messages pass gateways above this layer (runtime/comm/forwarding.hpp).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/network_routes.hpp"
#include "runtime/native/transport.hpp"

namespace heddle::native {

class Relay {
public:
    /// `routes`: null where one network joins all nodes.
    Relay(NodeId rank, NodeId nodes, std::shared_ptr<const NetworkRoutes> routes, Transport& transport);

    /// Any thread. Frames from one thread to one node arrive in order.
    void post(NodeId to, FrameKind kind, runtime::Bytes payload);

    /// A control frame has come: `handle` gets it if it is for this node, the next node otherwise. The
    /// transport's thread. What is malformed is forgotten: only a node of our own binary can have sent it.
    void take(NodeId from, FrameKind kind, std::span<const std::byte> payload,
              const std::function<void(NodeId from, FrameKind kind, std::span<const std::byte>)>& handle);

    /// All other nodes, those behind most gateways first. A gateway that is told something after all that are
    /// behind it has passed everything on by then.
    std::vector<NodeId> farthest_first() const;

private:
    NodeId rank_;
    NodeId nodes_;
    std::shared_ptr<const NetworkRoutes> routes_;
    Transport& transport_;
};

}  // namespace heddle::native
