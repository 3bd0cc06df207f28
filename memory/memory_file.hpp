// The anonymous memory file that all shared-memory views of the process map parts of. There is a single one,
// because a process may open few files and simulate thousands of nodes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::memory {

/// A part of the file, mapped twice. Memory is taken page by page as it is touched.
class MappedTwice {
public:
    /// `bytes`: a multiple of the machine's page. Throws Error if the system refuses.
    explicit MappedTwice(std::size_t bytes);
    ~MappedTwice();
    MappedTwice(const MappedTwice&) = delete;
    MappedTwice& operator=(const MappedTwice&) = delete;

    std::byte* program() const { return program_; }
    std::byte* contents() const { return contents_; }

    /// Gives the memory of a part back. Later it is zero. Throws Error if the system refuses.
    void free(std::size_t offset, std::size_t bytes);

private:
    void unmap();

    std::size_t bytes_;
    std::uint64_t begin_;  ///< in the file
    std::byte* program_ = nullptr;
    std::byte* contents_ = nullptr;
};

}  // namespace heddle::memory
