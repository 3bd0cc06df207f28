// The keys of `platform` that say how nodes differ, and how nodes and links change: factors of speed, noise,
// events. A part of the table in fields.cpp. What they mean together is checked elsewhere
// (base/platform_nodes.cpp).
#pragma once

#include <vector>

#include "configs/fields.hpp"

namespace heddle::configs {

void add_node_fields(std::vector<Field>& all);

}  // namespace heddle::configs
