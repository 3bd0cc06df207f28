// A thread that makes its node join or leave a running program. It asks the node to leave at a stated time or
// on a signal, and asks the launcher for more nodes. A caller says what a request does.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "host/descriptor.hpp"
#include "runtime/native/rendezvous.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

/// While it lives, SIGUSR1 of this process is readable at a descriptor instead of ending the process. One at
/// a time in a process: a second one hears nothing.
class LeaveSignal {
public:
    LeaveSignal();
    ~LeaveSignal();
    LeaveSignal(const LeaveSignal&) = delete;
    LeaveSignal& operator=(const LeaveSignal&) = delete;

    const host::Descriptor& event() const { return *event_; }

private:
    host::Descriptor unheard_;
    const host::Descriptor* event_ = &unheard_;
    bool listens_ = false;
};

class MemberChanges {
public:
    /// A request for nodes that is made at a time.
    struct TimedStart {
        Deadline at;
        StartRequest request;
    };
    struct Plan {
        std::optional<Deadline> leave_at = {};
        std::vector<TimedStart> starts = {};
    };

    /// Both are called on the thread of this object. `leave`: once. `start`: may wait; throws Error.
    MemberChanges(std::function<void()> leave, std::function<void(const StartRequest&)> start);
    ~MemberChanges() { stop(); }
    MemberChanges(const MemberChanges&) = delete;
    MemberChanges& operator=(const MemberChanges&) = delete;

    /// Begins to act.
    void begin(Plan plan);

    /// Does nothing from now on.
    void stop();

    /// A request for nodes, as soon as possible. Any thread; does not wait.
    void start(const StartRequest& request);

private:
    void run();
    Deadline next() const;

    Plan plan_;
    LeaveSignal signal_;
    std::function<void()> leave_;
    std::function<void(const StartRequest&)> start_;
    host::Descriptor wake_;
    std::mutex mutex_;
    bool stopping_ = false;
    std::vector<StartRequest> requests_;
    std::thread thread_;
};

}  // namespace heddle::native
