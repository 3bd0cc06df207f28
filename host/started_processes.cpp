// Watches processes and their streams in one poll, and reaps what has ended.
#include "host/started_processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/error.hpp"

namespace heddle::host {

namespace {

constexpr std::size_t line_max = 1 << 16;

void write_error(std::string_view text) {
    (void)!write(STDERR_FILENO, text.data(), text.size());
}

struct Pipe {
    Descriptor read, write;
};

Pipe make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) throw Error(fmt::format("cannot make a pipe: {}", error_text(errno)));
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace

/// Passes on what has come. False at the end.
bool StartedProcesses::Stream::pass_on() {
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

void StartedProcesses::Stream::end_line() {
    if (line.empty()) return;
    if (line.back() != '\n') line.push_back('\n');
    if (!sign.empty() && line.starts_with(sign)) {
        notes.push_back(line.substr(sign.size(), line.size() - sign.size() - 1));
    } else {
        const std::string whole = prefix + line;
        write_error(!foreign.empty() && whole.starts_with(foreign) ? " " + whole : whole);
    }
    line.clear();
}

StartedProcesses::StartedProcesses(Options options) : options_(options) {
    if (!options_.adopts) return;
    adopted_.emplace([this](pid_t id) {
        return std::ranges::any_of(
            processes_, [id](const Process& process) { return process.running && process.id == id; });
    });
}

StartedProcesses::~StartedProcesses() {
    kill_all();
    for (Process& process : processes_)
        if (process.running) waitpid(process.id, nullptr, 0);
}

// --- starting

Descriptor StartedProcesses::open_stream(const Start& start) {
    Pipe pipe = make_pipe();
    streams_.push_back(
        {std::move(pipe.read), start.line_prefix, processes_.size(), start.sign, start.foreign});
    return std::move(pipe.write);
}

std::size_t StartedProcesses::start(const Start& start) {
    Process process;
    process.name = start.name;
    Streams streams;
    Descriptor input;
    Descriptor output;
    Descriptor error;
    if (!start.told.empty()) {
        // A pipe would end this process by SIGPIPE if the other one has ended.
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
            throw Error(fmt::format("cannot make a pair of sockets: {}", error_text(errno)));
        input.reset(ends[0]);
        process.life_line.reset(ends[1]);
        process.has_life_line = true;
        process.left_to_tell = start.told;
    } else if (!start.own_input) {
        input.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
    if (!start.own_output) output = open_stream(start);
    if (!start.own_error) error = open_stream(start);
    process.begun = start.sign.empty();
    streams = {input.get(), output.get(), error.get()};
    process.id = starter_.start(start.node, start.argv, start.environment, streams);
    process.running = true;
    process.spare = start.spare;
    if (running_) await_sign(process);
    processes_.push_back(std::move(process));
    return processes_.size() - 1;
}

/// Writes as much as the process has room for.
void StartedProcesses::tell(Process& process) {
    std::string& left = process.left_to_tell;
    const auto count = send(process.life_line.get(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
        left.erase(0, static_cast<std::size_t>(count));
    } else if (errno != EINTR && errno != EAGAIN) {
        left.clear();  // it has ended
    }
}

void StartedProcesses::take_notes(Stream& stream) {
    for (const std::string& note : std::exchange(stream.notes, {})) {
        processes_[stream.process].begun = true;
        if (take_note_) take_note_(stream.process, note);
    }
}

// --- watching

int StartedProcesses::run(const std::function<bool(const End&)>& ended) {
    for (Process& process : processes_) await_sign(process);
    running_ = true;
    for (bool left = false; running() || left; left = leaves_any()) {
        wait_for_news(timeout());
        take_signals();
        reap(ended);
        note_late(ended);
        escalate();
    }
    attended_ = -1;  // what would be started now would be killed at once
    // What they wrote last. A grandchild may keep a stream open for ever.
    for (const auto deadline = Clock::now() + std::chrono::milliseconds(200);
         !streams_.empty() && Clock::now() < deadline;)
        wait_for_news(20);
    for (Stream& stream : streams_) stream.end_line();
    running_ = false;
    return exit_code_ != 0 && exit_code_ == options_.weak_code && spare_code_ != 0 ? spare_code_ : exit_code_;
}

/// A process that has a sign is late after a while without it.
void StartedProcesses::await_sign(Process& process) const {
    if (!process.begun) process.begin_by = Clock::now() + options_.begin_max;
}

bool StartedProcesses::running() const {
    return std::ranges::any_of(processes_, [](const Process& process) { return process.running; });
}

/// What was left behind since signals were passed on gets the last one, too.
bool StartedProcesses::leaves_any() {
    if (!adopted_) return false;
    adopted_->reap();
    if (step_ == Step::none) return false;
    return asked_by_ == 0 ? adopted_->any() : adopted_->signal(asked_by_);
}

int StartedProcesses::timeout() const {
    Clock::time_point next = next_step_;
    for (const Process& process : processes_)
        if (process.running && !process.begun) next = std::min(next, process.begin_by);
    if (next == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void StartedProcesses::wait_for_news(int milliseconds) {
    std::vector<pollfd> entries{{signals_.descriptor(), POLLIN, 0},
                                {life_line_, POLLIN, 0},
                                {step_ == Step::none && signal_ == 0 ? attended_ : -1, POLLIN, 0}};
    const std::size_t attended = entries.size() - 1;
    const std::size_t first_stream = entries.size();
    for (const Stream& stream : streams_) entries.push_back({stream.descriptor.get(), POLLIN, 0});
    for (const Process& process : processes_)
        if (!process.left_to_tell.empty()) entries.push_back({process.life_line.get(), POLLOUT, 0});
    if (poll(entries.data(), entries.size(), milliseconds) <= 0) return;
    if (entries[1].revents) {
        std::array<char, 256> ignored;
        if (read(life_line_, ignored.data(), ignored.size()) == 0) {
            life_line_ = -1;
            ask_to_end(SIGTERM);
            step_ = Step::terminate;
            next_step_ = Clock::now() + options_.terminate;
        }
    }
    for (std::size_t i = streams_.size(); i-- > 0;) {
        if (!entries[first_stream + i].revents) continue;
        const bool goes_on = streams_[i].pass_on();
        take_notes(streams_[i]);
        if (!goes_on) streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (Process& process : processes_)
        if (!process.left_to_tell.empty()) tell(process);
    if (entries[attended].revents) act_();
}

void StartedProcesses::take_signals() {
    while (const int signal = signals_.next()) {
        if (signal == SIGCHLD) continue;
        if (signal_ == 0) {
            signal_ = signal;
            ask_to_end(signal);
        } else {
            kill_all();  // a second signal ends the processes at once
        }
        stop_within(options_.grace);
    }
}

void StartedProcesses::reap(const std::function<bool(const End&)>& ended) {
    for (std::size_t number = 0; number < processes_.size(); ++number) {
        Process& process = processes_[number];
        const auto ended_with = process.running ? status_if_ended(process.id) : std::nullopt;
        if (!ended_with) continue;
        const int status = *ended_with;
        process.running = false;
        process.left_to_tell.clear();
        int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        // Its own code would say only that the line to it has ended.
        if (process.has_life_line && code != 0 && signal_ != 0) code = 128 + signal_;
        const bool asked = signal_ != 0 || step_ == Step::terminate || process.given_up;
        const bool reported = ended({number, code, asked, process.begun});
        if (code == 0) continue;
        if (WIFSIGNALED(status) && !asked && !reported) {
            write_error(fmt::format("heddle: {} was ended by signal {} ({})\n", process.name,
                                    WTERMSIG(status), strsignal(WTERMSIG(status))));
        }
        if (process.spare) {
            if (spare_code_ == 0) spare_code_ = code;
            continue;
        }
        // A process that ends because another one did may end first: its code is never the cause.
        if (exit_code_ == 0 || exit_code_ == options_.weak_code) exit_code_ = code;
        stop_within(options_.grace);
    }
}

void StartedProcesses::note_late(const std::function<bool(const End&)>& ended) {
    bool late = false;
    for (std::size_t number = 0; number < processes_.size(); ++number) {
        Process& process = processes_[number];
        if (!process.running || process.begun || Clock::now() < process.begin_by) continue;
        process.begin_by = Clock::time_point::max();
        if (step_ == Step::none) (void)ended({number, 1, false, false, true});
        if (process.spare) {
            process.given_up = true;
            kill(process.id, SIGKILL);
        } else {
            late = true;
        }
    }
    if (!late) return;
    if (exit_code_ == 0 || exit_code_ == options_.weak_code) exit_code_ = 1;
    stop_within(std::chrono::milliseconds(0));
}

// --- ending

/// The others have that long to stop by themselves.
void StartedProcesses::stop_within(std::chrono::milliseconds time) {
    if (step_ != Step::none) return;
    step_ = Step::grace;
    next_step_ = Clock::now() + time;
}

void StartedProcesses::escalate() {
    if (Clock::now() < next_step_) return;
    if (step_ == Step::grace) {
        ask_to_end(SIGTERM);
        next_step_ = Clock::now() + options_.terminate;
    } else {
        kill_all();
        next_step_ = Clock::time_point::max();
    }
    step_ = Step::terminate;
}

void StartedProcesses::ask_to_end(int signal) {
    asked_by_ = signal;
    for (Process& process : processes_) {
        process.left_to_tell.clear();
        if (process.has_life_line) {
            process.life_line.reset();
        } else if (process.running) {
            kill(process.id, signal);
        }
    }
}

void StartedProcesses::kill_all() {
    asked_by_ = SIGKILL;
    for (const Process& process : processes_)
        if (process.running) kill(process.id, SIGKILL);
}

}  // namespace heddle::host
