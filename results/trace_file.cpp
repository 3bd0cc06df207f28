// Collects a trace's bytes, compresses them if the name ends in .gz, and writes them.
#include "results/trace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <utility>

namespace heddle::results {

namespace {

/// What is compressed at once.
constexpr std::size_t block_bytes = 64 << 10;

}  // namespace

TraceFile::TraceFile(const std::string& path, bool compressed, const std::string& what,
                     const std::string& option)
    : file_(path, {what, fmt::format("name another file with {}, or make its directory writable", option)}) {
    // zlib closes what it is given, and the file takes its name later.
    const int own = ::fcntl(file_.descriptor(), F_DUPFD_CLOEXEC, 0);
    // Level 4: twice as fast as 6, and traces come out 5% larger.
    stream_ = own < 0 ? nullptr : gzdopen(own, compressed ? "wb4" : "wbT");
    if (!stream_) {
        const int reason = own < 0 ? errno : ENOMEM;
        if (own >= 0) ::close(own);
        file_.fail(reason);
    }
    block_.reserve(2 * block_bytes);
}

TraceFile::~TraceFile() {
    if (stream_) gzclose(stream_);
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
    if (problem_ != 0) file_.fail(problem_);
    file_.commit();
}

}  // namespace heddle::results
