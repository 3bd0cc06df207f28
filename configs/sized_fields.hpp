// The keys of `platform` whose values depend on the size of data.
#pragma once

#include "configs/fields.hpp"

namespace heddle::configs {

/// `platform.kernels`.
Field kernel_speeds();

/// `platform.overheads.message_bytes`.
Field message_bytes();

}  // namespace heddle::configs
