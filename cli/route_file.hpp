// Writes and reads the latency and bandwidth between each two nodes, as JSON. The file of a schedule has
// them, so that a check of the schedule later needs no platform file.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "base/route_table.hpp"
#include "graphs/json_document.hpp"

namespace heddle::cli {

/// Every kind of route with its latency in picoseconds and its bandwidth in bytes per second (0: messages
/// take no time), and which kind each pair of nodes has: by `below`, the sizes of a tree's levels, or by
/// `rows`.
nlohmann::ordered_json routes_json(const RouteTable& routes);

/// What routes_json wrote. Throws Error with its line.
std::shared_ptr<const RouteTable> routes_in(const graphs::JsonValue& value);

}  // namespace heddle::cli
