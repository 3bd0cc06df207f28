// Finds the children of this process in /proc.
#include "host/adopted_processes.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace heddle::host {

namespace {

/// Its parent is this process, it is of the same session, and it has not ended.
bool is_child_here(pid_t id) {
    std::ifstream file("/proc/" + std::to_string(id) + "/stat");
    std::string line;
    if (!std::getline(file, line)) return false;
    // The name, in parentheses, may have any characters.
    std::istringstream fields(line.substr(std::min(line.rfind(')'), line.size() - 1) + 1));
    char state = 0;
    pid_t parent = 0, group = 0, session = 0;
    fields >> state >> parent >> group >> session;
    return fields && parent == getpid() && session == getsid(0) && state != 'Z' && state != 'X';
}

}  // namespace

AdoptedProcesses::AdoptedProcesses(IsOwn is_own) : is_own_(std::move(is_own)) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

AdoptedProcesses::~AdoptedProcesses() {
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

void AdoptedProcesses::reap() {
    for (;;) {
        siginfo_t ended{};
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
        if (is_own_(ended.si_pid)) return;  // the caller takes it first, and comes again
        waitpid(ended.si_pid, nullptr, WNOHANG);
        told_.erase(ended.si_pid);
    }
}

bool AdoptedProcesses::signal(int number) {
    if (std::exchange(last_, number) != number) told_.clear();
    const std::vector<pid_t> all = running();
    for (const pid_t id : all)
        if (told_.insert(id).second) kill(id, number);
    return !all.empty();
}

std::vector<pid_t> AdoptedProcesses::running() const {
    std::vector<pid_t> list;
    std::error_code failed;
    for (std::filesystem::directory_iterator entry("/proc", failed), end; !failed && entry != end;
         entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        if (!std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
        const auto id = static_cast<pid_t>(std::stol(name));
        // One that has become another user's takes no signal.
        if (is_child_here(id) && !is_own_(id) && kill(id, 0) == 0) list.push_back(id);
    }
    return list;
}

}  // namespace heddle::host
