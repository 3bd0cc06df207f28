// Identifies the code that a run executes: build ids of the program and of the libraries that decide what it
// computes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "workloads/workload.hpp"

namespace heddle::configs {

/// A part of the program and the id of its code.
using CodeId = std::pair<std::string, std::string>;

/// The code that a run of `workload` executes, under stable names: `program`; `workload`, if a library of
/// its own holds it; METIS's and Scotch's libraries as far as they are linked; and, if it is `simulated`,
/// SimGrid's. An id is the GNU build id that the linker writes: an identical rebuild keeps it, every other
/// one changes it. Where the linker wrote none, it is the SHA-256 digest of the file. The C and C++ libraries
/// are left out.
std::vector<CodeId> program_code(const workloads::Kind& workload, bool simulated);

/// The id of the program's own code.
std::string program_id();

}  // namespace heddle::configs
