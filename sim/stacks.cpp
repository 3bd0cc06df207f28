#include "sim/stacks.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::sim {

namespace {

/// Each guard page splits a mapping in two, and Linux allows a process 65,530 of them.
constexpr std::uint64_t guards_max = 28000;

constexpr std::uint64_t smallest = 16U << 10;

}  // namespace

Stacks::Stacks(std::uint64_t count, std::uint64_t stack_bytes) : count_(count) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    if (stack_bytes < smallest) {
        throw Error(fmt::format("stacks of {} bytes", stack_bytes), "a worker needs at least 16 KiB");
    }
    stack_bytes_ = (stack_bytes + page - 1) / page * page;
    const bool guarded = count <= guards_max;
    distance_ = stack_bytes_ + (guarded ? page : 0);
    if (count == 0) return;
    void* memory = ::mmap(nullptr, count * distance_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw Error(fmt::format("no address space for {} stacks of {} bytes: {}", count, stack_bytes,
                                std::strerror(errno)),
                    "lower schedule.stack");
    }
    begin_ = static_cast<char*>(memory);
    // A huge page would commit two megabytes for every worker.
    ::madvise(memory, count * distance_, MADV_NOHUGEPAGE);
    for (std::uint64_t i = 0; guarded && i < count; ++i) ::mprotect(begin_ + i * distance_, page, PROT_NONE);
}

Stacks::~Stacks() {
    if (begin_ != nullptr) ::munmap(begin_, count_ * distance_);
}

boost::context::stack_context Stacks::next() {
    HEDDLE_ASSERT(used_ < count_);
    boost::context::stack_context stack;
    stack.size = stack_bytes_;
    stack.sp = begin_ + ++used_ * distance_;  // stacks grow down from here
    return stack;
}

}  // namespace heddle::sim
