// Loads the part of this program that calls SimGrid, sim/simgrid/, when it is first wanted. With SimGrid come
// ns-3 and other libraries, some twenty, which take ten times as long to load as all others, and most
// programs start for something else: a node of a native run, a list. So that part is a library of its own.
// Its bytes are in the program's file: there is nothing to install or to find, and the program's build id
// covers it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/platform_file.hpp"
#include "sim/simgrid_platform.hpp"

namespace heddle::sim {

/// What the library offers. Both functions use up the process, so call them in a child.
struct SimgridModule {
    /// Builds a platform, which must be complete. `file`: what was read of the platform's file, if it has
    /// one. Throws Error for a file that SimGrid refuses politely; there are files that make it abort.
    std::unique_ptr<SimgridPlatform> (*build)(const Platform& platform, const PlatformFile& file);

    /// When messages arrive in SimGrid left to itself: its own latency, an actor for each message that sleeps
    /// until its start and sends, and one for the links that change. The simulator is held to this.
    std::vector<FlowEnd> (*replay_alone)(const Platform& platform, std::span<const FlowStart> flows);
};

/// The library, loaded by the first call. Throws Error where SimGrid or a library that it needs is missing.
const SimgridModule& simgrid_module();

}  // namespace heddle::sim
