// Implements memory views, whose pages permit reads, writes or neither. An access that is not permitted is
// noticed by mprotect, by userfaultfd, or by checks in the program.
#include "memory/memory_view.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/memory_faults.hpp"
#include "memory/fault_registry.hpp"
#include "memory/memory_file.hpp"
#include "memory/userfaultfd.hpp"

namespace heddle::memory {

using runtime::Access;
using runtime::FaultHandler;
using runtime::MemoryView;
using runtime::Trigger;
using runtime::ViewOptions;

namespace {

/// Memory in which every access is permitted.
class CheckedView final : public MemoryView {
public:
    explicit CheckedView(const ViewOptions& options)
        : CheckedView(options, std::make_unique<MappedTwice>(options.bytes)) {}

    void set_access(std::size_t first, std::size_t count, Access /*access*/,
                    std::optional<Access> /*before*/) override {
        HEDDLE_ASSERT(first + count <= pages());
    }
    void discard(std::size_t first, std::size_t count) override {
        memory_->free(first * page_bytes(), count * page_bytes());
    }

private:
    CheckedView(const ViewOptions& options, std::unique_ptr<MappedTwice> memory)
        : MemoryView(options, memory->program(), memory->contents(), Trigger::checked),
          memory_(std::move(memory)) {}

    std::unique_ptr<MappedTwice> memory_;
};

/// Memory whose accesses the processor checks.
class WatchedView final : public MemoryView {
public:
    WatchedView(const ViewOptions& options, Trigger trigger, FaultHandler& handler, Running running)
        : WatchedView(options, trigger, std::make_unique<MappedTwice>(options.bytes), handler,
                      std::move(running)) {}

    void set_access(std::size_t first, std::size_t count, Access access,
                    std::optional<Access> before) override {
        HEDDLE_ASSERT(first + count <= pages());
        const std::size_t offset = first * page_bytes();
        const std::size_t length = count * page_bytes();
        if (trigger() == Trigger::userfaultfd) {
            // Only the machine's pages of one page always permit the same.
            const bool together = access == Access::none || before;
            const std::size_t step = together ? length : page_bytes();
            for (std::size_t at = offset; at < offset + length; at += step)
                memory::set_access(begin() + at, memory_->contents() + at, step, access, before);
            return;
        }
        const int permitted = access == Access::none   ? PROT_NONE
                              : access == Access::read ? PROT_READ
                                                       : PROT_READ | PROT_WRITE;
        if (::mprotect(begin() + offset, length, permitted) == 0) return;
        const bool mappings = errno == ENOMEM;
        throw Error(
            fmt::format("the system refuses to protect shared pages: {}",
                        std::generic_category().message(errno)),
            mappings ? "a process has few mappings; take larger pages, the trigger userfaultfd or checked, "
                       "or raise vm.max_map_count"
                     : "take the trigger checked");
    }
    void discard(std::size_t first, std::size_t count) override {
        set_access(first, count, Access::none, std::nullopt);
        memory_->free(first * page_bytes(), count * page_bytes());
    }

private:
    WatchedView(const ViewOptions& options, Trigger trigger, std::unique_ptr<MappedTwice> memory,
                FaultHandler& handler, Running running)
        : MemoryView(options, memory->program(), memory->contents(), trigger),
          memory_(std::move(memory)),
          running_(std::move(running)),
          range_({begin(), bytes(), &handler, &running_}) {
        if (trigger == Trigger::userfaultfd) {
            // Stack guards are pages that are not mapped, so their signal is another one.
            MemoryFaults::handle(SIGBUS, MemoryFaults::Stack::own);
            watch_mapping(begin(), bytes());
        } else {
            MemoryFaults::handle(SIGSEGV, MemoryFaults::Stack::own);
            set_access(0, pages(), Access::none, std::nullopt);
        }
    }

    std::unique_ptr<MappedTwice> memory_;
    Running running_;
    WatchedRange range_;
};

void expect_sizes(const ViewOptions& options) {
    const auto machine_page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    if (options.page_bytes == 0 || options.page_bytes % machine_page != 0)
        throw Error(fmt::format("a page of shared memory has {} bytes", options.page_bytes),
                    fmt::format("take a multiple of {}", machine_page));
    if (options.bytes == 0 || options.bytes % options.page_bytes != 0)
        throw Error(fmt::format("{} bytes of shared memory are not whole pages of {} bytes", options.bytes,
                                options.page_bytes));
}

}  // namespace

std::unique_ptr<MemoryView> make_view(const ViewOptions& options, FaultHandler& handler, Running running) {
    expect_sizes(options);
    Trigger trigger = options.trigger;
    if (trigger == Trigger::automatic) trigger = has_userfaultfd() ? Trigger::userfaultfd : Trigger::mprotect;
    if (trigger == Trigger::checked) return std::make_unique<CheckedView>(options);
    return std::make_unique<WatchedView>(options, trigger, handler, std::move(running));
}

}  // namespace heddle::memory
