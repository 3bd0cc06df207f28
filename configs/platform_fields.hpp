// The keys of `platform`: nodes, network, and what the scheduler's operations cost. A part of the table in
// fields.cpp.
#pragma once

#include <vector>

#include "configs/fields.hpp"

namespace heddle::configs {

void add_platform_fields(std::vector<Field>& all);

}  // namespace heddle::configs
