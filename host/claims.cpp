// Claims items of shared work by making files with link(2), which fails if the name exists, also on network
// file systems.
#include "host/claims.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "host/command_line.hpp"
#include "host/descriptor.hpp"
#include "host/machine.hpp"

namespace heddle::host {

namespace fs = std::filesystem;

namespace {

constexpr const char* slurm_owner = "slurm ";

std::string text_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
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

/// False if the file exists.
bool Claims::make(const fs::path& file) const {
    const std::string own = fmt::format("{}.{}.{}", file.string(), host_name(), getpid());
    {
        std::ofstream stream(own, std::ios::binary | std::ios::trunc);
        stream << owner_;
        if (!stream.flush()) throw Error(fmt::format("cannot write {}", own), "see what fills the disk");
    }
    const bool made = link(own.c_str(), file.c_str()) == 0;
    const int error = errno;
    unlink(own.c_str());
    if (!made && error != EEXIST)
        throw Error(fmt::format("cannot make {}: {}", file.string(), error_text(error)));
    return made;
}

bool Claims::is_free(const fs::path& file) const {
    const std::string owner = text_of(file);
    if (owner == owner_) return true;
    if (const auto known = lives_ ? lives_(owner) : std::nullopt) return !*known;
    // The file system's clock tells both times: machines may disagree.
    const fs::path now = fmt::format("{}.now.{}.{}", file.string(), host_name(), getpid());
    std::ofstream(now).flush();
    std::error_code error;
    const auto time = fs::last_write_time(now, error);
    fs::remove(now, error);
    const auto claimed = fs::last_write_time(file, error);
    return !error && time - claimed > patience_;
}

bool Claims::take(const std::string& item) {
    const fs::path file = folder_ / item;
    if (!make(file)) {
        if (!is_free(file)) return false;
        // Several processes may find the item free: one of them moves the old file away.
        const std::string old = fmt::format("{}.old.{}.{}", file.string(), host_name(), getpid());
        if (std::rename(file.c_str(), old.c_str()) != 0) return false;
        unlink(old.c_str());
        if (!make(file)) return false;
    }
    held_.insert(item);
    return true;
}

void Claims::give_back(const std::string& item) {
    const fs::path file = folder_ / item;
    if (text_of(file) == owner_) unlink(file.c_str());
    held_.erase(item);
}

void Claims::renew() {
    std::error_code ignored;
    for (const std::string& item : held_) {
        // Its own text again: this file system's clock, not this machine's, says when.
        std::ofstream(folder_ / item, std::ios::binary | std::ios::in) << owner_;
    }
}

std::string owner_of_this_process() {
    const auto value = [](const char* variable) {
        const char* const text = std::getenv(variable);
        return std::string(text ? text : "");
    };
    const std::string array = value("SLURM_ARRAY_JOB_ID");
    if (!array.empty()) return fmt::format("{}{}_{}", slurm_owner, array, value("SLURM_ARRAY_TASK_ID"));
    const std::string job = value("SLURM_JOB_ID");
    if (!job.empty()) return slurm_owner + job;
    return fmt::format("process {} on {}", getpid(), host_name());
}

std::optional<bool> slurm_task_runs(const std::string& owner) {
    if (!owner.starts_with(slurm_owner)) return std::nullopt;
    const std::string task = owner.substr(std::char_traits<char>::length(slurm_owner));
    if (task.find_first_not_of("0123456789_") != std::string::npos) return std::nullopt;
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
