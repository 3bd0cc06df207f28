// Watches the processes of one launch until all have ended. It passes on their output and signals to them,
// and ends the rest if one has failed. It does not know what they do.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "host/adopted_processes.hpp"
#include "host/descriptor.hpp"
#include "host/local_starter.hpp"
#include "host/signal_watch.hpp"

namespace heddle::host {

class StartedProcesses {
public:
    struct Options {
        std::chrono::milliseconds grace{10000};  ///< for the others to stop by themselves if one has failed
        std::chrono::milliseconds terminate{2000};  ///< between asking a process to end and SIGKILL
        int weak_code = 0;  ///< an exit code that follows from another process's end: any other replaces it
        std::chrono::milliseconds begin_max{10000};  ///< for a process to write its `sign`
        /// What the processes leave behind ends as they do if one has failed or they are asked to end.
        bool adopts = false;
    };

    /// One process to start.
    struct Start {
        NodeId node = 0;          ///< for messages
        std::string name;         ///< for messages: "node 2", "host a"
        std::string line_prefix;  ///< before each line that it writes to a stream of its own
        std::vector<std::string> argv;
        std::map<std::string, std::string> environment = {};
        bool own_input = false;   ///< it has the caller's standard input; else none, or `told`
        bool own_output = false;  ///< it has the caller's standard output
        bool own_error = false;   ///< it has the caller's standard error
        /// Written to its standard input, which then stays open as its life line: the process is to end when
        /// that ends, and gets no signals. Empty: no life line.
        std::string told = {};
        /// Lines that begin so on a stream of its own are notes for `notes_to`, and not passed on. The first
        /// one says that the process has begun.
        std::string sign = {};
        /// A line that would be passed on with this at its beginning gets a blank in front, because this
        /// process's own notes begin so. Empty: no line does.
        std::string foreign = {};
        /// The others can do without it: if it fails, they go on. Its exit code counts only if one of them
        /// fails as a result (`weak_code`).
        bool spare = false;
    };

    /// From here on, signals that would end this process are held back for `run`.
    explicit StartedProcesses(Options options);
    /// Kills what still runs.
    ~StartedProcesses();
    StartedProcesses(const StartedProcesses&) = delete;
    StartedProcesses& operator=(const StartedProcesses&) = delete;

    /// Returns its number, from 0. May be called in `run` by `act` of `attend_to`. Throws Error where it
    /// cannot be started.
    std::size_t start(const Start& start);

    /// While `run` goes on and no process is asked to end, calls `act` when `descriptor` is readable.
    void attend_to(int descriptor, std::function<void()> act) {
        attended_ = descriptor;
        act_ = std::move(act);
    }

    /// While `run` goes on, `take` gets each note of a process: its number, and what follows the sign.
    void notes_to(std::function<void(std::size_t number, const std::string& note)> take) {
        take_note_ = std::move(take);
    }

    /// All are asked to end when `descriptor`, which is open to the caller, has come to its end.
    void end_with(int descriptor) { life_line_ = descriptor; }

    struct End {
        std::size_t number = 0;
        int code = 0;        ///< 128 + signal if a signal ended it
        bool asked = false;  ///< it was asked to end before
        bool begun = true;   ///< it wrote its sign, if it has one
        bool late = false;   ///< it still runs, but did not write its sign within `begin_max`
    };
    /// Returns when all have ended: the exit code of the first that failed, or 0. Passes SIGINT, SIGTERM,
    /// SIGHUP and SIGQUIT on; a second one kills. `ended` is called for each that has ended. It returns true
    /// if it has reported a failure itself. It is also called for a process that is late: that is a failure
    /// with exit code 1, and all are asked to end.
    int run(const std::function<bool(const End&)>& ended);

private:
    /// Lines of a process go to standard error with its prefix.
    struct Stream {
        Descriptor descriptor;
        std::string prefix;
        std::size_t process;  ///< its number
        std::string sign;     ///< a line that begins so is a note; empty: none is
        std::string foreign;  ///< as Start::foreign
        std::string line = {};
        std::vector<std::string> notes = {};  ///< that have come and have not been taken

        bool pass_on();
        void end_line();
    };
    struct Process {
        pid_t id = -1;
        bool running = false;
        std::string name;
        Descriptor life_line;
        bool has_life_line = false;
        std::string left_to_tell;
        bool begun = true;
        bool spare = false;
        bool given_up = false;  ///< it was late, and was killed: its end is no news
        std::chrono::steady_clock::time_point begin_by = std::chrono::steady_clock::time_point::max();
    };
    enum class Step : std::uint8_t { none, grace, terminate };
    using Clock = std::chrono::steady_clock;

    Descriptor open_stream(const Start& start);
    bool running() const;
    bool leaves_any();
    int timeout() const;
    void note_late(const std::function<bool(const End&)>& ended);
    void await_sign(Process& process) const;
    void wait_for_news(int milliseconds);
    void tell(Process& process);
    void take_notes(Stream& stream);
    void take_signals();
    void reap(const std::function<bool(const End&)>& ended);
    void escalate();
    void ask_to_end(int signal);
    void kill_all();
    void stop_within(std::chrono::milliseconds time);

    Options options_;
    SignalWatch signals_;
    LocalStarter starter_;
    std::optional<AdoptedProcesses> adopted_;
    std::vector<Process> processes_;
    std::vector<Stream> streams_;
    int life_line_ = -1;
    int attended_ = -1;
    std::function<void()> act_;
    std::function<void(std::size_t, const std::string&)> take_note_;
    bool running_ = false;  ///< `run` is at work
    Step step_ = Step::none;
    Clock::time_point next_step_ = Clock::time_point::max();
    int signal_ = 0;    ///< the first that came
    int asked_by_ = 0;  ///< the last signal that was passed on
    int exit_code_ = 0;
    int spare_code_ = 0;  ///< of the first spare process that failed
};

}  // namespace heddle::host
