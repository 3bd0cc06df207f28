// Gives the text of an input to readers that take a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace heddle::fuzz {

/// A file in memory, with a path as long as the object lives.
class InputFile {
public:
    explicit InputFile(std::string_view text) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
        if (descriptor_ < 0) std::abort();
        for (std::string_view left = text; !left.empty();) {
            const auto count = write(descriptor_, left.data(), left.size());
            if (count <= 0) std::abort();
            left.remove_prefix(static_cast<std::size_t>(count));
        }
        if (lseek(descriptor_, 0, SEEK_SET) != 0) std::abort();
    }
    ~InputFile() { close(descriptor_); }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    int descriptor() const { return descriptor_; }
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
    int descriptor_;
};

}  // namespace heddle::fuzz
