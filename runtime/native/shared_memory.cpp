// Makes memory that two processes of one machine share for their messages, and maps it in both. The process
// that opens it checks its size, and that it is the memory that the other process made.
#include "runtime/native/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::native {

namespace {

using host::Descriptor;
using host::error_text;

/// In front of the rings.
struct Front {
    SharedMemory::Token token;
    RingControl controls[2];
};

constexpr std::size_t front_bytes = 4096;
static_assert(sizeof(Front) <= front_bytes);

std::size_t bytes_of(std::size_t ring_bytes) {
    return front_bytes + 2 * ring_bytes;
}

Front& front_of(std::span<std::byte> all) {
    return *std::launder(reinterpret_cast<Front*>(all.data()));
}

constexpr std::size_t ring_bytes_max = 1 << 30;
constexpr std::size_t populated_bytes_min = 1 << 20;

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

SharedMemory::SharedMemory(Descriptor file, std::size_t ring_bytes)
    : file_(std::move(file)), ring_bytes_(ring_bytes) {
    HEDDLE_ASSERT(std::has_single_bit(ring_bytes) && ring_bytes >= front_bytes);
    const std::size_t size = bytes_of(ring_bytes);
    // A machine of few processes has large rings, whose pages would be taken one by one in the first
    // messages.
    const int populated = ring_bytes >= populated_bytes_min ? MAP_POPULATE : 0;
    void* const begin = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | populated, file_.get(), 0);
    if (begin == MAP_FAILED) throw Error(fmt::format("cannot map shared memory: {}", error_text(errno)));
    all_ = {static_cast<std::byte*>(begin), size};
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : file_(std::move(other.file_)), ring_bytes_(other.ring_bytes_), all_(std::exchange(other.all_, {})) {}

SharedMemory::~SharedMemory() {
    if (!all_.empty()) munmap(all_.data(), all_.size());
}

SharedMemory SharedMemory::make(std::size_t ring_bytes) {
    Descriptor file(memfd_create("heddle-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file || ftruncate(file.get(), static_cast<off_t>(bytes_of(ring_bytes))) ||
        fcntl(file.get(), F_ADD_SEALS, seals))
        throw Error(fmt::format("cannot make shared memory: {}", error_text(errno)));
    SharedMemory memory(std::move(file), ring_bytes);
    Front& front = *new (memory.all_.data()) Front{};
    randombytes_buf(front.token.data(), front.token.size());
    return memory;
}

SharedMemory SharedMemory::open(Descriptor file, std::size_t ring_bytes, const Token& token) {
    struct stat status {};
    if (!file || fstat(file.get(), &status))
        throw Error(fmt::format("cannot open shared memory: {}", error_text(errno)));
    const bool fits =
        std::has_single_bit(ring_bytes) && ring_bytes >= front_bytes && ring_bytes <= ring_bytes_max;
    if (!fits || (fcntl(file.get(), F_GET_SEALS) & seals) != seals ||
        status.st_size != static_cast<off_t>(bytes_of(ring_bytes)))
        throw Error("the shared memory is not what was offered");
    SharedMemory memory(std::move(file), ring_bytes);
    if (sodium_memcmp(front_of(memory.all_).token.data(), token.data(), token.size()) != 0)
        throw Error("the shared memory is not the one that was offered");
    return memory;
}

SharedMemory::Token SharedMemory::token() const {
    return front_of(all_).token;
}

RingControl& SharedMemory::control(std::size_t direction) const {
    return front_of(all_).controls[direction];
}

std::span<std::byte> SharedMemory::ring(std::size_t direction) const {
    return all_.subspan(front_bytes + direction * ring_bytes_, ring_bytes_);
}

}  // namespace heddle::native
