// What decides each entry of a calibration, and by which method.
#pragma once

#include <vector>

namespace heddle::calibration {

struct Described {
    const char* key;
    std::vector<const char*> from;  ///< the quantities that decide it
    const char* method;
    const char* otherwise;  ///< why it may be missing
};

/// Of all keys of a platform but kernels and memory_bandwidth, in the order of the platform file. Entries
/// that no probe measures are among them.
const std::vector<Described>& described_entries();

}  // namespace heddle::calibration
