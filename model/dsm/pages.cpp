// Manages a node's shared pages. It waits for a page that the node does not have. It answers other nodes at
// once, or as soon as no program here uses the page.
#include "model/dsm/pages.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::dsm {

using runtime::Context;
using runtime::SpinLock;
using runtime::Worker;

Pages::Pages(SharedMemory& memory, std::unique_ptr<runtime::MemoryView> view, std::size_t group,
             std::uint32_t prefetch)
    : memory_(memory),
      view_(std::move(view)),
      group_(group),
      page_bytes_(group * view_->page_bytes()),
      page_shift_(std::has_single_bit(page_bytes_) ? std::countr_zero(page_bytes_) : 0),
      prefetch_(prefetch),
      table_(memory.arrays().pages()),
      checkouts_(memory.node().cores()),
      outstanding_(memory.node().cores()),
      histories_(memory.node().cores()),
      pins_(memory.node().cores()),
      array_counts_(memory.arrays().all().size() + 1) {}

std::span<std::byte> Pages::contents(PageId id) {
    return {view_->contents(id * group_).data(), page_bytes_};
}

void Pages::set_access(PageId id, Page& page, Access access, Charges& charges) {
    table_.open(id, Access::none);
    view_->set_access(id * group_, group_, access, page.access);
    page.access = access;
    ++charges.protects;
    if (access != Access::none && !std::exchange(page.used, true)) ++charges.firsts;
    open(id, page);
}

void Pages::give_up(PageId id, Page& page, Charges& charges) {
    if (page.access == Access::none) return;
    set_access(id, page, Access::none, charges);
    count(invalidations_, 1);
    count(of_array(id).invalidations, 1);
}

void Pages::charge(Context& context, const Charges& charges) {
    const Overheads& costs = *context.costs;
    const Time cost = costs.page_protect * charges.protects + costs.page_fill * charges.fills +
                      costs.page_first * charges.firsts + costs.diffing(charges.diffed_bytes);
    if (cost > Time::zero()) context.charge(cost);
}

// --- faults

void Pages::acquire(Faulter& faulter, PageId id, Access wanted, Keep keep) {
    Page& page = at(id);
    for (bool held = false;;) {
        PageWait wait(arrays(), id, page, faulter.worker->id.core, !faulter.strand);
        std::vector<Demand> left;
        Charges charges;
        Access ask = Access::none;
        bool here = false;
        {
            const SpinLock::Guard guard(page.lock);
            if (held) --(faulter.strand ? page.strand_holds : page.task_holds);
            here = page.access >= wanted;
            // Another strand has fetched it meanwhile, or the system has unmapped it.
            if (here && faulter.in_place && !held) view_->set_access(id * group_, group_, page.access);
            const bool gives_way = here && !held && faulter.gives_way && wanted_by_others(page) &&
                                   occupied(id, page) && !node().ended_early();
            here = !gives_way && (here || protocol_->grant_here(id, page, wanted, wanted, charges));
            // In a run that its program has ended no page comes any more, and no value matters.
            if (!here && node().ended_early()) [[unlikely]] {
                set_access(id, page, Access::write, charges);
                here = true;
            }
            if (!here) {
                enlist(page, wait);
                if (page.asked == Access::none && !gives_way) ask = page.asked = protocol_->asks_for(wanted);
            } else if (keep == Keep::hold) {
                ++(faulter.strand ? page.strand_holds : page.task_holds);
            } else if (keep == Keep::pin) {
                pin(*faulter.worker, page);
            }
            if (!page.deferred.empty()) {
                if (!occupied(id, page)) left.swap(page.deferred);
                open(id, page);
            }
        }
        charge(*faulter.worker, charges);
        if (!left.empty()) ask_again(*faulter.worker, left);
        if (here) return;
        if (ask != Access::none) {
            send_request(*faulter.worker, {id, node().id(), ask, wanted, protocol_->epoch()});
            prefetch_after(*faulter.worker, id, wanted);
        }
        held = wait_for(faulter, id, wait);
    }
}

void Pages::acquire_in_place(Faulter& faulter, std::size_t offset, Access wanted, Time faulted) {
    // It goes on with this worker.
    Worker& worker = *faulter.worker;
    FaultHistory& history = histories_[worker.id.core];
    auto together = history.begin(faulter.strand, {page_of(offset), offset, wanted}, faulted);
    if (together.empty()) {
        acquire(faulter, page_of(offset), wanted, Keep::nothing);
    } else {
        acquire_together(faulter, std::move(together));
    }
    history.end(faulter.strand, worker.backend->now(worker));
}

/// Holds what it has while it waits for more, in ascending order as all that hold pages do, and each page
/// with the strongest access at once: two nodes that hold copies would wait for each other to write.
void Pages::acquire_together(Faulter& faulter, std::vector<FaultedPage> pages) {
    std::ranges::sort(pages, {}, &FaultedPage::page);
    for (const FaultedPage& each : pages) acquire(faulter, each.page, each.wanted, Keep::hold);
    for (const FaultedPage& each : pages) release_soon(faulter, each.page);
}

/// Ends a hold, and leaves the page here until the instruction has run.
void Pages::release_soon(Faulter& faulter, PageId id) {
    std::vector<Demand> left;
    {
        Page& page = at(id);
        const SpinLock::Guard guard(page.lock);
        --(faulter.strand ? page.strand_holds : page.task_holds);
        if (page.deferred.empty()) return;
        if (!occupied(id, page)) left.swap(page.deferred);
        open(id, page);
    }
    ask_again(*faulter.worker, left);
}

/// Paper of HyFi, section 3.3: a page is pending for the processors of those that wait for it, and each of
/// these counts it once.
void Pages::enlist(Page& page, PageWait& wait) {
    *page.last = &wait;
    page.last = &wait.next;
    if (page.pending.get(wait.core())) return;
    page.pending.set(wait.core());
    outstanding_[wait.core()].fetch_add(1, std::memory_order_relaxed);
}

/// Returns whether the page is held for the caller.
bool Pages::wait_for(Faulter& faulter, PageId id, PageWait& wait) {
    Worker& before = *faulter.worker;
    const Time begin = before.backend->now(before);
    // Until it ends, a worker's busy time is what it has slept, with a minus.
    const Time slept = -before.busy();
    const auto turns = [&] { return before.strands().turns() + before.tasks(); };
    const std::uint64_t turns_begin = turns();
    if (!faulter.strand) {
        const bool held = park(before, wait);
        const Time waited = before.backend->now(before) - begin;
        count_wait(id, waited, waited);
        return held;
    }
    if (faulter.in_place) {
        faulter.strand->wait_in_place(wait);
    } else {
        faulter.strand->wait(wait);
    }
    faulter.worker = &faulter.strand->worker();
    const Time waited = faulter.worker->backend->now(*faulter.worker) - begin;
    // What the worker does for messages, and its search for work, hide nothing. One turn is the strand's own.
    const bool hides = faulter.worker == &before && turns() - turns_begin > 1;
    count_wait(id, waited, hides ? -before.busy() - slept : waited);
    return true;
}

/// `slept`: while the worker had nothing else to run.
void Pages::count_wait(PageId id, Time waited, Time slept) {
    ArrayCounts& counts = of_array(id);
    count(counts.waited, static_cast<std::uint64_t>(waited.count()));
    count(counts.hidden, static_cast<std::uint64_t>(std::max(Time::zero(), waited - slept).count()));
}

/// The worker runs nothing meanwhile, because the faulting instruction may be anywhere above its tasks.
/// False if the wait was withdrawn.
bool Pages::park(Worker& worker, PageWait& wait) {
    if (node().strands().used()) worker.strands().offer();
    // Strands of this worker that were woken cannot come back now.
    parked_.fetch_add(1, std::memory_order_seq_cst);
    std::vector<PageId> deferring;
    {
        const SpinLock::Guard guard(deferring_lock_);
        deferring = deferring_;
    }
    for (const PageId id : deferring) serve_deferred(worker, id);
    const bool comes = worker.wait_idly(wait);
    parked_.fetch_sub(1, std::memory_order_seq_cst);
    return comes;
}

bool PageWait::withdraw(runtime::Waiter& /*waiter*/) {
    const SpinLock::Guard guard(page_.lock);
    for (PageWait** place = &page_.first; *place; place = &(*place)->next) {
        if (*place != this) continue;
        *place = next;
        if (page_.last == &next) page_.last = place;
        return true;
    }
    return false;
}

bool Pages::ask(Worker& worker, PageId id, Access access, Access wanted) {
    Page& page = at(id);
    Charges charges;
    Access ask = Access::none;
    {
        const SpinLock::Guard guard(page.lock);
        if (page.access >= access || page.asked != Access::none) return false;
        if (!protocol_->grant_here(id, page, access, wanted, charges))
            ask = page.asked = protocol_->asks_for(access);
    }
    charge(worker, charges);
    if (ask == Access::none) return false;
    send_request(worker, {id, node().id(), ask, wanted, protocol_->epoch()});
    return true;
}

void Pages::prefetch_after(Worker& worker, PageId id, Access access) {
    if (prefetch_ == 0) return;
    const Array* const array = arrays().of_page(id);
    if (!array) return;
    const PageId end = std::min(array->first_page + array->pages, id + 1 + prefetch_);
    for (PageId next = id + 1; next < end; ++next) ask(worker, next, access, Access::none);
}

// --- checkouts

bool Pages::lacks(PageId id, Access wanted) {
    Page& page = at(id);
    const SpinLock::Guard guard(page.lock);
    return page.access < wanted;
}

bool Pages::has_checkouts() const {
    std::uint64_t pins = 0;  // modulo 2^64
    for (const auto& of_processor : pins_) pins += of_processor.load(std::memory_order_relaxed);
    return pins != 0 || checkouts_.any();
}

bool Pages::try_pin(Worker& worker, PageId id, Access wanted) {
    Page& page = at(id);
    const SpinLock::Guard guard(page.lock);
    if (page.access < wanted || wanted_by_others(page)) return false;
    pin(worker, page);
    return true;
}

bool Pages::pin_held(Worker& worker, PageId id, Access wanted) {
    {
        Page& page = at(id);
        const SpinLock::Guard guard(page.lock);
        --page.strand_holds;
        if (page.access >= wanted) {
            pin(worker, page);
            return true;
        }
    }
    serve_deferred(worker, id);
    return false;
}

void Pages::unhold(Worker& worker, PageId id) {
    {
        Page& page = at(id);
        const SpinLock::Guard guard(page.lock);
        --page.strand_holds;
        if (page.deferred.empty()) return;
    }
    serve_deferred(worker, id);
}

void Pages::unpin(Worker& worker, PageId id) {
    pins_[worker.id.core].fetch_sub(1, std::memory_order_relaxed);
    {
        Page& page = at(id);
        const SpinLock::Guard guard(page.lock);
        HEDDLE_ASSERT(page.pins != 0);
        --page.pins;
        if (!wanted_by_others(page)) return;
    }
    serve_deferred(worker, id);
}

void Pages::count_fault(Worker& worker, PageId id, Access wanted) {
    const bool writes = wanted == Access::write;
    count(writes ? write_faults_ : read_faults_, 1);
    count(writes ? of_array(id).write_faults : of_array(id).read_faults, 1);
    worker.charge(worker.costs->page_fault);
}

// --- demands of other nodes

/// A copy of a page that is only read here disturbs no reader.
bool Pages::must_wait(PageId id, const Page& page, const Demand& demand) {
    if (demand.kind == Demand::Kind::copy && page.access != Access::write) return false;
    return occupied(id, page);
}

// Invariant: a demand that waits for holds only is deferred before a worker parks, and then that worker
// serves it, or after, and then the handler sees the worker.
void Pages::on_demand(const Demand& demand) {
    Page& page = at(demand.page);
    Answer answer;
    Charges charges;
    PageWait* woken = nullptr;
    bool deferred = false;
    {
        const SpinLock::Guard guard(page.lock);
        deferred = must_wait(demand.page, page, demand);
        if (deferred) {
            defer(demand, page);
        } else {
            answer = this->answer(demand, page, charges);
            woken = take_those_that_gave_way(page);
        }
        open(demand.page, page);
    }
    charge(node().receiver(), charges);
    wake(node().receiver(), woken);
    if (!deferred) return send(node().receiver(), std::move(answer));
    if (parked_.load(std::memory_order_seq_cst) != 0) serve_deferred(node().receiver(), demand.page);
}

void Pages::defer(const Demand& demand, Page& page) {
    page.deferred.push_back(demand);
    if (std::exchange(page.listed, true)) return;
    const SpinLock::Guard guard(deferring_lock_);
    deferring_.push_back(demand.page);
}

/// Under the page's lock. The contents are copied here, because the page may be written again at once.
Pages::Answer Pages::answer(const Demand& demand, Page& page, Charges& charges) {
    Answer answer{demand.requester, {.page = demand.page, .epoch = demand.epoch}, {}};
    if (!protocol_->give(demand, page, answer.grant, charges)) return answer;
    answer.grant.has_contents = true;
    const auto from = contents(demand.page);
    answer.contents = std::make_shared<runtime::Bytes>(from.begin(), from.end());
    return answer;
}

void Pages::serve_deferred(Context& caller, PageId id) {
    std::vector<Answer> answers;
    Charges charges;
    PageWait* woken = nullptr;
    bool complete = false;
    {
        Page& page = at(id);
        const SpinLock::Guard guard(page.lock);
        std::vector<Demand> still;
        for (const Demand& demand : page.deferred) {
            if (must_wait(id, page, demand)) {
                still.push_back(demand);
            } else {
                answers.push_back(answer(demand, page, charges));
            }
        }
        page.deferred = std::move(still);
        if (page.come) complete = try_complete(id, page, charges, woken);
        if (!complete) woken = take_those_that_gave_way(page);
        open(id, page);
    }
    charge(caller, charges);
    if (complete) {
        completed(caller, id, woken);
    } else {
        wake(caller, woken);
    }
    for (Answer& answer : answers) send(caller, std::move(answer));
}

/// What waited for the page here has come back, and its instruction has still to run: so the demands come
/// again a round trip later.
void Pages::ask_again(Worker& worker, const std::vector<Demand>& demands) {
    for (const Demand& demand : demands) send_again(worker, demand);
}

void Pages::send(Context& caller, Answer answer) {
    if (answer.contents) count_moved(1, answer.contents->size());
    send_grant(caller, answer.to, answer.grant, std::move(answer.contents));
}

// --- answers

void Pages::on_grant(Grant grant, std::span<const std::byte> contents_of) {
    Page& page = at(grant.page);
    PageWait* woken = nullptr;
    Charges charges;
    {
        const SpinLock::Guard guard(page.lock);
        page.acks_missing += grant.acks;
        if (grant.access != Access::none) {
            if (page.asked == Access::none || page.come)
                throw runtime::MalformedMessage("this node has not asked for the page");
            page.come =
                std::make_unique<Page::Come>(Page::Come{grant, {contents_of.begin(), contents_of.end()}});
        }
        if (!page.come || !try_complete(grant.page, page, charges, woken)) return open(grant.page, page);
    }
    charge(node().receiver(), charges);
    completed(node().receiver(), grant.page, woken);
}

/// Under the page's lock. Contents do not change under readers.
bool Pages::try_complete(PageId id, Page& page, Charges& charges, PageWait*& woken) {
    const Grant& grant = page.come->grant;
    if (page.acks_missing != 0 || (grant.has_contents && pinned(id, page))) return false;
    if (protocol_->accept(grant, page)) {
        if (grant.has_contents) {
            if (page.access != Access::none) set_access(id, page, Access::none, charges);
            std::ranges::copy(page.come->contents, contents(id).begin());
            ++charges.fills;
            count(of_array(id).fetches, 1);
            count(of_array(id).bytes, page_bytes_);
        }
        set_access(id, page, grant.access, charges);
    }
    page.come.reset();
    page.asked = Access::none;
    open(id, page);
    woken = take_waiters(page);
    return true;
}

void Pages::completed(Context& caller, PageId id, PageWait* woken) {
    protocol_->arrived(caller, id);
    wake(caller, woken);
}

void Pages::wake(Context& caller, PageWait* woken) {
    while (woken) std::exchange(woken, woken->next)->complete(node(), caller);
}

/// Under the page's lock.
PageWait* Pages::take_waiters(Page& page) {
    PageWait* const first = std::exchange(page.first, nullptr);
    page.last = &page.first;
    for (const PageWait* wait = first; wait; wait = wait->next)
        ++(wait->parks() ? page.task_holds : page.strand_holds);
    for (CoreId core = 0; core < node().cores(); ++core)
        if (page.pending.get(core)) outstanding_[core].fetch_sub(1, std::memory_order_relaxed);
    page.pending.clear();
    return first;
}

void Pages::report(runtime::NodeReport& report) {
    const MemoryCounts all = counts();
    report.counters.page_faults += all.read_faults + all.write_faults;
    report.counters.page_requests += all.requests;
    report.counters.pages_moved += all.pages_moved;
    report.counters.page_bytes += all.page_bytes;
    report.counters.invalidations += all.invalidations;
    const auto get = [](const Count& of) { return of.load(std::memory_order_relaxed); };
    const auto time = [&](const Count& of) { return Time(static_cast<Time::rep>(get(of))); };
    for (std::size_t i = 0; i < arrays().all().size(); ++i) {
        const ArrayCounts& of = array_counts_[i];
        report.sharing.arrays.push_back(
            {arrays().all()[i].name,
             node().id(),
             {get(of.read_faults), get(of.write_faults), get(of.fetches), get(of.invalidations),
              get(of.bytes), time(of.waited), time(of.hidden)}});
    }
    table_.for_each([&](PageId id, Page& page) {
        const Array* const array = arrays().of_page(id);
        if (!array || !page.home || page.home->shared_intervals == 0) return;
        const auto rows = arrays().rows(id);
        report.sharing.pages.push_back({array->name, id - array->first_page, rows.first, rows.last,
                                        page.home->shared_intervals, page.home->sharers});
    });
}

MemoryCounts Pages::counts() const {
    const auto get = [](const Count& count) { return count.load(std::memory_order_relaxed); };
    return {get(read_faults_), get(write_faults_),     get(requests_),
            get(pages_moved_), get(page_bytes_moved_), get(invalidations_)};
}

}  // namespace heddle::dsm
