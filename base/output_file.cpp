// Writes a file beside its final place and renames it when it is complete. Links are followed first.
#include "base/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace heddle {

namespace {

namespace fs = std::filesystem;

constexpr int links_max = 40;  // as many as Linux follows

/// Where the links of a path end.
struct Target {
    std::string path;
    int descriptor = -1;  ///< of this process, if the path names one: /dev/stdout, /dev/fd/3
    int reason = 0;       ///< errno, if there is no such place
};

/// The number of a descriptor, if a path names it in /proc; otherwise -1.
int descriptor_in(const fs::path& folder, const std::string& name) {
    if (folder != fmt::format("/proc/{}/fd", ::getpid())) return -1;
    int number = -1;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    return parsed.ec == std::errc() && parsed.ptr == name.data() + name.size() ? number : -1;
}

/// Follows links by hand, because a name at their end need not exist yet.
Target target_of(const std::string& path) {
    fs::path place = path;
    for (int links = 0; links <= links_max; ++links) {
        const std::string name = place.filename().string();
        if (name.empty() || name == "." || name == "..") return {place.string(), -1, EISDIR};
        std::error_code problem;
        const fs::path parent = place.parent_path();
        const fs::path folder = fs::canonical(parent.empty() ? "." : parent, problem);
        if (problem) return {{}, -1, problem.value()};
        if (const int number = descriptor_in(folder, name); number >= 0) return {{}, number};
        const fs::path here = folder / name;
        struct stat status {};
        const bool link = ::lstat(here.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
        if (!link) return {here.string()};
        const fs::path next = fs::read_symlink(here, problem);
        if (problem) return {{}, -1, problem.value()};
        place = next.is_absolute() ? next : folder / next;
    }
    return {{}, -1, ELOOP};
}

/// A name for the unfinished file, another one for each `attempt`. A long name is cut, because the file
/// system limits it.
std::string name_beside(const std::string& target, int attempt) {
    const fs::path path = target;
    const std::string end =
        attempt == 0 ? fmt::format(".{}.tmp", ::getpid()) : fmt::format(".{}.{}.tmp", ::getpid(), attempt);
    constexpr std::size_t name_max = 255;
    const std::string name = path.filename().string();
    return (path.parent_path() / (name.substr(0, name_max - end.size()) + end)).string();
}

}  // namespace

OutputFile::OutputFile(std::string path, OutputWords words)
    : words_(std::move(words)), path_(std::move(path)) {
    open();
}

void OutputFile::open() {
    if (path_.empty()) fail(ENOENT);
    const Target target = target_of(path_);
    if (target.reason != 0) fail(target.reason);
    if (target.descriptor >= 0) {
        // What was printed before comes first, and a redirected file goes on where it is.
        std::fflush(stdout);
        descriptor_ = ::fcntl(target.descriptor, F_DUPFD_CLOEXEC, 0);
        if (descriptor_ < 0) fail(errno);
        return;
    }
    target_ = target.path;
    struct stat status {};
    const bool exists = ::stat(target_.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
    if (exists && !S_ISREG(status.st_mode)) {
        descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (descriptor_ < 0) fail(errno);
        return;
    }
    // A file that the caller may not write is not replaced by one that the caller may.
    if (exists && ::access(target_.c_str(), W_OK) != 0) fail(errno);
    open_beside();
    if (!exists) return;
    // Without the right to do so the new file belongs to the caller: the text is worth more than its owner.
    if (::fchown(descriptor_, status.st_uid, status.st_gid) != 0) errno = 0;
    if (::fchmod(descriptor_, status.st_mode & 07777U) != 0) errno = 0;
}

void OutputFile::open_beside() {
    // A file of that name belongs to another output of this process, or to one that was killed.
    constexpr int attempts_max = 1000;
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        std::string beside = name_beside(target_, attempt);
        unfinished_.emplace(beside);
        descriptor_ = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (descriptor_ >= 0) {
            beside_ = std::move(beside);
            return;
        }
        const int reason = errno;
        unfinished_.reset();
        if (reason != EEXIST) fail(reason);
    }
    fail(EEXIST);
}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!beside_.empty()) ::unlink(beside_.c_str());
}

void OutputFile::write(std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor_, text.data(), text.size());
        if (count < 0 && errno != EINTR) fail(errno);
        if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    }
}

void OutputFile::commit(Durable durable) {
    const bool durably = durable == Durable::yes && !beside_.empty();
    if (durably) sync(descriptor_);
    if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
    if (beside_.empty()) return;
    if (std::rename(beside_.c_str(), target_.c_str()) != 0) fail(errno);
    beside_.clear();
    unfinished_.reset();
    if (!durably) return;
    // The new name is in the folder, and the folder must reach the disk as well.
    const std::string folder = fs::path(target_).parent_path().string();
    const int number = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (number < 0) fail(errno);
    const int problem = ::fsync(number) == 0 ? 0 : errno;
    ::close(number);
    if (problem != 0 && problem != EINVAL && problem != EROFS) fail(problem);
}

void OutputFile::sync(int descriptor) const {
    // Some file systems cannot: then nothing better is to be had.
    if (::fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS) fail(errno);
}

void OutputFile::fail(int reason) const {
    const fs::path folder = fs::path(path_).parent_path();
    std::error_code ignored;
    const bool missing = reason == ENOENT && !folder.empty() && !fs::exists(folder, ignored);
    throw Error(fmt::format("{} cannot be written to {} ({})", words_.what, path_, std::strerror(reason)),
                missing ? fmt::format("make the folder {} first, or name another one", folder.string())
                        : words_.advice);
}

void expect_writable(const std::string& path, const OutputWords& words) {
    std::error_code ignored;
    if (!fs::is_fifo(path, ignored)) const OutputFile writable(path, words);
}

void write_file(const std::string& path, std::string_view text, OutputFile::Durable durable,
                const OutputWords& words) {
    OutputFile file(path, words);
    file.write(text);
    file.commit(durable);
}

bool same_file(const std::string& one, const std::string& other) {
    const Target first = target_of(one);
    const Target second = target_of(other);
    if (first.reason != 0 || second.reason != 0 || first.descriptor >= 0 || second.descriptor >= 0)
        return false;
    struct stat status {};
    const bool special = ::stat(first.path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
    return first.path == second.path && !special;
}

bool replaces_one_of(const std::string& output, std::span<const std::string> inputs) {
    std::error_code ignored;
    return fs::is_regular_file(output, ignored) && std::ranges::any_of(inputs, [&](const std::string& input) {
               std::error_code problem;
               return fs::equivalent(output, input, problem) && !problem;
           });
}

}  // namespace heddle
