// Starts the processes of a native run, tells each where to meet the others, and waits for their end. Any
// command may be launched.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "host/host_list.hpp"

namespace heddle::native {

struct LaunchOptions {
    NodeId nodes = 1;
    std::vector<std::string> argv;              ///< the program and its arguments, the same for every node
    std::chrono::milliseconds grace{10000};     ///< for the others to stop by themselves when one has died
    std::chrono::milliseconds terminate{2000};  ///< between SIGTERM and SIGKILL
    /// For all to come to the rendezvous. None: meeting_time.
    std::optional<std::chrono::milliseconds> meeting_max = {};
};

/// Runs all processes on this machine to their end. Returns the exit code of the first that failed
/// (128 + signal if a signal ended it; exit_code_lost only if none failed otherwise), or 0. Node 0 has the
/// caller's standard streams; what other nodes write goes to standard error, each line after `[node 2] `.
/// Passes SIGINT, SIGTERM, SIGHUP and SIGQUIT on. The key is a file in the memory of this process
/// (keep_in_memory). Throws Error where a process cannot be started.
int launch_here(const LaunchOptions& options);

struct HostLaunchOptions : LaunchOptions {
    std::vector<host::HostSlots> hosts;  ///< the nodes fill them in this order
    /// The command that runs a command on another host: these words, the host, and one word for the shell
    /// there.
    std::vector<std::string> remote_shell = {"ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"};
    /// The address of this machine at which the others meet. Empty: the one by which the system reaches the
    /// first host.
    std::string address = {};
};

/// The same on several hosts. On each, the remote shell starts the verb `launch-part` of this binary, at the
/// same path and in this process's working directory, and tells it key, command and meeting point through its
/// standard input. If that ends, so do the nodes there. No node has standard input or the caller's
/// environment. Throws Error also if there are more nodes than the hosts take, or if this machine's address
/// is not found.
int launch_on_hosts(const HostLaunchOptions& options);

/// The part of such a run on one host, as standard input describes it (launch_part.hpp). Ends its nodes when
/// standard input ends. Throws Error if that is no description.
int launch_part();

}  // namespace heddle::native
