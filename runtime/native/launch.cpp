// Starts and watches the processes of a run, forwards their output, and ends the rest if a process has
// failed.
#include "runtime/native/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>

#include "base/error.hpp"
#include "host/limits.hpp"
#include "host/local_starter.hpp"
#include "host/signal_watch.hpp"
#include "runtime/native/listener.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/native/rendezvous.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

namespace {

void write_error(std::string_view text) {
    (void)!write(STDERR_FILENO, text.data(), text.size());
}

/// A stream of a node other than 0: its lines go to standard error, with the node's name in front.
struct Stream {
    NodeId node;
    Descriptor descriptor;
    std::string line;

    /// Passes on what has come. False at the end.
    bool pass_on() {
        std::array<char, 4096> bytes;
        const auto count = read(descriptor.get(), bytes.data(), bytes.size());
        if (count < 0) return errno == EINTR || errno == EAGAIN;
        for (const char byte : std::string_view(bytes.data(), static_cast<std::size_t>(count))) {
            line.push_back(byte);
            if (byte == '\n' || line.size() >= line_max) end_line();
        }
        if (count == 0) end_line();
        return count > 0;
    }

    void end_line() {
        if (line.empty()) return;
        if (line.back() != '\n') line.push_back('\n');
        write_error(fmt::format("[node {}] {}", node, line));
        line.clear();
    }

    static constexpr std::size_t line_max = 1 << 16;
};

struct Process {
    pid_t id = -1;
    bool running = false;
};

/// One launch, from the first process to the last.
class Launch {
public:
    Launch(const LaunchOptions& options, host::LocalStarter& starter) : options_(options), starter_(starter) {
        rendezvous_ = std::make_unique<Rendezvous>(options.nodes, key_, "127.0.0.1",
                                                   options.meeting_max.value_or(meeting_time(options.nodes)));
    }

    ~Launch() {
        signal_all(SIGKILL);  // none, unless a start failed
        for (Process& process : processes_)
            if (process.running) waitpid(process.id, nullptr, 0);
    }

    int run() {
        processes_.resize(options_.nodes);
        for (NodeId node = 0; node < options_.nodes; ++node) start(node);
        while (running()) {
            wait_for_news(timeout());
            take_signals();
            reap();
            escalate();
        }
        // What they wrote last. A grandchild may keep a stream open for ever.
        for (const Deadline deadline = Clock::now() + std::chrono::milliseconds(200);
             !streams_.empty() && Clock::now() < deadline;)
            wait_for_news(20);
        for (Stream& stream : streams_) stream.end_line();
        return exit_code_;
    }

private:
    void start(NodeId node) {
        const std::map<std::string, std::string> variables{
            {environment::rank, std::to_string(node)},
            {environment::nodes, std::to_string(options_.nodes)},
            {environment::rendezvous, rendezvous_->address()},
            {environment::key_file, key_file_.path},
            {environment::local_rank, std::to_string(node)},
            {environment::local_count, std::to_string(options_.nodes)},
        };
        host::Streams streams;
        const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
        Descriptor output;
        Descriptor error;
        if (node != 0) {
            output = open_stream(node);
            error = open_stream(node);
            streams = {nothing.get(), output.get(), error.get()};
        }
        processes_[node] = {starter_.start(node, options_.argv, variables, streams), true};
    }

    /// Returns the writing end; the reading end is watched.
    Descriptor open_stream(NodeId node) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC)) throw Error(fmt::format("cannot make a pipe: {}", error_text(errno)));
        streams_.push_back({node, Descriptor(ends[0]), {}});
        return Descriptor(ends[1]);
    }

    bool running() const {
        return std::ranges::any_of(processes_, [](const Process& process) { return process.running; });
    }

    void signal_all(int signal) {
        for (const Process& process : processes_)
            if (process.running) kill(process.id, signal);
    }

    int timeout() const {
        if (next_step_ == Deadline::max()) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_step_ - Clock::now());
        return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    }

    void wait_for_news(int milliseconds) {
        std::vector<pollfd> entries{{signals_.descriptor(), POLLIN, 0}};
        for (const Stream& stream : streams_) entries.push_back({stream.descriptor.get(), POLLIN, 0});
        if (poll(entries.data(), entries.size(), milliseconds) <= 0) return;
        for (std::size_t i = streams_.size(); i-- > 0;) {
            if (!entries[i + 1].revents) continue;
            if (!streams_[i].pass_on()) streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    void take_signals() {
        while (const int signal = signals_.next()) {
            if (signal == SIGCHLD) continue;
            signal_all(signalled_ ? SIGKILL : signal);  // a second signal ends the processes at once
            signalled_ = true;
            stop_within(options_.grace);
        }
    }

    void reap() {
        for (NodeId node = 0; node < options_.nodes; ++node) {
            Process& process = processes_[node];
            int status = 0;
            if (!process.running || waitpid(process.id, &status, WNOHANG) != process.id) continue;
            process.running = false;
            rendezvous_->node_ended(node);
            const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            if (code == 0) continue;
            if (WIFSIGNALED(status) && !signalled_ && step_ != Step::terminate)
                write_error(fmt::format("heddle: node {} was ended by signal {} ({})\n", node,
                                        WTERMSIG(status), strsignal(WTERMSIG(status))));
            // A process that lost another one ends with `exit_code_lost`, and may end first. This code is
            // never the cause, so another code replaces it.
            if (exit_code_ == 0 || exit_code_ == exit_code_lost) exit_code_ = code;
            stop_within(options_.grace);
        }
    }

    /// The others have that long to stop by themselves.
    void stop_within(std::chrono::milliseconds time) {
        if (step_ != Step::none) return;
        step_ = Step::grace;
        next_step_ = Clock::now() + time;
    }

    void escalate() {
        if (Clock::now() < next_step_) return;
        signal_all(step_ == Step::grace ? SIGTERM : SIGKILL);
        next_step_ = step_ == Step::grace ? Clock::now() + options_.terminate : Deadline::max();
        step_ = Step::terminate;
    }

    enum class Step : std::uint8_t { none, grace, terminate };

    const LaunchOptions& options_;
    host::LocalStarter& starter_;
    host::SignalWatch signals_;  ///< before all that a signal must not leave behind
    const Key key_ = make_key();
    const KeyInMemory key_file_ = keep_in_memory(key_);
    std::unique_ptr<Rendezvous> rendezvous_;
    std::vector<Process> processes_;
    std::vector<Stream> streams_;
    Step step_ = Step::none;
    Deadline next_step_ = Deadline::max();
    bool signalled_ = false;
    int exit_code_ = 0;
};

}  // namespace

int LocalLauncher::launch(const LaunchOptions& options) {
    if (options.nodes == 0) throw Error("a run needs at least one node", "launch with -n 1 or more");
    // Each process takes two pipes and a connection here, and a connection to each other process there.
    host::allow_open_files(3 * std::uint64_t{options.nodes} + Listener::pending_max(options.nodes) + 64,
                           fmt::format("a run of {} nodes", options.nodes));
    host::LocalStarter starter;
    return Launch(options, starter).run();
}

}  // namespace heddle::native
