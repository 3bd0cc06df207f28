// Handles the signal of a write to a guard page: prints whose stack is full and ends the process. The handler
// allocates nothing, because it runs in the middle of other code.
#include "base/stack_guard.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/memory_faults.hpp"

namespace heddle {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

StackGuard::StackGuard(Stacks stacks) : stacks_(std::move(stacks)) {}
StackGuard::~StackGuard() = default;
SignalStack::SignalStack() = default;
SignalStack::~SignalStack() = default;

#else

namespace {

constexpr std::size_t signal_stack_bytes = std::size_t{64} << 10;

/// All guarded stacks. Where there are more, the last ones end with a bare signal.
constexpr std::size_t guards_max = 1024;
std::array<std::atomic<const StackGuard::Stacks*>, guards_max> guards{};

/// A line put together without an allocation.
class Line {
public:
    void add(std::string_view text) {
        const std::size_t count = std::min(text.size(), text_.size() - size_);
        std::memcpy(text_.data() + size_, text.data(), count);
        size_ += count;
    }
    void add(std::uint64_t number) {
        std::array<char, 20> digits{};
        std::size_t at = digits.size();
        do {
            digits[--at] = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number != 0);
        add(std::string_view(digits.data() + at, digits.size() - at));
    }
    void write_to(int file) const {
        [[maybe_unused]] const auto written = ::write(file, text_.data(), size_);
    }

private:
    std::array<char, 256> text_{};
    std::size_t size_ = 0;
};

[[noreturn]] void end_process(const StackGuard::Stacks& stacks, std::uint64_t number) {
    Line line;
    line.add("heddle: the stack of ");
    line.add(stacks.owner);
    if (std::string_view(stacks.owner).ends_with(' ')) line.add(number);
    line.add(", ");
    constexpr std::uint64_t kibibyte = 1024;
    line.add(stacks.bytes / kibibyte);
    line.add(" KiB, is full; raise ");
    line.add(stacks.setting);
    line.add("\n");
    line.write_to(STDERR_FILENO);
    constexpr int callers_mistake = 2;
    ::_exit(callers_mistake);
}

bool on_fault(const MemoryFault& fault) {
    for (const auto& guard : guards) {
        const StackGuard::Stacks* const stacks = guard.load(std::memory_order_acquire);
        if (stacks == nullptr) continue;
        const auto begin = reinterpret_cast<std::uintptr_t>(stacks->begin);
        if (fault.address < begin || fault.address >= begin + stacks->count * stacks->distance) continue;
        if ((fault.address - begin) % stacks->distance < stacks->guard)
            end_process(*stacks, (fault.address - begin) / stacks->distance);
    }
    return false;
}

}  // namespace

StackGuard::StackGuard(Stacks stacks) : stacks_(std::move(stacks)) {
    for (auto& guard : guards) {
        const Stacks* none = nullptr;
        if (guard.compare_exchange_strong(none, &stacks_, std::memory_order_acq_rel)) return;
    }
}

StackGuard::~StackGuard() {
    for (auto& guard : guards) {
        const Stacks* own = &stacks_;
        if (guard.compare_exchange_strong(own, nullptr, std::memory_order_acq_rel)) return;
    }
}

SignalStack::SignalStack() {
    void* const memory = ::mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;  // then a full stack ends with a bare signal
    memory_ = memory;
    stack_t stack{};
    stack.ss_sp = memory_;
    stack.ss_size = signal_stack_bytes;
    ::sigaltstack(&stack, nullptr);
    MemoryFaults::ask(on_fault);
    MemoryFaults::handle(SIGSEGV, MemoryFaults::Stack::of_the_thread);
    MemoryFaults::handle(SIGBUS, MemoryFaults::Stack::of_the_thread);
}

SignalStack::~SignalStack() {
    if (memory_ == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
    ::munmap(memory_, signal_stack_bytes);
}

#endif

}  // namespace heddle
