// Forks a child process, resets its signals' handlers and closes what it inherits; reads the child's last
// output if it crashes.
#include "sim/child_process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace heddle::sim {

namespace {

/// Blocks all signals of this thread while it lives.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t before_{};
};

// --- in the child
// ---------------------------------------------------------------------------------------------

/// The kernel kills this process when its parent ends.
void end_with(pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // the parent ended before the call above
}

bool is_ignored(int signal) {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// The parent's handlers mean nothing here. What the parent ignores stays ignored: nohup's SIGHUP goes to the
/// whole group of processes. SIGINT stays blocked: SimGrid sets a handler of its own, which calls exit, and
/// waits for ever where it interrupts the allocator.
void reset_signals() {
    for (int signal = 1; signal < NSIG; ++signal)
        if (!is_ignored(signal)) ::signal(signal, SIG_DFL);
    ::signal(SIGPIPE, SIG_IGN);  // a write to a parent that is gone fails
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

/// The open descriptors, by /proc. Empty where there is no /proc.
std::vector<int> open_descriptors() {
    std::vector<int> found;
    DIR* const directory = ::opendir("/proc/self/fd");
    if (directory == nullptr) return found;
    const int own = ::dirfd(directory);
    while (const dirent* entry = ::readdir(directory)) {
        const int file = std::atoi(entry->d_name);
        if (entry->d_name[0] != '.' && file != own) found.push_back(file);
    }
    ::closedir(directory);
    return found;
}

/// Closes all descriptors above the standard ones, except `kept`: an end of another child's pipe that stays
/// open here would keep that child alive.
void close_all_but(std::vector<int> kept) {
    std::sort(kept.begin(), kept.end());
    kept.push_back(-1);  // stands for the largest
    unsigned first = 3;
    bool closed = true;
    for (const int file : kept) {
        const unsigned last = file < 0 ? ~0U : static_cast<unsigned>(file) - 1;
        if (first <= last) closed = ::close_range(first, last, 0) == 0 && closed;
        first = static_cast<unsigned>(file) + 1;
    }
    if (closed) return;
    // Before Linux 5.9, or where a filter of system calls does not know it.
    std::vector<int> open = open_descriptors();
    if (open.empty()) {
        constexpr int many = 1 << 16;
        for (int file = 3; file < many; ++file) open.push_back(file);
    }
    for (const int file : open)
        if (file > 2 && std::find(kept.begin(), kept.end(), file) == kept.end()) ::close(file);
}

/// Not one of the standard descriptors, which are about to change.
int above_standard(int file) {
    return file > 2 ? file : ::fcntl(file, F_DUPFD, 3);
}

/// Leaves the child with its ends of the pipes, and with an error output that the parent can read.
std::array<int, 2> isolate(pid_t parent, int requests, int answers, int log) {
    end_with(parent);
    reset_signals();
    requests = above_standard(requests);
    answers = above_standard(answers);
    ::dup2(log, 2);
    close_all_but({requests, answers});
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(nowhere, 0);
    ::dup2(nowhere, 1);
    if (nowhere > 2) ::close(nowhere);
    return {requests, answers};
}

}  // namespace

// --- in the parent
// --------------------------------------------------------------------------------------------

ChildProcess::ChildProcess(const std::function<void(int, int)>& work) {
    log_ = ::memfd_create("child", MFD_CLOEXEC);
    if (::pipe2(requests_.data(), O_CLOEXEC) != 0 || ::pipe2(answers_.data(), O_CLOEXEC) != 0 || log_ < 0) {
        const Error error(fmt::format("no pipe to a process for SimGrid: {}", std::strerror(errno)),
                          "raise the limit of open files (ulimit -n)");
        close_all();
        throw error;
    }
    const pid_t parent = ::getpid();
    {
        const SignalsBlocked blocked;
        process_ = ::fork();
        if (process_ == 0) {
            const auto [requests, answers] = isolate(parent, requests_[0], answers_[1], log_);
            work(requests, answers);
            ::_exit(1);
        }
    }
    if (process_ < 0) {
        const Error error(fmt::format("no process for SimGrid: {}", std::strerror(errno)),
                          "raise the limit of processes (ulimit -u)");
        close_all();
        throw error;
    }
    ::close(std::exchange(answers_[1], -1));
}

ChildProcess::~ChildProcess() {
    close_all();
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);  // it may be at something that takes long, and nothing of it is wanted
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void ChildProcess::close_all() {
    for (int* file : {&requests_[0], &requests_[1], &answers_[0], &answers_[1], &log_})
        if (*file >= 0) ::close(std::exchange(*file, -1));
}

std::string ChildProcess::last_words() const {
    std::string text(4096, '\0');
    const off_t size = ::lseek(log_, 0, SEEK_END);
    const off_t from = std::max<off_t>(0, size - static_cast<off_t>(text.size()));
    const ssize_t count = ::pread(log_, text.data(), text.size(), from);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    // "[0.000000] file.cpp:529: [root/CRITICAL] what is wrong"
    constexpr std::string_view sign = "/CRITICAL] ";
    const std::size_t critical = text.find(sign);
    if (critical != std::string::npos) text.erase(0, critical + sign.size());
    return text.substr(0, text.find('\n'));
}

ChildProcess::Ending ChildProcess::ending() {
    int status = 0;
    pid_t done = 0;
    while ((done = ::waitpid(process_, &status, 0)) < 0 && errno == EINTR) continue;
    process_ = -1;
    return {last_words(), done > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

}  // namespace heddle::sim
