// The key `name` of an experiment, which is also the name of a directory.
#pragma once

#include "configs/fields.hpp"

namespace heddle::configs {

/// Reads a name that can be the name of a directory, and refuses every other one: `heddle compare` writes to
/// a directory of this name, and a name that leads elsewhere would let a file from a stranger choose the
/// place.
Field name_field();

}  // namespace heddle::configs
