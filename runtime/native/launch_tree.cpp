// Divides hosts among branches, and words what a remote shell's exit code means.
#include "runtime/native/launch_tree.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "host/command_line.hpp"

namespace heddle::native {

using host::StartedProcesses;

LaunchTree::LaunchTree(StartedProcesses& processes, LaunchPart told, std::string from,
                       std::chrono::milliseconds begin_max)
    : processes_(processes),
      told_(std::move(told)),
      from_(std::move(from)),
      begin_max_(begin_max),
      folder_(std::filesystem::current_path().string()) {}

void LaunchTree::start(const std::vector<HostNodes>& hosts, bool spare) {
    const std::size_t count = std::min<std::size_t>(told_.branches, hosts.size());
    for (std::size_t i = 0; i < count; ++i) {
        const auto at = [&](std::size_t branch) {
            return hosts.begin() + static_cast<std::ptrdiff_t>(branch * hosts.size() / count);
        };
        start_branch({*at(i), {at(i) + 1, at(i + 1)}, spare});
    }
}

void LaunchTree::start_branch(Branch branch) {
    const std::string command = fmt::format("cd {} && exec {}", host::shell_words({folder_}),
                                            host::shell_words({host::own_program(), "launch-part"}));
    const RemoteShell& shell = told_.remote_shell;
    StartedProcesses::Start start;
    start.node = branch.here.first;
    start.name = fmt::format("host {}", branch.here.host);
    start.argv = shell.before;
    start.argv.push_back(branch.here.host);
    start.argv.insert(start.argv.end(), shell.after.begin(), shell.after.end());
    start.argv.push_back(command);
    start.own_output = branch.here.first == 0;
    told_.here = branch.here;
    told_.further = branch.further;
    start.told = pack(told_);
    start.sign = note_sign;
    start.spare = branch.spare;
    branches_.emplace(processes_.start(start), std::move(branch));
}

const LaunchTree::Branch* LaunchTree::branch(std::size_t process) const {
    const auto entry = branches_.find(process);
    return entry == branches_.end() ? nullptr : &entry->second;
}

bool LaunchTree::note(const StartedProcesses::End& end) const {
    const HostNodes& nodes = branches_.at(end.number).here;
    if (end.code == 0 || end.asked || (end.begun && !end.late)) return false;
    const std::string line = fmt::format("heddle: {}\n", end.late ? late(nodes) : not_begun(nodes, end.code));
    (void)!write(STDERR_FILENO, line.data(), line.size());
    return true;
}

// --- messages

/// What must work where this process runs.
std::string LaunchTree::trial(const HostNodes& nodes) const {
    return fmt::format("{} {} true", fmt::join(told_.remote_shell.before, " "), nodes.host);
}

std::string LaunchTree::here() const {
    return from_.empty() ? "" : fmt::format(" from {}", from_);
}

std::string LaunchTree::late(const HostNodes& nodes) const {
    return fmt::format("node {} did not start on {}{} within {} s; see what takes so long there: {}",
                       nodes.first, nodes.host, here(), static_cast<double>(begin_max_.count()) / 1000,
                       trial(nodes));
}

std::string LaunchTree::not_begun(const HostNodes& nodes, int code) const {
    if (code == 255) {
        const std::string advice =
            from_.empty() ? "" : ", or the launcher must start more hosts itself (--branches)";
        return fmt::format(
            "the remote shell could not start anything on {}{}; this must work without a question: {}{}",
            nodes.host, here(), trial(nodes), advice);
    }
    if (code == 126 || code == 127) {
        return fmt::format(
            "{} cannot be run on {}; install this build there at the same path, or share its folder",
            host::own_program(), nodes.host);
    }
    return fmt::format("nothing was started on {} (exit code {}); the folder {} must be there", nodes.host,
                       code, folder_);
}

}  // namespace heddle::native
