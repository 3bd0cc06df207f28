// Processes that the children of this one have left behind: those of a script, for example, that was ended
// while it waited for them.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>
#include <vector>

namespace heddle::host {

/// While it lives, a descendant of this process whose parent ends becomes a child of this one. There may be
/// one in a process at a time. Only those in this process's session are signalled: what has begun a session
/// of its own is to outlive its parent, as the master of ssh's connections does.
class AdoptedProcesses {
public:
    /// Of a child that the caller has started itself: it is none of these.
    using IsOwn = std::function<bool(pid_t)>;

    explicit AdoptedProcesses(IsOwn is_own);
    ~AdoptedProcesses();
    AdoptedProcesses(const AdoptedProcesses&) = delete;
    AdoptedProcesses& operator=(const AdoptedProcesses&) = delete;

    /// Takes the status of those that have ended.
    void reap();

    /// Sends the signal to each that has not got that one yet. Returns whether any still runs that can be
    /// signalled.
    bool signal(int number);

    bool any() const { return !running().empty(); }

private:
    std::vector<pid_t> running() const;

    IsOwn is_own_;
    int last_ = 0;          ///< the signal that was sent last
    std::set<pid_t> told_;  ///< that have got it
};

}  // namespace heddle::host
