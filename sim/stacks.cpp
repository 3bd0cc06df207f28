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

/// Huge pages are committed whole, so they are for so much memory at most.
constexpr std::uint64_t huge_bytes_max = 256U << 20;

constexpr std::uint64_t mark = 0x6c656464696e6821;

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
    large_ = reserve_memory(count * distance_);
    if (guard_ > 0)
        guards_.emplace(StackGuard::Stacks{large_, distance_, guard_, count, stack_bytes_, "worker "});
    // A huge page would commit two megabytes for every worker.
    ::madvise(large_, count * distance_, MADV_NOHUGEPAGE);
    const std::size_t bytes = count * small_distance;
    small_ = reserve_memory(bytes);
    ::madvise(small_, bytes, bytes <= huge_bytes_max ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

char* Stacks::reserve_memory(std::size_t bytes) const {
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw Error(fmt::format("no address space for {} stacks of {} bytes: {}", count_, stack_bytes_,
                                std::strerror(errno)),
                    "lower schedule.stack");
    }
    return static_cast<char*>(memory);
}

Stacks::~Stacks() {
    const auto free = [](char* memory, std::size_t bytes) {
        if (memory == nullptr) return;
        FiberNotes::clear(memory, bytes);
        ::munmap(memory, bytes);
    };
    free(large_, count_ * distance_);
    free(small_, count_ * small_distance);
}

boost::context::stack_context Stacks::next_large() {
    const std::uint64_t number = large_used_.fetch_add(1, std::memory_order_relaxed);
    HEDDLE_ASSERT(number < count_);
    char* const begin = large_ + number * distance_;
    if (guard_ != 0) ::mprotect(begin, guard_, PROT_NONE);
    boost::context::stack_context stack;
    stack.size = stack_bytes_;
    stack.sp = begin + distance_;  // stacks grow down from here
    return stack;
}

boost::context::stack_context Stacks::next_small() {
    HEDDLE_ASSERT(small_ != nullptr && small_used_ < count_);
    *mark_below(small_used_) = mark;
    boost::context::stack_context stack;
    stack.size = small_bytes;
    stack.sp = small_ + ++small_used_ * small_distance;
    return stack;
}

bool Stacks::small_ones_held() const {
    for (std::uint64_t i = 0; i < small_used_; ++i)
        if (*mark_below(i) != mark) return false;
    return true;
}

}  // namespace heddle::sim
