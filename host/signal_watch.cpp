// Blocks signals such as SIGINT and reads them from a signalfd.
#include "host/signal_watch.hpp"

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"

namespace heddle::host {

namespace {

bool is_ignored(int signal) {
    struct sigaction now {};
    return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

SignalWatch::SignalWatch() {
    sigemptyset(&mask_);
    sigaddset(&mask_, SIGCHLD);
    // A signal that is blocked comes even if it is ignored: nohup's SIGHUP would end the run.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        if (!is_ignored(signal)) sigaddset(&mask_, signal);
    pthread_sigmask(SIG_BLOCK, &mask_, &before_);
    descriptor_ = Descriptor(signalfd(-1, &mask_, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!descriptor_) throw Error(fmt::format("cannot watch for signals: {}", error_text(errno)));
}

SignalWatch::~SignalWatch() {
    while (next()) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int SignalWatch::next() const {
    signalfd_siginfo info;
    return read(descriptor_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace heddle::host
