// Memory that two processes of one machine share: two rings of bytes, one for each direction. It has no name
// in any directory, so only a process that gets its descriptor can open it. The system frees it when both
// processes have ended, however they end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "host/descriptor.hpp"
#include "runtime/native/ring.hpp"

namespace heddle::native {

class SharedMemory {
public:
    /// A random number in the memory, by which the peer knows that it has opened the right one.
    using Token = std::array<unsigned char, 32>;

    /// New memory for two rings of `ring_bytes` (a power of two, at least a page). Throws Error if the system
    /// has none.
    static SharedMemory make(std::size_t ring_bytes);

    /// The same memory in the peer. Throws Error if it has another size, another token, or if the peer could
    /// make it smaller, which would end a process that reads it.
    static SharedMemory open(host::Descriptor file, std::size_t ring_bytes, const Token& token);

    SharedMemory(SharedMemory&& other) noexcept;
    SharedMemory& operator=(SharedMemory&&) = delete;
    ~SharedMemory();

    const host::Descriptor& file() const { return file_; }

    /// The mapping remains.
    void close_file() { file_.reset(); }
    Token token() const;

    /// `direction`: 0 from the maker to the opener, 1 back.
    RingControl& control(std::size_t direction) const;
    std::span<std::byte> ring(std::size_t direction) const;

private:
    SharedMemory(host::Descriptor file, std::size_t ring_bytes);

    host::Descriptor file_;
    std::size_t ring_bytes_;
    std::span<std::byte> all_;
};

}  // namespace heddle::native
