// What the launcher tells a host about the nodes that it is to run. It travels through the standard input of
// the process there, because it has the run's key. Starts nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "runtime/native/membership.hpp"

namespace heddle::native {

struct LaunchPart {
    NodeId first = 0;  ///< of this host's nodes
    NodeId count = 1;
    NodeId nodes = 1;        ///< of the whole run
    NodeId at_start = 0;     ///< that begin it, if others may join; 0: all
    NodeId local_first = 0;  ///< the first one's number among those of the run on this host
    NodeId local_count = 1;  ///< so many of the run may be on this host
    std::string rendezvous;  ///< host:port
    Key key{};
    std::string build;  ///< the id of the launcher's program
    std::vector<std::string> argv;

    bool operator==(const LaunchPart&) const = default;
};

/// The line that a host's part of a launch writes to standard error first: this program has begun there.
inline constexpr std::string_view begin_sign = "heddle launch-part: begun";

/// As bytes that say where they end.
std::string pack(const LaunchPart& part);

/// Reads one from `descriptor`, and nothing beyond it. Throws Error for anything else, and if it ends too
/// early.
LaunchPart read_launch_part(int descriptor);

}  // namespace heddle::native
