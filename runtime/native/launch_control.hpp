// Starts more processes while a launch runs. Nodes of the run request them (rendezvous.hpp), and so does
// `heddle launch --join`, over a Unix socket. Only processes of the same user may use it. The thread that
// watches the processes serves the requests, because processes die with the thread that started them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "host/descriptor.hpp"
#include "runtime/native/rendezvous.hpp"

namespace heddle::native {

/// Which nodes of a run have been started, and the requests for more. Each node is started once.
class StartQueue {
public:
    explicit StartQueue(Places places);
    ~StartQueue();
    StartQueue(const StartQueue&) = delete;
    StartQueue& operator=(const StartQueue&) = delete;

    /// Readable while requests wait.
    const host::Descriptor& event() const;

    /// Any thread. Nodes that cannot be started are left out.
    void ask(const StartRequest& request);

    /// The same, all or none; waits for an answer, or for `close`. If `serve` does not take the request
    /// within `patience`, it is withdrawn. Returns a line for the asker, which begins with + or -.
    std::string ask_and_wait(NodeId count, std::chrono::milliseconds patience = std::chrono::seconds(10));

    /// Starts what was asked for. `start` returns where the node is, or throws Error.
    void serve(const std::function<std::string(NodeId)>& start);

    /// The run is about to end: answers all that wait, and starts no more. Any thread.
    void close();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The socket of one launch, and its thread. It closes the queue when it ends. Names hold letters, digits and
/// `._-`; a number alone is no name, because that is a process.
class LaunchControl {
public:
    /// `name`: how users call the run besides by this process's number; may be empty. Throws Error if it
    /// makes no name, or a run of this user has it.
    LaunchControl(const std::string& name, StartQueue& queue);
    ~LaunchControl();
    LaunchControl(const LaunchControl&) = delete;
    LaunchControl& operator=(const LaunchControl&) = delete;

    /// How users call the run: its name, or this process's number.
    std::string run() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Asks the launch `run` (its name, or its process's number) for `count` more nodes. Returns which nodes have
/// been started, as a sentence. Throws Error if there is no such run, which names those that are, or if it
/// refuses.
std::string join_run(const std::string& run, NodeId count);

}  // namespace heddle::native
