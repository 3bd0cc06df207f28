// Keeps the ranges in the order of their addresses, and looks one up in the signal handler.
#include "memory/fault_registry.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/memory_faults.hpp"
#include "base/relax.hpp"
#include "runtime/backend.hpp"

namespace heddle::memory {

namespace {

/// Held for some instructions, in which its holder accesses no watched memory. So a signal handler may wait
/// for it.
class Lock {
public:
    Lock() {
        for (Patience patience; taken().exchange(true, std::memory_order_acquire); patience.wait()) {
        }
    }
    ~Lock() { taken().store(false, std::memory_order_release); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    static std::atomic<bool>& taken() {
        static std::atomic<bool> flag{false};
        return flag;
    }
};

/// Never destroyed, because a fault may come until the process ends.
std::vector<Watched>& all() {
    static auto& list = *new std::vector<Watched>;
    return list;
}

auto first_after(const std::byte* address) {
    return std::ranges::upper_bound(all(), address, {}, &Watched::begin);
}

std::optional<Watched> find(const std::byte* address) {
    const Lock lock;
    const auto after = first_after(address);
    if (after == all().begin()) return std::nullopt;
    const Watched& watched = *(after - 1);
    if (address >= watched.begin + watched.bytes) return std::nullopt;
    return watched;
}

// Not inlined: the compiler may keep the address of errno, and the handler may have been on another thread's
// stack in between.
[[gnu::noinline]] int own_errno() {
    return errno;
}
[[gnu::noinline]] void set_errno(int value) {
    errno = value;
}

bool on_fault(const MemoryFault& fault) {
    const auto* const address = reinterpret_cast<const std::byte*>(fault.address);
    const auto watched = find(address);
    if (!watched) return false;
    runtime::Context* const context = (*watched->running)();
    if (!context) return false;  // no worker of that node accesses it
    const int before = own_errno();
    ++context->faults;
    watched->handler->on_fault(*context, static_cast<std::size_t>(address - watched->begin), fault.write);
    --context->faults;
    set_errno(before);
    return true;
}

}  // namespace

WatchedRange::WatchedRange(const Watched& watched) : begin_(watched.begin) {
    MemoryFaults::ask(on_fault);
    const Lock lock;
    all().insert(first_after(watched.begin), watched);
}

WatchedRange::~WatchedRange() {
    const Lock lock;
    all().erase(std::ranges::lower_bound(all(), begin_, {}, &Watched::begin));
}

}  // namespace heddle::memory
