// The part of a launch that one host carries out: the nodes that it runs, and other hosts on which it starts
// some. The launcher sends it through the standard input of the process there, because it has the run's key.
// Starts nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "runtime/native/membership.hpp"

namespace heddle::native {

/// The nodes of one host.
struct HostNodes {
    std::string host = {};
    NodeId first = 0;
    NodeId count = 1;
    NodeId local_first = 0;  ///< the first one's number among those of the run on this host
    NodeId local_count = 1;  ///< so many of the run may be on this host

    bool operator==(const HostNodes&) const = default;
};

/// The command that runs a command on another host: the words `before`, the host, the words `after`, and one
/// word for the shell there.
struct RemoteShell {
    std::vector<std::string> before = {"ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=8"};
    std::vector<std::string> after = {};

    bool operator==(const RemoteShell&) const = default;
};

struct LaunchPart {
    HostNodes here = {};
    NodeId nodes = 1;             ///< of the whole run
    NodeId at_start = 0;          ///< that begin it, if others may join; 0: all
    std::string rendezvous = {};  ///< host:port
    Key key{};
    std::string build = {};  ///< the id of the launcher's program
    std::vector<std::string> argv = {};
    RemoteShell remote_shell = {};
    NodeId branches = 1;                  ///< hosts that a process starts itself at most
    std::vector<HostNodes> further = {};  ///< what the process on this host starts on others

    bool operator==(const LaunchPart&) const = default;
};

/// Lines of standard error that begin so are notes of a host's part of a launch to what started it: first
/// `begin_note`, then `ended_note` and a node's number for each node that has ended.
inline constexpr std::string_view note_sign = "heddle launch-part: ";
inline constexpr std::string_view begin_note = "begun";
inline constexpr std::string_view ended_note = "ended ";

/// The node that has ended, as such a note says.
std::optional<NodeId> ended_node(std::string_view note);

/// As bytes that say where they end.
std::string pack(const LaunchPart& part);

/// Reads one from `descriptor`, and nothing beyond it. Throws Error for anything else, and if it ends too
/// early.
LaunchPart read_launch_part(int descriptor);

}  // namespace heddle::native
