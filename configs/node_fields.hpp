// The keys of `platform` for nodes that differ and for nodes and links that change: factors of speed, noise,
// events. A part of the table in fields.cpp. Whether their values fit together is checked by
// base/platform_nodes.cpp.
#pragma once

#include <vector>

#include "configs/fields.hpp"

namespace heddle::configs {

void add_node_fields(std::vector<Field>& all);

}  // namespace heddle::configs
