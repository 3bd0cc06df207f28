// The networks of a platform that has several: checks them, and describes each as a platform of its own.
#pragma once

#include <memory>

#include "base/network_routes.hpp"
#include "base/platform.hpp"

namespace heddle {

/// Checks names, members and figures of `platform.networks`, and sorts the members. Part of `complete`.
/// Throws Error.
void complete_networks(Platform& platform);

/// The machines of a network's members as the nodes of a platform that has only this network.
Platform platform_of(const Platform& platform, NetworkId network);

/// The ways between the nodes; null where one network joins all. Throws Error for nodes that no way connects.
std::shared_ptr<const NetworkRoutes> network_routes(const Platform& platform);

}  // namespace heddle
