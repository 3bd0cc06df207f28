// A child process that runs a function of this program. It shares two pipes with its parent, ends with it,
// and reports afterwards how it ended. It is used for SimGrid, but knows nothing of it.
#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <string>

namespace heddle::sim {

class ChildProcess {
public:
    /// Forks. The child calls `work(requests, answers)` with the ends of its two pipes, and must not return
    /// from it. The kernel kills the child when the calling thread ends. Ctrl-C does not reach the child;
    /// other signals that the caller ignores (nohup) stay ignored, and the rest have their default action. A
    /// caller with further threads forks them into no child: only the C library's own locks are free there,
    /// so start threads afterwards. Throws Error where the system has no descriptor or no process left.
    explicit ChildProcess(const std::function<void(int requests, int answers)>& work);

    /// Kills the child if it still runs.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    int answers() const { return answers_[0]; }
    int requests() const { return requests_[1]; }

    /// What a child left that broke off the conversation.
    struct Ending {
        std::string words;  ///< the critical line of its error output, else the first; may be empty
        int signal = 0;     ///< that killed it, if one did
    };
    /// Waits for the child's end. The caller must have found one of the pipes closed.
    Ending ending();

private:
    std::string last_words() const;
    void close_all();

    pid_t process_ = -1;
    // [0] is read, [1] is written. The parent keeps the child's end of `requests_`: a write after the child's
    // death is lost then, instead of ending the parent with SIGPIPE.
    std::array<int, 2> requests_{-1, -1};
    std::array<int, 2> answers_{-1, -1};
    int log_ = -1;
};

}  // namespace heddle::sim
