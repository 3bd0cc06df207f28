// Claims items of shared work by making files with link(2), which fails if the name exists, also on network
// file systems.
#include "host/claims.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/error.hpp"
#include "host/command_line.hpp"
#include "host/descriptor.hpp"
#include "host/machine.hpp"

namespace heddle::host {

namespace fs = std::filesystem;

namespace {

constexpr const char* slurm_owner = "slurm ";

}  // namespace

/// A claim's file at one moment.
struct Claims::Seen {
    int error = 0;  ///< why it was not read; ENOENT: it is not there
    std::string owner = {};
    ino_t inode = 0;
    std::int64_t changed = 0;  ///< when, in nanoseconds

    bool operator==(const Seen&) const = default;
};

namespace {

/// From a descriptor: a network file system may answer a question by name with what it was told before.
std::string read_whole(int file) {
    std::string text;
    std::array<char, 512> part;
    for (ssize_t count = 0; (count = read(file, part.data(), part.size())) > 0;)
        text.append(part.data(), static_cast<std::size_t>(count));
    return text;
}

}  // namespace

Claims::Claims(fs::path folder, std::string owner, Lives lives, std::chrono::seconds patience)
    : folder_(std::move(folder)), owner_(std::move(owner)), lives_(std::move(lives)), patience_(patience) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) throw Error(fmt::format("cannot make {}: {}", folder_.string(), error.message()));
}

Claims::~Claims() {
    while (!held_.empty()) give_back(*held_.begin());
}

Claims::Seen Claims::see(const fs::path& file) {
    const Descriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor) return {errno};
    struct stat state {};
    if (fstat(descriptor.get(), &state) != 0) return {errno};
    return {0, read_whole(descriptor.get()), state.st_ino,
            std::int64_t{state.st_mtim.tv_sec} * 1'000'000'000 + state.st_mtim.tv_nsec};
}

/// The new file's inode; nothing if the file exists.
std::optional<ino_t> Claims::make(const fs::path& file) const {
    const std::string own = fmt::format("{}.{}.{}", file.string(), host_name(), getpid());
    {
        std::ofstream stream(own, std::ios::binary | std::ios::trunc);
        stream << owner_;
        if (!stream.flush()) throw Error(fmt::format("cannot write {}", own), "see what fills the disk");
    }
    const ino_t inode = see(own).inode;
    const bool made = link(own.c_str(), file.c_str()) == 0;
    const int error = errno;
    unlink(own.c_str());
    if (made) return inode;
    if (error == EEXIST) return std::nullopt;
    throw Error(fmt::format("cannot make {}: {}", file.string(), error_text(error)));
}

bool Claims::is_free(const fs::path& file, const Seen& seen) const {
    if (seen.error == ENOENT) return true;
    if (seen.error != 0) return false;
    if (seen.owner == owner_) return true;
    if (const auto known = lives_ ? lives_(seen.owner) : std::nullopt) return !*known;
    // The file system's clock tells both times: machines may disagree.
    const fs::path now = fmt::format("{}.now.{}.{}", file.string(), host_name(), getpid());
    std::ofstream(now).flush();
    const Seen young = see(now);
    unlink(now.c_str());
    return young.error == 0 && std::chrono::nanoseconds(young.changed - seen.changed) > patience_;
}

// Invariant: only the process that has made `heir` makes or replaces `file`. So what such a process sees
// there stays until it renames `heir` to `file`, unless the owner renews it or gives it back.
bool Claims::take(const std::string& item) {
    const fs::path file = folder_ / item;
    const fs::path heir = folder_ / (item + ".heir");
    const Seen judged = see(file);
    if (!is_free(file, judged)) return false;
    std::optional<ino_t> own = make(heir);
    if (!own) {
        // Another process takes the item just now, or died while it did.
        if (!is_free(heir, see(heir))) return false;
        unlink(heir.c_str());
        own = make(heir);
        if (!own) return false;
    }
    // The judgement took time. What is there now may be another's.
    if (see(file) != judged || std::rename(heir.c_str(), file.c_str()) != 0) unlink(heir.c_str());
    // A process that took this one for dead may have removed `heir` meanwhile: what is there now counts.
    const Seen taken = see(file);
    if (taken.owner != owner_ || taken.inode != *own) return false;
    held_.insert(item);
    return true;
}

void Claims::give_back(const std::string& item) {
    const fs::path file = folder_ / item;
    if (see(file).owner == owner_) unlink(file.c_str());
    held_.erase(item);
}

void Claims::renew() {
    std::erase_if(held_, [this](const std::string& item) {
        const Descriptor file(open((folder_ / item).c_str(), O_RDWR | O_CLOEXEC));
        if (!file) return errno == ENOENT;
        // By the descriptor: if another process replaces the file now, the new one stays as it is.
        if (read_whole(file.get()) != owner_) return true;
        // Its own text again: this file system's clock, not this machine's, says when.
        (void)!pwrite(file.get(), owner_.data(), owner_.size(), 0);
        return false;
    });
}

namespace {

/// Of which task of a Slurm array this process is: `7_3`; empty: of none.
std::string own_task() {
    const auto value = [](const char* variable) {
        const char* const text = std::getenv(variable);
        return std::string(text ? text : "");
    };
    const std::string array = value("SLURM_ARRAY_JOB_ID");
    return array.empty() ? "" : fmt::format("{}_{}", array, value("SLURM_ARRAY_TASK_ID"));
}

}  // namespace

// Within a job, and within a task of an array, several processes may share work, and Slurm gives them no
// names.
std::string owner_of_this_process() {
    const std::string process = fmt::format("process {} on {}", getpid(), host_name());
    const std::string task = own_task();
    return task.empty() ? process : fmt::format("{}{} {}", slurm_owner, task, process);
}

std::optional<bool> slurm_task_runs(const std::string& owner) {
    if (!owner.starts_with(slurm_owner)) return std::nullopt;
    const std::string rest = owner.substr(std::char_traits<char>::length(slurm_owner));
    const std::string task = rest.substr(0, rest.find(' '));
    if (task.find_first_not_of("0123456789_") != std::string::npos) return std::nullopt;
    // That this process's own task runs does not say whether another process of it does.
    if (task == own_task()) return std::nullopt;
    // All jobs of this user: to ask for a job that Slurm has forgotten is an error.
    const std::string command =
        "squeue --noheader --me --array --states=RUNNING,COMPLETING,SUSPENDED --format='%i' 2>/dev/null";
    FILE* const pipe = popen(command.c_str(), "re");
    if (!pipe) return std::nullopt;
    bool runs = false;
    char line[128];
    while (std::fgets(line, sizeof line, pipe)) {
        std::string id = line;
        while (!id.empty() && (id.back() == '\n' || id.back() == ' ')) id.pop_back();
        runs = runs || id == task;
    }
    if (pclose(pipe) != 0) return std::nullopt;
    return runs;
}

}  // namespace heddle::host
