// Installs the signal handlers for memory faults and asks the registered handlers in turn. A fault that none
// of them knows goes to the handler that was installed before.
#include "base/memory_faults.hpp"

#include <signal.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cstddef>

#include "base/assert.hpp"
#include "base/fault_syndrome.hpp"

namespace heddle {

namespace {

std::array<std::atomic<MemoryFaults::Handler>, 4> handlers{};

/// What is known of one of the two signals.
struct Known {
    struct sigaction before {};  ///< written while `replaced` is false
    std::atomic<bool> replaced{false};
    std::atomic<bool> own_stack{false};
    std::atomic<bool> handing_on{false};
};
Known of_segv;
Known of_bus;

Known& known(int signal) {
    return signal == SIGBUS ? of_bus : of_segv;
}

std::optional<bool> is_write([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
    constexpr unsigned write_access = 2;  // of the page fault's error code
    const auto error = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR];
    return (static_cast<unsigned>(error) & write_access) != 0;
#elif defined(__aarch64__)
    const auto& records = static_cast<const ucontext_t*>(context)->uc_mcontext.__reserved;
    return write_in_syndrome(std::as_bytes(std::span(records)));
#else
    return std::nullopt;
#endif
}

/// Once more, with the default action.
void give_up(int signal) {
    struct sigaction initial {};
    initial.sa_handler = SIG_DFL;
    ::sigaction(signal, &initial, nullptr);
}

/// ThreadSanitizer blocks all signals while a handler runs. But a strand may wait in this one, and another
/// one that its thread runs meanwhile may fault too.
void unblock() {
#if defined(__SANITIZE_THREAD__)
    sigset_t faults;
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    ::sigprocmask(SIG_UNBLOCK, &faults, nullptr);
#endif
}

void on_signal(int signal, siginfo_t* info, void* context) {
    unblock();
    const MemoryFault fault{reinterpret_cast<std::uintptr_t>(info->si_addr), is_write(context)};
    for (const auto& each : handlers) {
        const MemoryFaults::Handler handler = each.load(std::memory_order_acquire);
        if (handler != nullptr && handler(fault)) return;
    }
    // A library whose handler hands on to this one, as this one does to that, comes back here.
    Known& own = known(signal);
    const bool replaced = own.replaced.load(std::memory_order_acquire);
    if (!replaced || own.handing_on.exchange(true, std::memory_order_acq_rel)) return give_up(signal);
    if ((own.before.sa_flags & SA_SIGINFO) != 0 && own.before.sa_sigaction != nullptr) {
        own.before.sa_sigaction(signal, info, context);
        own.handing_on.store(false, std::memory_order_release);
    } else {
        give_up(signal);
    }
}

bool is_ours(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_signal;
}

}  // namespace

void MemoryFaults::ask(Handler handler) {
    for (auto& each : handlers) {
        Handler present = nullptr;
        if (each.compare_exchange_strong(present, handler, std::memory_order_acq_rel) || present == handler)
            return;
    }
    HEDDLE_ASSERT(false);
}

void MemoryFaults::handle(int signal, Stack stack) {
    Known& own = known(signal);
    if (stack == Stack::own) own.own_stack.store(true, std::memory_order_relaxed);
    const bool own_stack = own.own_stack.load(std::memory_order_relaxed);
    struct sigaction present {};
    ::sigaction(signal, nullptr, &present);
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    // A handler that has switched to another stack does not return for long: the signal stays unblocked.
    action.sa_flags = SA_SIGINFO | SA_NODEFER | (own_stack ? 0 : SA_ONSTACK);
    if (is_ours(present) && (present.sa_flags & SA_ONSTACK) == (action.sa_flags & SA_ONSTACK)) return;
    if (!is_ours(present) && !own.replaced.load(std::memory_order_relaxed)) {
        own.before = present;
        own.replaced.store(true, std::memory_order_release);
    }
    ::sigaction(signal, &action, nullptr);
}

}  // namespace heddle
