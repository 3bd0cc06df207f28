// What a node knows of each page of the shared memory: its own access, and the tasks that wait for it. At the
// page's home, it also knows the owner. The table has two levels, made when needed, so a node pays only for
// pages that it has touched or is the home of.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/dsm/arrays.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/memory_view.hpp"

namespace heddle::dsm {

using runtime::Access;

/// A request for a page, at its home.
struct Request {
    PageId page = 0;
    NodeId from = 0;
    Access access = Access::none;
    /// By the program: the protocol may ask for more, or for less. Nothing: the page is only prefetched.
    Access wanted = Access::none;
    std::uint32_t epoch = 0;  ///< of the requester
};

/// What the home of a page asks of a node that has it.
struct Demand {
    enum class Kind : std::uint8_t {
        copy,  ///< send a copy to the requester, to read
        give,  ///< send the page to the requester, to write
        drop,  ///< give up the copy, and tell the requester
    };

    PageId page = 0;
    NodeId requester = 0;
    Kind kind = Kind::copy;
    std::uint32_t acks = 0;   ///< of other nodes that the requester will wait for
    std::uint32_t epoch = 0;  ///< of the requester
};

/// The answer. Without access: a copy was given up.
struct Grant {
    PageId page = 0;
    Access access = Access::none;
    std::uint8_t has_contents = 0;  ///< 0 or 1; no bool, because a malformed message has any byte here
    std::int32_t acks = 0;          ///< that the requester waits for besides; -1: this is such a one
    std::uint32_t epoch = 0;
};

/// A flag for each processor of a node.
class ProcessorFlags {
public:
    bool get(CoreId core) const {
        return core < bits
                   ? (first_ >> core & 1) != 0
                   : core / bits - 1 < more_.size() && (more_[core / bits - 1] >> core % bits & 1) != 0;
    }
    void set(CoreId core) {
        if (core < bits) {
            first_ |= std::uint64_t{1} << core;
            return;
        }
        if (core / bits > more_.size()) more_.resize(core / bits);
        more_[core / bits - 1] |= std::uint64_t{1} << core % bits;
    }
    void clear() {
        first_ = 0;
        more_.clear();
    }

private:
    static constexpr CoreId bits = 64;
    std::uint64_t first_ = 0;
    std::vector<std::uint64_t> more_;
};

struct Page;

/// A strand or task that waits for a page, on its own stack, in the page's list.
class PageWait final : public runtime::Event {
public:
    PageWait(const Arrays& arrays, PageId id, Page& page, CoreId core, bool parks)
        : core_(core), parks_(parks), arrays_(arrays), id_(id), page_(page) {}
    std::string what() const override { return arrays_.describe(id_); }
    /// Takes it out of the page's list. False if the page has come.
    bool withdraw(runtime::Waiter& waiter) override;

    CoreId core() const { return core_; }
    bool parks() const { return parks_; }

    PageWait* next = nullptr;

private:
    CoreId core_;
    bool parks_;
    const Arrays& arrays_;
    PageId id_;
    Page& page_;
};

/// What the home knows. While `requested`, handlers use it, which run one at a time; else what has the page's
/// lock.
struct Home {
    static constexpr NodeId none = ~NodeId{0};

    NodeId owner = none;         ///< has the latest contents; none: all zeros, and no node has touched it
    std::vector<NodeId> copies;  ///< nodes that may read, ascending
    std::uint32_t reading = 0;   ///< requests to read that are under way
    bool writing = false;        ///< one to write is
    std::deque<Request> queue;   ///< those that have not begun
    bool requested = false;      ///< there is one; under the page's lock

    // For the sharing report: what this node sees of the page's use between two barriers.
    std::uint32_t interval = 0;
    std::vector<NodeId> users;  ///< in this interval, ascending
    bool written = false;
    bool shared = false;  ///< by several nodes, and one wrote
    std::uint64_t shared_intervals = 0;
    std::vector<NodeId> sharers;  ///< in these, ascending

    /// `access`: of the program; nothing for a page that is only prefetched, which is no use. `epoch`: the
    /// node's own, because nodes pass a barrier one after the other. What is noted too late, when the next
    /// interval has begun, does not count.
    void note_use(NodeId node, Access access, std::uint32_t epoch);
};

/// One page on one node. Under the lock, except `home`.
struct Page {
    runtime::SpinLock lock;
    Access access = Access::none;
    Access asked = Access::none;  ///< by the request that is under way
    bool used = false;            ///< it may be accessed, or might before
    bool listed = false;          ///< in the list of pages with deferred demands
    bool dirty = false;           ///< may be written since the last release (home_lazy_release)
    bool prefetched = false;      ///< dirty since it was prefetched, and perhaps not written
    std::int32_t acks_missing = 0;
    std::uint32_t pins = 0;          ///< checkouts
    std::uint32_t strand_holds = 0;  ///< strands that were woken and have not come back yet
    std::uint32_t task_holds = 0;    ///< the same for tasks
    ProcessorFlags pending;
    PageWait* first = nullptr;
    PageWait** last = &first;
    std::vector<Demand> deferred;  ///< until the page is free
    /// Has come, and waits for acknowledgements, or until readers have left the copy that it replaces.
    struct Come {
        Grant grant;
        std::vector<std::byte> contents;
    };
    std::unique_ptr<Come> come;
    std::unique_ptr<std::byte[]> twin;
    std::unique_ptr<Home> home;
};

class PageTable {
public:
    explicit PageTable(PageId pages) : pages_(pages), parts_((pages + part - 1) / part) {}
    ~PageTable() {
        for (auto& place : parts_) delete place.load(std::memory_order_relaxed);
    }
    PageTable(const PageTable&) = delete;
    PageTable& operator=(const PageTable&) = delete;

    PageId pages() const { return pages_; }

    /// Any context of the node.
    Page& at(PageId page) {
        std::atomic<Part*>& place = parts_[page / part];
        Part* found = place.load(std::memory_order_acquire);
        if (!found) [[unlikely]]
            found = make(place);
        return found->pages[page % part];
    }
    /// Null if nothing is known of it.
    Page* find(PageId page) {
        Part* const found = parts_[page / part].load(std::memory_order_acquire);
        return found ? &found->pages[page % part] : nullptr;
    }

    /// What may be done with the page without its lock (checkouts.hpp).
    Access opened(PageId page) const {
        const Part* const found = parts_[page / part].load(std::memory_order_acquire);
        return found ? found->open[page % part].load(std::memory_order_seq_cst) : Access::none;
    }
    /// Under the page's lock.
    void open(PageId page, Access access) {
        Part* const found = parts_[page / part].load(std::memory_order_acquire);
        found->open[page % part].store(access, std::memory_order_seq_cst);
    }

    /// Of all pages of which something is known, in order.
    template <class Visit>
    void for_each(const Visit& visit) {
        for (PageId page = 0; page < pages_; ++page) {
            if (Page* const found = find(page)) {
                visit(page, *found);
            } else {
                page += part - 1 - page % part;
            }
        }
    }

private:
    static constexpr std::size_t part = 32;
    struct Part {
        std::array<std::atomic<Access>, part> open{};
        std::array<Page, part> pages;
    };

    Part* make(std::atomic<Part*>& place) {
        auto made = std::make_unique<Part>();
        Part* found = nullptr;
        if (place.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
            return made.release();
        return found;
    }

    PageId pages_;
    std::vector<std::atomic<Part*>> parts_;
};

}  // namespace heddle::dsm
