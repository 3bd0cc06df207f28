// Starts a process of a native run on this machine. (On another machine, ssh starts it.)
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"

namespace heddle::host {

/// Where the standard streams of a started process go. -1: the caller's own.
struct Streams {
    int input = -1;
    int output = -1;
    int error = -1;
};

/// Starts processes, which die with the thread that started them, however it ends.
class LocalStarter final {
public:
    /// Starts `argv` for node `node` of a run with `environment` added to the caller's own. Returns the
    /// process to wait for and to signal. It ignores the signals that the caller ignored when it began. Where
    /// the caller ignores SIGCHLD, it no longer does: the system would forget how the process ended. Throws
    /// Error where it cannot be run.
    pid_t start(NodeId node, const std::vector<std::string>& argv,
                const std::map<std::string, std::string>& environment, const Streams& streams);
};

/// The status (as waitpid has it) of a child that has ended; nothing while it runs. With `wait` until it has
/// ended. Exit code 127 where something else has taken the status, so that no caller waits for ever.
std::optional<int> status_if_ended(pid_t child, bool wait = false);

}  // namespace heddle::host
