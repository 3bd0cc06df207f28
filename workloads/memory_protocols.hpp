// The protocols of shared memory that a configuration may name.
#pragma once

#include <string>
#include <vector>

namespace heddle::workloads {

/// In the order of names.
std::vector<std::string> memory_protocols();

}  // namespace heddle::workloads
