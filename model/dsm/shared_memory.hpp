// Shared memory on nodes that share none: pages move between the nodes when the program touches them. Each
// node has an object of this class, and any model's tasks and strands use it:
//
//     auto& memory = worker.node().state<dsm::SharedMemory>();
//     const dsm::Shared<double> grid = memory.allocate<double>("grid", n * n, {.row = n});  // on every node
//     memory.seal(self);                                                   // on every node, once
//     double* const at = memory.at(grid);
//     {
//         const auto checkout = memory.touch(self, {reading(grid, 0, n), writing(grid, n, n)});
//         at[n] = at[0];
//     }
//     memory.barrier(self);                                                // on every node, once
//
// Where the trigger is a hardware one, plain loads and stores fetch their pages, and `touch` only fetches
// them earlier. Where it is `checked`, the program touches all that it reads and writes.
//
// What a read sees is the protocol's (model/dsm/protocols/).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/dsm/arrays.hpp"
#include "model/dsm/checkouts.hpp"
#include "runtime/comm/team.hpp"
#include "runtime/core/caller.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/states.hpp"
#include "runtime/memory_view.hpp"

namespace heddle::dsm {

using runtime::Access;
using runtime::Trigger;

class Pages;
class SharedMemory;

/// An array that all nodes share, by its place in the shared memory. Plain bytes, the same on every node.
template <class T>
struct Shared {
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
};

/// What a program is about to read or write.
struct Range {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    Access access = Access::read;
};

/// Elements `first` to `first + count - 1`.
template <class T>
Range reading(Shared<T> shared, std::uint64_t first, std::uint64_t count) {
    return {shared.offset + first * sizeof(T), count * sizeof(T), Access::read};
}
template <class T>
Range writing(Shared<T> shared, std::uint64_t first, std::uint64_t count) {
    return {shared.offset + first * sizeof(T), count * sizeof(T), Access::write};
}

/// Pages that stay here, accessible, until this object goes. Its strand or task must not wait meanwhile, and
/// touches nothing more. With a hardware trigger pages may leave at any time, because they come back.
class Checkout {
public:
    Checkout(Checkout&& other) noexcept;
    Checkout& operator=(Checkout&&) = delete;
    Checkout(const Checkout&) = delete;
    Checkout& operator=(const Checkout&) = delete;
    ~Checkout() {
        if (memory_) end();
    }

private:
    friend class SharedMemory;
    static constexpr std::size_t few = 16;

    Checkout(SharedMemory& memory, const runtime::Caller& caller, Checkouts::Slot* slot = nullptr)
        : memory_(&memory), caller_(caller), slot_(slot) {}
    void end();
    void add(std::uint64_t page) {
        if (count_ < few) {
            first_[count_] = page;
        } else {
            more_.push_back(page);
        }
        ++count_;
    }

    SharedMemory* memory_;
    runtime::Caller caller_;
    Checkouts::Slot* slot_;  ///< has all pages; null: they are pinned below
    std::size_t count_ = 0;
    std::array<std::uint64_t, few> first_;
    std::vector<std::uint64_t> more_;
};

/// What happened in the memory of one node.
struct MemoryCounts {
    std::uint64_t read_faults = 0;
    std::uint64_t write_faults = 0;
    std::uint64_t requests = 0;       ///< messages that asked for a page or for more access
    std::uint64_t pages_moved = 0;    ///< sent from here with their contents
    std::uint64_t page_bytes = 0;     ///< of these, and of parts of pages
    std::uint64_t invalidations = 0;  ///< of copies here
};

/// `node.state<SharedMemory>()`.
class SharedMemory final : public runtime::State<runtime::Node>, public runtime::FaultHandler {
public:
    explicit SharedMemory(runtime::Node& node);
    ~SharedMemory() override;
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    // --- before the work begins
    /// A new array, full of zeros. Every node allocates the same arrays in the same order, before it seals.
    /// `name` is for messages and reports. Throws Error after `seal`, or where the memory has no room.
    template <class T>
    Shared<T> allocate(std::string name, std::uint64_t count, const Layout& layout = {}) {
        static_assert(std::is_trivially_copyable_v<T>, "what is shared moves as plain bytes");
        return {arrays_.add(std::move(name), count, sizeof(T), alignof(T), layout), count};
    }

    /// Called once on each node, after the last allocation: returns when all nodes have called it. Throws
    /// Error where the nodes have allocated different arrays.
    void seal(const runtime::Caller& caller);
    bool sealed() const { return made_ != nullptr; }

    /// From now on a fault calls `hook` before anything else: a model charges what it has run so far.
    void before_fault(std::function<void(runtime::Worker&)> hook) { before_fault_ = std::move(hook); }

    // --- for programs, after `seal`
    /// Where the array lies on this node.
    template <class T>
    T* at(Shared<T> shared) const {
        return reinterpret_cast<T*>(begin() + shared.offset);
    }

    /// Fetches what the ranges touch, in the order of addresses. Throws Error for a range outside the memory.
    Checkout touch(const runtime::Caller& caller, std::span<const Range> ranges);
    Checkout touch(const runtime::Caller& caller, std::initializer_list<Range> ranges) {
        return touch(caller, std::span(ranges.begin(), ranges.size()));
    }

    /// The same, if all of that is here, no other node waits for it, and accesses are checked. Else nothing,
    /// as for ranges without bytes.
    std::optional<Checkout> touch_at_once(const runtime::Caller& caller, std::span<const Range> ranges);

    /// Called once on each node when its strands and tasks have come to a point: returns when all nodes have.
    /// What was written before is read after. Throws Error if a Checkout is held.
    void barrier(const runtime::Caller& caller) {
        const runtime::Caller self = that_may_wait(caller);
        release(self);
        team().barrier(self);
        acquire(self);
    }
    /// The same, with a reduction (Team::all_reduce). The nodes combine in a fixed order.
    template <class T, class Combine>
    T all_reduce(const runtime::Caller& caller, const T& value, Combine combine) {
        const T mine = value;  // read while this memory is the caller's
        const runtime::Caller self = that_may_wait(caller);
        release(self);
        T result = team().all_reduce(self, 0, mine, combine);
        acquire(self);
        return result;
    }

    // --- for models and reports
    /// Whether the hardware notices accesses. Else the program must touch all that it reads and writes.
    bool by_hardware() const;
    Trigger trigger() const;
    /// Of what moves together: a group of the settings' pages.
    std::size_t page_bytes() const { return arrays_.page_bytes(); }
    std::uint64_t page_of(std::uint64_t offset) const { return offset / page_bytes(); }
    runtime::Node& node() const { return node_; }
    const Arrays& arrays() const { return arrays_; }
    /// Pages that processor `core` waits for: its outstanding counter.
    std::uint32_t outstanding(CoreId core) const;
    /// Whether a strand or task of processor `core` waits for the page.
    bool pending(std::uint64_t page, CoreId core) const;
    MemoryCounts counts() const;

    // --- for the view and the handlers
    /// Also where the trigger is `checked`: then a test plays the hardware.
    void on_fault(runtime::Context& context, std::size_t offset, std::optional<bool> write) override;
    Pages& pages();

    bool keeps_node() const override { return sealed(); }
    void report(runtime::NodeReport& report) const override;

private:
    friend class Checkout;

    std::byte* begin() const;
    static runtime::Caller that_may_wait(const runtime::Caller& caller);
    void wait_for(Checkout& checkout, std::span<const Range> ranges);
    runtime::Team& team();
    void release(const runtime::Caller& caller);
    void acquire(const runtime::Caller& caller);
    void expect_sealed() const;
    void compare_arrays(const runtime::Caller& caller);

    runtime::Node& node_;
    Arrays arrays_;
    std::function<void(runtime::Worker&)> before_fault_;
    std::unique_ptr<runtime::Team> team_;
    std::unique_ptr<Pages> made_;
    std::atomic<Pages*> pages_{nullptr};  ///< the same, for handlers
};

}  // namespace heddle::dsm
