// Refuses a platform whose simulation would not fit into this machine's memory, before it is built.
#pragma once

#include "base/platform.hpp"

namespace heddle::sim {

/// Of a completed platform. Reads its file, if it has one. Throws Error.
void refuse_large(const Platform& platform);

}  // namespace heddle::sim
