// The keys `schedule.memory` of an experiment, which say how pages of shared memory move.
#pragma once

#include <vector>

#include "configs/fields.hpp"

namespace heddle::configs {

void add_memory_fields(std::vector<Field>& all);

}  // namespace heddle::configs
