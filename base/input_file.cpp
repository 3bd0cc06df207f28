// Reads a file whole. A folder, a file above the limit, and text with zero bytes inside are errors.
#include "base/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

/// An open file; closed with the object.
class Descriptor {
public:
    explicit Descriptor(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

private:
    int number_;
};

[[noreturn]] void cannot_read(const std::string& path, int reason) {
    throw Error(fmt::format("cannot be read ({})", std::strerror(reason)),
                "check the path, and whether you may read it", {path, 0});
}

std::uint64_t memory_bytes() {
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
                                 : ~std::uint64_t{0};
}

/// `memory`: the limit is this machine's memory, and not that of the reader.
[[noreturn]] void too_large(const std::string& path, bool regular, std::uint64_t most, bool memory) {
    const char* const advice =
        !regular ? "does it end? a longer text can be read from a regular file"
        : memory ? "name a smaller file; if it is the right one, use a machine with more memory"
                 : "name a smaller file; is it the right one?";
    throw Error(fmt::format("has more than {} bytes, the most that is read of a {} here", most,
                            regular ? "file" : "pipe or device"),
                advice, {path, 0});
}

/// Refuses text behind a zero byte. Some programs end a text file with zeros.
void expect_text(const std::string& path, const std::string& content, std::size_t& zero, std::size_t from) {
    if (zero == std::string::npos) zero = content.find('\0', from);
    if (zero == std::string::npos) return;
    const std::size_t behind =
        content.find_first_not_of(std::string_view("\0 \t\r\n", 5), std::max(zero, from));
    if (behind == std::string::npos) return;
    const auto lines = std::count(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
    throw Error("a zero byte with more behind it, so this is no text file", "is it the right file?",
                {path, static_cast<int>(std::min<std::ptrdiff_t>(lines, 1 << 30)) + 1});
}

}  // namespace

std::string read_input(const std::string& path, const InputLimits& limits) {
    const Descriptor file(path);
    if (file.number() < 0) cannot_read(path, errno);
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) cannot_read(path, errno);
    if (S_ISDIR(status.st_mode)) throw Error("is a directory", "name a file", {path, 0});
    const bool regular = S_ISREG(status.st_mode);
    const std::uint64_t limit = regular ? limits.file_bytes : limits.stream_bytes;
    const std::uint64_t most = std::min(limit, memory_bytes() / 2);
    const auto size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
    if (regular && size > most) too_large(path, regular, most, most < limit);
    std::string content;
    std::size_t zero = std::string::npos;
    // Some regular files, such as those in /proc, do not say their size.
    if (regular) content.reserve(size + 1);
    for (std::size_t done = 0;;) {
        content.resize(done + (size > 0 ? std::min<std::size_t>(piece_bytes, size + 1) : piece_bytes));
        const ssize_t count = ::read(file.number(), content.data() + done, content.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) cannot_read(path, errno);
        content.resize(done + static_cast<std::size_t>(count));
        if (count == 0) return content;
        if (content.size() > most) too_large(path, regular, most, most < limit);
        if (limits.text) expect_text(path, content, zero, done);
        done = content.size();
    }
}

}  // namespace heddle
