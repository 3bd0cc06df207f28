// A node's own pages of the shared memory, as plain memory: accesses without permission are not noticed, so
// programs say what they will touch (SharedMemory::touch).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "runtime/backend.hpp"

namespace heddle::dsm {

enum class Access : std::uint8_t { none, read, write };

/// How an access without permission is noticed.
enum class Trigger : std::uint8_t {
    automatic,
    userfaultfd,
    mprotect,
    checked,  ///< not by hardware: pages are plain memory
};

struct ViewOptions {
    std::size_t bytes = 0;
    std::size_t page_bytes = 4096;
    Trigger trigger = Trigger::automatic;
};

/// Called on the faulting thread of control, on its own stack, in the middle of an instruction of the
/// program. When it returns the instruction runs again.
class FaultHandler {
public:
    virtual void on_fault(runtime::Context& context, std::size_t offset, bool write) = 0;

protected:
    ~FaultHandler() = default;
};

/// Pages begin as `none`, full of zeros. Data of different nodes are separate memory in every world.
class MemoryView {
public:
    MemoryView(const ViewOptions& options, std::byte* begin) : options_(options), begin_(begin) {}
    virtual ~MemoryView() = default;
    MemoryView(const MemoryView&) = delete;
    MemoryView& operator=(const MemoryView&) = delete;

    /// Where the program reads and writes.
    std::byte* begin() const { return begin_; }
    std::size_t bytes() const { return options_.bytes; }
    std::size_t page_bytes() const { return options_.page_bytes; }
    std::size_t pages() const { return options_.bytes / options_.page_bytes; }
    Trigger trigger() const { return options_.trigger; }

    /// The same memory by an address that may be read and written whatever the access is: for the protocol.
    std::span<std::byte> contents(std::size_t page) { return {begin_ + page * page_bytes(), page_bytes()}; }
    virtual void set_access(std::size_t first, std::size_t count, Access access) = 0;
    /// Puts contents in place and then gives access. The page's access is none.
    void fill(std::size_t page, std::span<const std::byte> from, Access access) {
        std::memcpy(contents(page).data(), from.data(), from.size());
        set_access(page, 1, access);
    }

private:
    ViewOptions options_;
    std::byte* begin_;
};

class PlainView final : public MemoryView {
public:
    explicit PlainView(ViewOptions options)
        : PlainView(options, static_cast<std::byte*>(std::calloc(options.bytes, 1))) {}
    void set_access(std::size_t /*first*/, std::size_t /*count*/, Access /*access*/) override {}

private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };

    PlainView(ViewOptions options, std::byte* memory)
        : MemoryView(checked(options), memory), memory_(memory) {
        if (!memory) throw std::bad_alloc();
    }
    static ViewOptions checked(ViewOptions options) {
        options.trigger = Trigger::checked;
        return options;
    }

    std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace heddle::dsm
