// The keys of `platform` that describe several networks.
#pragma once

#include <vector>

#include "configs/fields.hpp"

namespace heddle::configs {

/// Adds them to the table of keys.
void add_network_fields(std::vector<Field>& all);

/// The keys of an entry of `platform.networks`, for its schema.
extern const std::vector<const char*> network_keys;

}  // namespace heddle::configs
