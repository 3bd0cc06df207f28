// Makes signals such as SIGINT and SIGCHLD readable from a descriptor, so that a thread can wait for them.
#pragma once

#include <signal.h>

#include "host/descriptor.hpp"

namespace heddle::host {

/// While it lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD of this process are read here instead of
/// acting. Those that were ignored before (nohup, a shell's &) stay so, SIGCHLD excepted. To be made before
/// any thread. Throws Error.
class SignalWatch {
public:
    SignalWatch();
    ~SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    /// Readable when a signal has come.
    int descriptor() const { return descriptor_.get(); }

    /// The next signal that has come, or 0.
    int next() const;

private:
    sigset_t mask_{};
    sigset_t before_{};
    Descriptor descriptor_;
};

}  // namespace heddle::host
