// Starts a process of a native run on this machine. (On another machine, ssh starts it.)
#pragma once

#include <sys/types.h>

#include <map>
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
    /// process to wait for and to signal. Throws Error where it cannot be run.
    pid_t start(NodeId node, const std::vector<std::string>& argv,
                const std::map<std::string, std::string>& environment, const Streams& streams);
};

}  // namespace heddle::host
