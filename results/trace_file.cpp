#include "results/trace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.hpp"

namespace heddle::results {

namespace {

/// What is compressed at once.
constexpr std::size_t block_bytes = 64 << 10;

}  // namespace

TraceFile::TraceFile(std::string path, bool compressed, std::string option)
    : path_(std::move(path)),
      option_(std::move(option)),
      beside_(fmt::format("{}.{}.tmp", path_, ::getpid())) {
    // It would be noticed at the end only.
    if (std::filesystem::is_directory(path_)) cannot_write(EISDIR);
    const int file = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) cannot_write(errno);
    // Level 4: twice as fast as 6, and traces come out 5% larger.
    stream_ = gzdopen(file, compressed ? "wb4" : "wbT");
    if (!stream_) {
        ::close(file);
        ::unlink(beside_.c_str());
        cannot_write(ENOMEM);
    }
    block_.reserve(2 * block_bytes);
}

TraceFile::~TraceFile() {
    if (!stream_) return;
    gzclose(stream_);
    ::unlink(beside_.c_str());
}

void TraceFile::write(const std::string& bytes) {
    block_ += bytes;
    if (block_.size() >= block_bytes) flush();
}

void TraceFile::flush() {
    if (problem_ == 0 && !block_.empty() &&
        gzwrite(stream_, block_.data(), static_cast<unsigned>(block_.size())) <= 0)
        problem_ = errno ? errno : EIO;
    block_.clear();
}

void TraceFile::commit() {
    flush();
    if (gzclose(std::exchange(stream_, nullptr)) != Z_OK && problem_ == 0) problem_ = errno ? errno : EIO;
    if (problem_ == 0 && std::rename(beside_.c_str(), path_.c_str()) != 0) problem_ = errno;
    if (problem_ == 0) return;
    ::unlink(beside_.c_str());
    cannot_write(problem_);
}

void TraceFile::cannot_write(int reason) const {
    throw Error(fmt::format("{} cannot be written ({})", path_, std::strerror(reason)),
                fmt::format("name another file with {}, or make its directory writable", option_));
}

}  // namespace heddle::results
