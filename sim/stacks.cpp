// Reserves address space for simulated workers' stacks, protects guard pages, and hands stacks out.
#include "sim/stacks.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/fiber_notes.hpp"

namespace heddle::sim {

namespace {

constexpr std::uint64_t smallest = 16U << 10;

}  // namespace

Stacks::Stacks(std::uint64_t count, std::uint64_t stack_bytes)
    : count_(count), page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))), guard_pages_(count) {
    if (stack_bytes < smallest) {
        throw Error(fmt::format("stacks of {} bytes", stack_bytes), "a worker needs at least 16 KiB");
    }
    stack_bytes_ = (stack_bytes + page_ - 1) / page_ * page_;
    guard_ = guard_pages_.granted() ? page_ : 0;
    distance_ = stack_bytes_ + guard_;
    if (count == 0) return;
    void* const memory = ::mmap(nullptr, count * distance_, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw Error(fmt::format("no address space for {} stacks of {} bytes: {}", count_, stack_bytes_,
                                std::strerror(errno)),
                    "lower schedule.stack");
    }
    memory_ = static_cast<char*>(memory);
    if (guard_ > 0)
        guards_.emplace(StackGuard::Stacks{memory_, distance_, guard_, count, stack_bytes_, "worker "});
    // A huge page would commit two megabytes for every worker.
    ::madvise(memory_, count * distance_, MADV_NOHUGEPAGE);
}

Stacks::~Stacks() {
    if (memory_ == nullptr) return;
    FiberNotes::clear(memory_, count_ * distance_);
    ::munmap(memory_, count_ * distance_);
}

boost::context::stack_context Stacks::next() {
    HEDDLE_ASSERT(used_ < count_);
    char* const begin = memory_ + used_++ * distance_;
    if (guard_ != 0) ::mprotect(begin, guard_, PROT_NONE);
    boost::context::stack_context stack;
    stack.size = stack_bytes_;
    stack.sp = begin + distance_;  // stacks grow down from here
    return stack;
}

}  // namespace heddle::sim
