// Counts the guard pages of a process. A guard page splits a mapping in two, and Linux allows a process
// 65,530 mappings, so stacks beyond some number have none. It protects no memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle {

/// Some guard pages, for as long as the object lives: as many as were asked for, or none.
class GuardPages {
public:
    explicit GuardPages(std::uint64_t wanted) {
        if (used().fetch_add(wanted, std::memory_order_relaxed) + wanted <= most) {
            count_ = wanted;
        } else {
            used().fetch_sub(wanted, std::memory_order_relaxed);
        }
    }
    ~GuardPages() { used().fetch_sub(count_, std::memory_order_relaxed); }
    GuardPages(const GuardPages&) = delete;
    GuardPages& operator=(const GuardPages&) = delete;

    bool granted() const { return count_ != 0; }

    static constexpr std::uint64_t most = 30000;

private:
    static std::atomic<std::uint64_t>& used() {
        static std::atomic<std::uint64_t> pages{0};
        return pages;
    }

    std::uint64_t count_ = 0;
};

}  // namespace heddle
