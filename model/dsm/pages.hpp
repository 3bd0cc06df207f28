// The pages of one node: how strands and tasks wait for them, when demands of other nodes are deferred, and
// the messages between nodes. The protocol (protocol.hpp) decides what is asked and answered.
//
// Two programs that want one page must both come to use it. So a page that has come is held until each of
// those that waited for it has come back once, and a checkout pins its pages. Meanwhile demands are deferred.
// No circle of waiting nodes can form: pages are held in ascending order, and what holds them runs, or waits
// for a higher one. A demand waits for the pins and holds that it finds, and for no later ones: a checkout
// that would add one gives way, so it waits until the page has left, and asks for it again. A checkout within
// another one of its worker does not give way, because it would wait for its own pins. A worker that waits
// for a page of a task runs nothing else, so strands that were woken may not come back. While there is such a
// worker on a node, their holds count for nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/dsm/checkouts.hpp"
#include "model/dsm/fault_history.hpp"
#include "model/dsm/page_table.hpp"
#include "model/dsm/protocol.hpp"
#include "model/dsm/shared_memory.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/run/report.hpp"

namespace heddle::dsm {

/// What a fault waits as.
struct Faulter {
    runtime::Worker* worker = nullptr;  ///< that runs it now
    runtime::Strand* strand = nullptr;  ///< null: it waits on its worker, which runs nothing meanwhile
    bool in_place = false;              ///< in the middle of an instruction
    bool gives_way = false;             ///< to demands for pages that are here
};

class Pages {
public:
    Pages(SharedMemory& memory, std::unique_ptr<runtime::MemoryView> view, std::size_t group,
          std::uint32_t prefetch);
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    // --- for faults
    enum class Keep : std::uint8_t {
        nothing,  ///< the page may leave at once
        hold,     ///< as a strand or task that was woken
        pin,
    };
    /// Returns when the page may be accessed so.
    void acquire(Faulter& faulter, PageId id, Access wanted, Keep keep);
    /// The same for a fault in the middle of an instruction, which came at `faulted`, and for the other pages
    /// that it or the loop that it is in needs.
    void acquire_in_place(Faulter& faulter, std::size_t offset, Access wanted, Time faulted);
    bool lacks(PageId id, Access wanted);
    /// Pins the page if it may be accessed so and no other node waits for it.
    bool try_pin(runtime::Worker& worker, PageId id, Access wanted);
    /// Instead of a hold. False if the page may not be accessed so any more: then the hold has ended.
    bool pin_held(runtime::Worker& worker, PageId id, Access wanted);
    void unhold(runtime::Worker& worker, PageId id);
    void unpin(runtime::Worker& worker, PageId id);
    /// Asks for the page if it may not be accessed so, and does not wait. `wanted`: as in a Request. Returns
    /// whether a request was sent.
    bool ask(runtime::Worker& worker, PageId id, Access access, Access wanted);
    /// Asks for the pages after one that was asked for.
    void prefetch_after(runtime::Worker& worker, PageId id, Access access);
    void count_fault(runtime::Worker& worker, PageId id, Access wanted);
    /// Pins what the ranges touch without a lock, if it may be accessed so. Null: it may not, or that takes
    /// locks, or a range is outside the memory, or all are empty.
    Checkouts::Slot* check_out(runtime::Worker& worker, std::span<const Range> ranges);
    void end_checkout(runtime::Worker& worker, Checkouts::Slot& slot, bool waits = false);
    bool has_checkouts() const;
    /// Of that worker, which calls.
    bool has_checkouts(CoreId core) const {
        return pins_[core].load(std::memory_order_relaxed) != 0 || checkouts_.any(core);
    }

    // --- for handlers
    void on_demand(const Demand& demand);
    void on_grant(Grant grant, std::span<const std::byte> contents);

    // --- for protocols
    runtime::Node& node() const { return memory_.node(); }
    const Arrays& arrays() const { return memory_.arrays(); }
    Page& at(PageId id) { return table_.at(id); }
    PageTable& table() { return table_; }
    Protocol& protocol() { return *protocol_; }
    std::size_t page_bytes() const { return page_bytes_; }
    PageId page_of(std::uint64_t offset) const {
        return page_shift_ != 0 ? offset >> page_shift_ : offset / page_bytes_;
    }
    std::span<std::byte> contents(PageId id);
    /// Under the page's lock.
    void set_access(PageId id, Page& page, Access access, Charges& charges);
    /// Not under a lock.
    static void charge(runtime::Context& context, const Charges& charges);
    void send_grant(runtime::Context& caller, NodeId to, const Grant& grant, runtime::Body contents);
    void send_demand(runtime::Context& caller, NodeId to, const Demand& demand);
    void send_done(runtime::Context& caller, NodeId to, PageId page);
    void send_request(runtime::Context& caller, const Request& request);
    void send_notice(runtime::Context& caller, NodeId to, runtime::Bytes notice);
    /// Nothing is permitted any more. Counts an invalidation if something was. Under the page's lock.
    void give_up(PageId id, Page& page, Charges& charges);
    void count_moved(std::uint64_t pages, std::uint64_t bytes) {
        pages_moved_.fetch_add(pages, std::memory_order_relaxed);
        page_bytes_moved_.fetch_add(bytes, std::memory_order_relaxed);
    }

    runtime::MemoryView& view() { return *view_; }
    std::uint32_t outstanding(CoreId core) const {
        return outstanding_[core].load(std::memory_order_relaxed);
    }
    MemoryCounts counts() const;
    /// When no worker runs any more.
    void report(runtime::NodeReport& report);
    void use(std::unique_ptr<Protocol> protocol) { protocol_ = std::move(protocol); }

private:
    struct Answer {
        NodeId to = 0;
        Grant grant;
        runtime::Body contents;
    };

    bool must_wait(PageId id, const Page& page, const Demand& demand);
    /// Whether a checkout uses the page. Closes it before: the caller opens it again.
    bool pinned(PageId id, const Page& page) {
        table_.open(id, Access::none);
        return checkouts_.keep(id) || page.pins != 0;
    }
    /// Whether pins or holds keep the page here. Closes it as well.
    bool occupied(PageId id, const Page& page) {
        return pinned(id, page) || page.task_holds != 0 ||
               (page.strand_holds != 0 && parked_.load(std::memory_order_seq_cst) == 0);
    }
    /// Whether something waits to take the page away or to replace it.
    static bool wanted_by_others(const Page& page) { return !page.deferred.empty() || page.come; }
    /// Under the page's lock. A page that something waits to take away or to replace stays closed.
    void open(PageId id, const Page& page) {
        table_.open(id, wanted_by_others(page) ? Access::none : page.access);
    }
    void pin(const runtime::Worker& worker, Page& page) {
        ++page.pins;
        pins_[worker.id.core].fetch_add(1, std::memory_order_relaxed);
    }
    Answer answer(const Demand& demand, Page& page, Charges& charges);
    void defer(const Demand& demand, Page& page);
    void serve_deferred(runtime::Context& caller, PageId id);
    void ask_again(runtime::Worker& worker, const std::vector<Demand>& demands);
    void acquire_together(Faulter& faulter, std::vector<FaultedPage> pages);
    void release_soon(Faulter& faulter, PageId id);
    void enlist(Page& page, PageWait& wait);
    bool try_complete(PageId id, Page& page, Charges& charges, PageWait*& woken);
    void completed(runtime::Context& caller, PageId id, PageWait* woken);
    void wake(runtime::Context& caller, PageWait* woken);
    PageWait* take_waiters(Page& page);
    /// Under the page's lock, after an answer. If no demand is left, those that gave way ask for the page.
    PageWait* take_those_that_gave_way(Page& page) {
        return page.first && page.deferred.empty() && page.asked == Access::none ? take_waiters(page)
                                                                                 : nullptr;
    }
    void send(runtime::Context& caller, Answer answer);
    void send_again(runtime::Context& caller, const Demand& demand);
    bool wait_for(Faulter& faulter, PageId id, PageWait& wait);
    bool park(runtime::Worker& worker, PageWait& wait);

    SharedMemory& memory_;
    std::unique_ptr<runtime::MemoryView> view_;
    std::unique_ptr<Protocol> protocol_;
    std::size_t group_;       ///< the view's pages in one of ours
    std::size_t page_bytes_;  ///< of ours
    int page_shift_;          ///< their logarithm; 0: they are no power of two
    std::uint32_t prefetch_;
    PageTable table_;
    Checkouts checkouts_;
    std::vector<std::atomic<std::uint32_t>> outstanding_;  ///< of each processor
    std::vector<FaultHistory> histories_;                  ///< of each processor
    std::atomic<std::uint32_t> parked_{0};                 ///< workers that wait for a page
    std::vector<std::atomic<std::uint64_t>> pins_;         ///< of each processor, with locks
    runtime::SpinLock deferring_lock_;                     ///< over `deferring_`; after a page's
    std::vector<PageId> deferring_;                        ///< pages that may have deferred demands

    using Count = std::atomic<std::uint64_t>;
    static void count(Count& count, std::uint64_t more) { count.fetch_add(more, std::memory_order_relaxed); }

    struct ArrayCounts {
        Count read_faults{0}, write_faults{0}, fetches{0}, invalidations{0}, bytes{0};
        Count waited{0}, hidden{0};  ///< picoseconds
    };
    ArrayCounts& of_array(PageId id) { return array_counts_[arrays().index_of(id)]; }
    void count_wait(PageId id, Time waited, Time slept);

    std::vector<ArrayCounts> array_counts_;  ///< and one for what lies between arrays
    Count read_faults_{0}, write_faults_{0}, requests_{0}, pages_moved_{0}, page_bytes_moved_{0},
        invalidations_{0};
};

}  // namespace heddle::dsm
