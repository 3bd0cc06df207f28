// Starts processes on this machine, as children that die with the thread that started them. launch.cpp
// decides which processes, and watches them.

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "host/descriptor.hpp"
#include "host/local_starter.hpp"

namespace heddle::host {

namespace {

/// The launcher's environment with `added` in it, in the form that exec takes.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry; ++entry) {
        const std::string text = *entry;
        if (!added.contains(text.substr(0, text.find('=')))) all.push_back(text);
    }
    for (const auto& [name, value] : added) all.push_back(fmt::format("{}={}", name, value));
    return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    pointers.reserve(strings.size() + 1);
    for (std::string& string : strings) pointers.push_back(string.data());
    pointers.push_back(nullptr);
    return pointers;
}

struct Prepared {
    char** argv;
    char** environment;
    Streams streams;
    pid_t parent;
    int report;  ///< where to write errno when exec fails; closed by an exec that works
};

/// In the child. Other threads of the parent may have held any lock at the fork: only system calls from here
/// on.
[[noreturn]] void become(const Prepared& prepared) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != prepared.parent) _exit(127);  // too late: the launcher is gone already
    if (prepared.streams.input >= 0) dup2(prepared.streams.input, STDIN_FILENO);
    if (prepared.streams.output >= 0) dup2(prepared.streams.output, STDOUT_FILENO);
    if (prepared.streams.error >= 0) dup2(prepared.streams.error, STDERR_FILENO);
    struct sigaction initial {};
    initial.sa_handler = SIG_DFL;
    // Those that this program ignores itself, or a program may not expect to be ignored. Others stay as the
    // user left them: nohup's SIGHUP.
    for (const int signal : {SIGCHLD, SIGPIPE, SIGXFSZ}) sigaction(signal, &initial, nullptr);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    environ = prepared.environment;
    execvp(prepared.argv[0], prepared.argv);
    const int error = errno;
    [[maybe_unused]] const auto written = write(prepared.report, &error, sizeof error);
    _exit(127);
}

/// While SIGCHLD is ignored, the system forgets the status of a child when it ends.
void keep_statuses() {
    struct sigaction now {};
    sigaction(SIGCHLD, nullptr, &now);
    if (now.sa_handler != SIG_IGN) return;
    now.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &now, nullptr);
}

}  // namespace

pid_t LocalStarter::start(NodeId node, const std::vector<std::string>& argv,
                          const std::map<std::string, std::string>& environment, const Streams& streams) {
    if (argv.empty()) throw Error("there is nothing to launch", "write the program after --");
    std::vector<std::string> arguments = argv;
    std::vector<std::string> variables = environment_with(environment);
    std::vector<char*> argument_pointers = pointers_to(arguments);
    std::vector<char*> variable_pointers = pointers_to(variables);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) throw Error(fmt::format("cannot make a pipe: {}", error_text(errno)));
    const Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    const Prepared prepared{argument_pointers.data(), variable_pointers.data(), streams, getpid(),
                            writing.get()};
    keep_statuses();
    const pid_t child = fork();
    if (child == 0) become(prepared);
    if (child < 0) throw Error(fmt::format("cannot start node {}: {}", node, error_text(errno)));
    writing.reset();
    int error = 0;
    ssize_t count = 0;
    do count = read(reading.get(), &error, sizeof error);
    while (count < 0 && errno == EINTR);
    if (count == static_cast<ssize_t>(sizeof error)) {
        waitpid(child, nullptr, 0);
        throw Error(fmt::format("cannot run {}: {}", argv[0], error_text(error)),
                    "check the path; a name without a slash must be on the PATH");
    }
    return child;
}

std::optional<int> status_if_ended(pid_t child, bool wait) {
    constexpr int unknown = 127 << 8;
    int status = 0;
    pid_t ended = 0;
    do ended = waitpid(child, &status, wait ? 0 : WNOHANG);
    while (ended < 0 && errno == EINTR);
    if (ended == 0) return std::nullopt;
    return ended == child ? status : unknown;
}

}  // namespace heddle::host
