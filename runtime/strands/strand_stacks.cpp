// Makes the stacks of strands in slabs, and keeps the free ones.
#include "runtime/strands/strand_stacks.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/lost_fibers.hpp"
#include "runtime/strands/strand.hpp"

namespace heddle::runtime {

namespace {

constexpr std::uint32_t first_slab = 4;  // most nodes of a small run have a few strands
constexpr std::uint32_t largest_slab = 512;

std::size_t page() {
    static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

}  // namespace

StrandStacks::Slab::Slab(std::uint32_t count, std::size_t stack_bytes) : guards_(count), stacks_(count) {
    const std::size_t guard = guards_.granted() ? page() : 0;
    // The tops of stacks that lie a power of two apart would share a few cache sets.
    const std::size_t distance = stack_bytes + page();
    bytes_ = count * distance;
    void* const memory =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw Error(fmt::format("no address space for {} stacks of {} bytes for strands: {}", count,
                                stack_bytes, std::strerror(errno)),
                    "lower schedule.strand_stack");
    }
    memory_ = static_cast<char*>(memory);
    // A huge page would commit two megabytes for a few stacks.
    ::madvise(memory_, bytes_, MADV_NOHUGEPAGE);
    if (guard != 0) {
        guard_.emplace(StackGuard::Stacks{memory_, distance, guard, count, stack_bytes, "a strand",
                                          "schedule.strand_stack"});
    }
    constexpr std::size_t line = 64;
    for (std::uint32_t i = 0; i < count; ++i) {
        char* const begin = memory_ + i * distance;
        StrandStack& stack = stacks_[i];
        stack.memory.size = distance - guard - i % 16 * line;
        stack.memory.sp = begin + guard + stack.memory.size;
        stack.notes.lies_at(begin + guard, stack.memory.size);
        stack.next = i + 1 < count ? &stacks_[i + 1] : nullptr;
        // Shared pages and libraries take from the same limit of mappings, so the system may refuse a guard.
        if (guard == 0 || ::mprotect(begin, guard, PROT_NONE) != 0) {
            stack.mark = reinterpret_cast<std::uint64_t*>(begin + guard);
            *stack.mark = StrandStacks::mark;
        }
    }
}

StrandStacks::Slab::~Slab() {
    guard_.reset();
    stacks_.clear();
    if (!memory_) return;
    FiberNotes::clear(memory_, bytes_);
    ::munmap(memory_, bytes_);
}

StrandStacks::StrandStacks(std::uint64_t stack_bytes)
    : stack_bytes_((stack_bytes + page() - 1) / page() * page()) {}

StrandStacks::~StrandStacks() {
    unwind();
}

void StrandStacks::unwind() {
    for (const auto& slab : slabs_) {
        for (StrandStack& stack : slab->stacks()) {
            // A strand that ran when its worker was unwound has no rest.
            const bool in_place = stack.strand && stack.strand->in_place_;
            if (stack.strand) {
                stack.idle = std::move(stack.strand->rest_);
                stack.strand = nullptr;  // it may go before its stack
            }
            if (!stack.idle) continue;
            if (in_place) {
                // No exception can pass an instruction that is not a call, so what lies on the stack is lost.
                lose(std::move(stack.idle));
                continue;
            }
            stack.notes.before_resume();
            stack.idle = {};
            stack.notes.after_unwind();
        }
    }
}

StrandStack* StrandStacks::take(std::uint32_t most) {
    if (StrandStack* const chain = take_free(most)) return chain;
    const std::uint32_t doublings = made_.fetch_add(1, std::memory_order_relaxed);
    const std::uint32_t count = std::min(largest_slab, first_slab << std::min(doublings, 16U));
    auto slab = std::make_unique<Slab>(count, stack_bytes_);  // not under the lock: it takes long
    StrandStack* const chain = slab->stacks().data();
    StrandStack* last = chain;
    for (std::uint32_t taken = 1; taken < most && last->next; ++taken) last = last->next;
    StrandStack* const rest = std::exchange(last->next, nullptr);
    {
        const SpinLock::Guard guard(lock_);
        slabs_.push_back(std::move(slab));
    }
    if (rest) give_back(rest);
    return chain;
}

StrandStack* StrandStacks::take_free(std::uint32_t most) {
    const SpinLock::Guard guard(lock_);
    StrandStack* const chain = free_;
    if (!chain) return nullptr;
    StrandStack* last = chain;
    for (std::uint32_t taken = 1; taken < most && last->next; ++taken) last = last->next;
    free_ = std::exchange(last->next, nullptr);
    return chain;
}

void StrandStacks::give_back(StrandStack* chain) {
    StrandStack* last = chain;
    while (last->next) last = last->next;
    const SpinLock::Guard guard(lock_);
    last->next = std::exchange(free_, chain);
}

void StrandStacks::refuse_overflow() const {
    throw Error(fmt::format("a strand needed more than its stack of {} bytes", stack_bytes_),
                "raise schedule.strand_stack");
}

}  // namespace heddle::runtime
