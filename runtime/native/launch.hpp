// Starts the processes of a native run, tells each where to meet the others, and waits for their end. Any
// command may be launched.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"

namespace heddle::native {

struct LaunchOptions {
    NodeId nodes = 1;
    std::vector<std::string> argv;              ///< the program and its arguments, the same for every node
    std::chrono::milliseconds grace{10000};     ///< for the others to stop by themselves when one has died
    std::chrono::milliseconds terminate{2000};  ///< between SIGTERM and SIGKILL
    /// For all to come to the rendezvous. None: meeting_time.
    std::optional<std::chrono::milliseconds> meeting_max = {};
};

class Launcher {
public:
    virtual ~Launcher() = default;

    /// Runs to the end of all processes. Returns the exit code of the first that failed (128 + signal where a
    /// signal ended it; exit_code_lost only where none failed otherwise), or 0. Node 0 has the caller's
    /// standard streams; what other nodes write goes to standard error, each line after `[node 2] `. Passes
    /// SIGINT, SIGTERM, SIGHUP and SIGQUIT on. Throws Error where a process cannot be started.
    virtual int launch(const LaunchOptions& options) = 0;
};

/// All processes on this machine. The key is a file in the memory of this process (keep_in_memory).
class LocalLauncher final : public Launcher {
public:
    int launch(const LaunchOptions& options) override;
};

}  // namespace heddle::native
