// Refuses a platform whose simulation would not fit into this machine's memory, before it is built.
#pragma once

#include "base/platform.hpp"
#include "sim/platform_file.hpp"

namespace heddle::sim {

/// Of a completed platform, and its file. Throws Error.
void refuse_large(const Platform& platform, const PlatformFile& file);

}  // namespace heddle::sim
