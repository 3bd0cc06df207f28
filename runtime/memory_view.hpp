// A node's own pages of a range that programs share. If the program accesses a page in a way that it does not
// permit, a handler fetches what is missing. The protocol above decides what is fetched from where.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/ids.hpp"

namespace heddle::runtime {

struct Context;

/// What a page permits.
enum class Access : std::uint8_t { none, read, write };

/// How an access that its page does not permit is noticed.
enum class Trigger : std::uint8_t {
    automatic,    ///< the first of the next two that the system permits
    userfaultfd,  ///< Linux's, in its SIGBUS mode
    mprotect,     ///< with SIGSEGV. A process may have some 32,000 pages that differ from their neighbours
    checked,      ///< not at all: every access is permitted, and programs declare what they access
};

struct ViewOptions {
    std::size_t bytes = 0;          ///< a multiple of page_bytes
    std::size_t page_bytes = 4096;  ///< a multiple of the machine's own page
    Trigger trigger = Trigger::automatic;
};

/// What an access that is not permitted comes to.
class FaultHandler {
public:
    virtual ~FaultHandler() = default;

    /// Called on the worker that accesses, on the stack that it runs on, in the middle of an instruction of
    /// the program. When it returns, the instruction is tried again. It may switch to another stack
    /// meanwhile, but comes back on the same worker. `offset`: in the page that is accessed. `write`: the
    /// page's access must become `write`, not only `read`. If the processor does not tell, it is nothing: a
    /// page that permits reading must then permit writing, or its first write faults for ever. Throws
    /// nothing.
    virtual void on_fault(Context& context, std::size_t offset, std::optional<bool> write) = 0;
};

/// Memory of its own for each node, also of nodes that share a process. Any thread may call it; calls for one
/// page are made one at a time.
class MemoryView {
public:
    virtual ~MemoryView() = default;
    MemoryView(const MemoryView&) = delete;
    MemoryView& operator=(const MemoryView&) = delete;

    /// Where the program reads and writes. At first no page permits anything, and all bytes are zero.
    std::byte* begin() const { return begin_; }
    std::size_t bytes() const { return bytes_; }
    std::size_t page_bytes() const { return page_bytes_; }
    std::size_t pages() const { return bytes_ / page_bytes_; }
    /// Never `automatic`.
    Trigger trigger() const { return trigger_; }

    /// The same memory by another address, where everything may be read and written at any time. For the
    /// code that moves pages, not for programs.
    std::span<std::byte> contents(std::size_t page) const {
        return {contents_ + page * page_bytes_, page_bytes_};
    }

    /// From now on these pages permit that. What was written before by threads that were permitted is in
    /// `contents` when it returns, and later writes are not permitted. Contents stay, also with `none`.
    /// `before`: what they all permit until now, if the caller knows; that saves a system call. A fault on a
    /// page that permits the access means that the system has unmapped it: call this without `before` again.
    /// Throws Error if the system refuses.
    virtual void set_access(std::size_t first, std::size_t count, Access access,
                            std::optional<Access> before = std::nullopt) = 0;

    /// Pages permit nothing, are full of zeros, and take no memory. Throws Error if the system refuses.
    virtual void discard(std::size_t first, std::size_t count) = 0;

    /// Puts bytes into a page that permits nothing, and then permits `access`: other threads see all of them,
    /// or wait in a fault.
    void fill(std::size_t page, std::span<const std::byte> bytes, Access access) {
        std::copy(bytes.begin(), bytes.end(), contents(page).begin());
        set_access(page, 1, access, Access::none);
    }

protected:
    MemoryView(const ViewOptions& options, std::byte* begin, std::byte* contents, Trigger trigger)
        : begin_(begin),
          contents_(contents),
          bytes_(options.bytes),
          page_bytes_(options.page_bytes),
          trigger_(trigger) {}

private:
    std::byte* begin_;
    std::byte* contents_;
    std::size_t bytes_;
    std::size_t page_bytes_;
    Trigger trigger_;
};

}  // namespace heddle::runtime
