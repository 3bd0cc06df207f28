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

/// Of the page in which a stack begins, as much is for what lies beside it.
constexpr std::size_t beside_in_page = 1U << 10;

}  // namespace

Stacks::Stacks(std::uint64_t count, std::uint64_t stack_bytes, std::uint64_t beside_bytes)
    : count_(count), page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))), guard_pages_(count) {
    if (stack_bytes < smallest) {
        throw Error(fmt::format("stacks of {} bytes", stack_bytes), "a worker needs at least 16 KiB");
    }
    const auto whole_pages = [this](std::uint64_t bytes) { return (bytes + page_ - 1) / page_ * page_; };
    stack_bytes_ = whole_pages(stack_bytes);
    beside_bytes_ = whole_pages(beside_bytes);
    guard_ = guard_pages_.granted() ? page_ : 0;
    distance_ = guard_ + stack_bytes_ + page_ + beside_bytes_;
    if (count == 0) return;
    void* const memory = ::mmap(nullptr, count * distance_, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw Error(fmt::format("no address space for {} stacks of {} bytes and deques of {}: {}", count_,
                                stack_bytes_, beside_bytes_, std::strerror(errno)),
                    "lower schedule.stack or schedule.deque_slots, or raise the limit (ulimit -v)");
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

boost::context::stack_context Stacks::stack(std::uint64_t number) {
    HEDDLE_ASSERT(number < count_);
    char* const begin = memory_ + number * distance_;
    if (guard_ != 0) ::mprotect(begin, guard_, PROT_NONE);
    boost::context::stack_context stack;
    stack.sp = top(number);  // stacks grow down from here
    stack.size = stack_bytes_;
    return stack;
}

std::span<std::byte> Stacks::beside(std::uint64_t number) const {
    HEDDLE_ASSERT(number < count_);
    return {reinterpret_cast<std::byte*>(top(number)), beside_bytes_};
}

char* Stacks::top(std::uint64_t number) const {
    return memory_ + number * distance_ + guard_ + stack_bytes_ + page_ - beside_in_page;
}

}  // namespace heddle::sim
