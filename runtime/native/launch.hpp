// Starts the processes of a native run, tells each where to meet the others, and waits for their end. Any
// command may be launched.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "host/host_list.hpp"
#include "runtime/native/launch_control.hpp"
#include "runtime/native/launch_part.hpp"
#include "runtime/native/ports.hpp"

namespace heddle::native {

struct LaunchOptions {
    NodeId nodes = 1;
    std::vector<std::string> argv;              ///< the program and its arguments, the same for every node
    std::chrono::milliseconds grace{2000};      ///< for the others to stop by themselves when one has died
    std::chrono::milliseconds terminate{2000};  ///< between SIGTERM and SIGKILL
    /// For all to come to the rendezvous. None: meeting_time.
    std::optional<std::chrono::milliseconds> meeting_max = {};
    /// The address of this machine at which the processes meet: its number, its name, an interface or a
    /// subnet. Empty: on several hosts the one by which the system reaches the first host, or else 127.0.0.1.
    std::string address = {};
    PortRange ports = {};  ///< to meet at
    /// Others may join the run, until it has had so many nodes. None: `nodes` take part from the beginning.
    std::optional<NodeId> capacity = {};
    std::string name = {};  ///< by which users call a run that others may join (LaunchControl)
};

/// `address` of such options as a number or a name. Throws Error, which lists the machine's addresses, if it
/// is no address or interface of this machine and no name of a host.
std::string stated_address(const std::string& address);

/// The open files that launching `nodes` takes on each host: two pipes and a connection for each process, and
/// the connections that are not authenticated yet. A process of the run takes no more, unless UDP connects
/// it.
std::uint64_t files_of_launch(std::uint64_t nodes);
/// Makes room for so many. Throws Error.
void allow_files(NodeId nodes);

/// For a launched node other than 0 that has met a mistake: node 0 most likely has met the same, speaks of
/// it, and the launch ends this process. Returns some seconds later where it did not.
void let_node_0_speak();

/// The nodes of a launch; makes room for their files. Throws Error if the options make no sense.
Places places_of(const LaunchOptions& options);

/// One line on standard error.
void say_how_to_join(const LaunchControl& control);

/// Runs all processes on this machine to their end. Returns the exit code of the first that failed
/// (128 + signal if a signal ended it; exit_code_lost only if none failed otherwise), or 0. Node 0 has the
/// caller's standard streams; what other nodes write goes to standard error, each line after `[node 2] `.
/// With a capacity it starts more processes when nodes of the run or other processes of the user ask for
/// them; the failure of such a process ends the others only if they miss it. Passes SIGINT, SIGTERM, SIGHUP
/// and SIGQUIT on. The key is a file in the memory of this process (keep_in_memory). Throws Error where a
/// process cannot be started.
int launch_here(const LaunchOptions& options);

inline constexpr NodeId branches_default = 32;

struct HostLaunchOptions : LaunchOptions {
    std::vector<host::HostSlots> hosts;  ///< the nodes fill them in this order
    RemoteShell remote_shell = {};
    /// So many hosts are started from here, and by each of them as many others, and so on.
    NodeId branches = branches_default;
    std::string build = {};  ///< the id of this program's code; a host with another one refuses
    std::chrono::milliseconds begin_max{10000};  ///< for this program to begin on each host
};

/// The same on several hosts. On each, the remote shell starts the verb `launch-part` of this binary, at the
/// same path and in this process's working directory, and tells it key, command and meeting point through its
/// standard input. If that ends, so do the nodes there. That process may start the same on further hosts
/// (launch_tree.hpp). No node has standard input. Throws Error also if there are more nodes than the hosts
/// take, or if this machine's address is not found.
int launch_on_hosts(const HostLaunchOptions& options);

/// The part of such a run on one host, as standard input describes it (launch_part.hpp), and on those that it
/// is to start. Ends its nodes when standard input ends. `build`: the id of this program's code. Throws Error
/// if standard input is no description, or if the launcher has another build.
int launch_part(const std::string& build);

}  // namespace heddle::native
