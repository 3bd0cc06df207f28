// Maps the address of a memory fault to the shared-memory view that it belongs to, for the process's fault
// handler.
#pragma once

#include <cstddef>

#include "memory/memory_view.hpp"
#include "runtime/memory_view.hpp"

namespace heddle::memory {

/// A range of addresses, and what its faults come to.
struct Watched {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
    runtime::FaultHandler* handler = nullptr;
    const Running* running = nullptr;
};

/// While it lives, faults in the range come to its handler.
class WatchedRange {
public:
    explicit WatchedRange(const Watched& watched);
    ~WatchedRange();
    WatchedRange(const WatchedRange&) = delete;
    WatchedRange& operator=(const WatchedRange&) = delete;

private:
    const std::byte* begin_;
};

}  // namespace heddle::memory
