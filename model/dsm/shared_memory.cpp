// Implements the calls of programs to the shared memory: allocation, touching, faults and barriers.
#include "model/dsm/shared_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "model/dsm/pages.hpp"
#include "model/dsm/protocol.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::dsm {

using runtime::Caller;
using runtime::Node;
using runtime::SharedPages;
using runtime::Worker;

namespace {

/// Above all that programs choose and nodes give out.
constexpr std::uint64_t team_number = ~std::uint64_t{0};

std::size_t unit_bytes(const SharedPages& settings) {
    return std::size_t{settings.page_bytes} * settings.group;
}

}  // namespace

SharedMemory::SharedMemory(Node& node)
    : node_(node),
      arrays_(unit_bytes(node.schedule().memory), node.topology().nodes, node.schedule().memory.placement) {}

SharedMemory::~SharedMemory() = default;

// --- before the work begins

void SharedMemory::seal(const Caller& caller) {
    if (sealed()) throw Error("the shared memory is sealed twice", "call `seal` once on each node");
    node_.expect_same_nodes("programs with shared memory need");
    const SharedPages& settings = node_.schedule().memory;
    if (settings.page_bytes == 0 || settings.page_bytes % 4096 != 0 || settings.group == 0)
        throw Error(fmt::format("shared memory has pages of {} bytes in groups of {}", settings.page_bytes,
                                settings.group),
                    "let a page be a multiple of 4096 bytes, and a group at least one page");
    arrays_.close();
    const runtime::ViewOptions options{std::max(arrays_.bytes(), std::uint64_t{unit_bytes(settings)}),
                                       settings.page_bytes, settings.trigger};
    auto view = node_.backend().make_view(node_.id(), options, *this);
    made_ = std::make_unique<Pages>(*this, std::move(view), settings.group, settings.prefetch);
    made_->use(make_protocol(settings.protocol, *made_));
    team_ = std::make_unique<runtime::Team>(node_, team_number, 1, node_.topology().nodes,
                                            runtime::Team::Shape::tournament);
    // A node that has passed the barrier below may send requests.
    pages_.store(made_.get(), std::memory_order_release);
    compare_arrays(caller);
}

void SharedMemory::compare_arrays(const Caller& caller) {
    struct Extremes {
        std::uint64_t least, most;
    };
    const std::uint64_t mine = arrays_.digest();
    const auto all = team_->all_reduce(caller, 0, Extremes{mine, mine}, [](Extremes a, Extremes b) {
        return Extremes{std::min(a.least, b.least), std::max(a.most, b.most)};
    });
    if (all.least == all.most) return;
    std::string names;
    for (const Array& array : arrays_.all()) names += (names.empty() ? "" : ", ") + array.name;
    throw Error(
        fmt::format("the nodes have allocated different arrays; those of node {}: {}", node_.id(), names),
        "let every node allocate the same arrays in the same order");
}

void SharedMemory::expect_sealed() const {
    if (!sealed())
        throw Error("the shared memory is used before it is sealed",
                    "call `seal` on every node after the last allocation");
}

// --- for programs

std::byte* SharedMemory::begin() const {
    expect_sealed();
    return made_->view().begin();
}

namespace {

struct Need {
    PageId page;
    Access access;
};

/// Each page once, in ascending order, with the strongest access.
std::vector<Need> needs_of(std::span<const Range> ranges, const Arrays& arrays) {
    std::vector<Need> needs;
    for (const Range& range : ranges) {
        if (range.bytes == 0) continue;
        if (range.offset > arrays.bytes() || range.bytes > arrays.bytes() - range.offset)
            throw Error(fmt::format("a program touches bytes {} to {} of a shared memory of {} bytes",
                                    range.offset, range.offset + range.bytes, arrays.bytes()),
                        "touch elements of arrays only");
        const PageId last = (range.offset + range.bytes - 1) / arrays.page_bytes();
        for (PageId page = range.offset / arrays.page_bytes(); page <= last; ++page)
            needs.push_back({page, range.access});
    }
    std::sort(needs.begin(), needs.end(), [](const Need& a, const Need& b) {
        return a.page < b.page || (a.page == b.page && a.access > b.access);
    });
    needs.erase(std::unique(needs.begin(), needs.end(),
                            [](const Need& a, const Need& b) { return a.page == b.page; }),
                needs.end());
    return needs;
}

/// Pins all pages, or none.
bool pin_at_once(Pages& pages, Worker& worker, std::span<const Need> needs) {
    for (std::size_t i = 0; i < needs.size(); ++i) {
        if (pages.try_pin(worker, needs[i].page, needs[i].access)) continue;
        while (i > 0) pages.unpin(worker, needs[--i].page);
        return false;
    }
    return true;
}

/// A strand holds what it has while it waits for more, and pins all in the end. If the holds did not count
/// (Pages), it begins again.
void pin_one_by_one(Pages& pages, Faulter& faulter, std::span<const Need> needs) {
    if (!faulter.strand) {
        for (const Need& need : needs) pages.acquire(faulter, need.page, need.access, Pages::Keep::pin);
        return;
    }
    for (;;) {
        for (const Need& need : needs) pages.acquire(faulter, need.page, need.access, Pages::Keep::hold);
        std::size_t pinned = 0;
        while (pinned < needs.size() &&
               pages.pin_held(*faulter.worker, needs[pinned].page, needs[pinned].access))
            ++pinned;
        if (pinned == needs.size()) return;
        for (std::size_t i = 0; i < pinned; ++i) pages.unpin(*faulter.worker, needs[i].page);
        for (std::size_t i = pinned + 1; i < needs.size(); ++i) pages.unhold(*faulter.worker, needs[i].page);
    }
}

}  // namespace

/// The same caller. A strand may be on another worker after it has waited, so it is named instead of its
/// worker.
Caller SharedMemory::that_may_wait(const Caller& caller) {
    runtime::Strand* const strand = caller.strand();
    return strand ? Caller(*strand) : caller;
}

Checkout SharedMemory::touch(const Caller& caller, std::span<const Range> ranges) {
    if (Checkouts::Slot* const slot = by_hardware() ? nullptr : made_->check_out(caller.worker(), ranges))
        return {*this, caller, slot};
    Checkout checkout(*this, that_may_wait(caller));
    wait_for(checkout, ranges);
    return checkout;
}

std::optional<Checkout> SharedMemory::touch_at_once(const Caller& caller, std::span<const Range> ranges) {
    Checkouts::Slot* const slot = by_hardware() ? nullptr : made_->check_out(caller.worker(), ranges);
    if (!slot) return std::nullopt;
    return Checkout(*this, caller, slot);
}

/// Pages that are not here, or were asked for by other nodes.
void SharedMemory::wait_for(Checkout& checkout, std::span<const Range> ranges) {
    const std::vector<Need> needs = needs_of(ranges, arrays_);
    Pages& pages = *made_;
    Faulter faulter{&checkout.caller_.worker(), checkout.caller_.strand()};
    // Else a demand could wait for the checkout that this one is within.
    faulter.gives_way = !by_hardware() && !pages.has_checkouts(faulter.worker->id.core);
    if (by_hardware() || !pin_at_once(pages, *faulter.worker, needs)) {
        if (before_fault_) before_fault_(*faulter.worker);
        std::vector<Need> asked;
        for (const Need& need : needs) {
            if (!by_hardware() && pages.lacks(need.page, need.access))
                pages.count_fault(*faulter.worker, need.page, need.access);
            if (pages.ask(*faulter.worker, need.page, need.access, need.access)) asked.push_back(need);
        }
        // What is touched is asked for first, with its own access.
        for (const Need& need : asked) pages.prefetch_after(*faulter.worker, need.page, need.access);
        if (by_hardware()) {
            for (const Need& need : needs)
                pages.acquire(faulter, need.page, need.access, Pages::Keep::nothing);
            return;
        }
        pin_one_by_one(pages, faulter, needs);
    }
    for (const Need& need : needs) checkout.add(need.page);
}

Checkout::Checkout(Checkout&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      caller_(other.caller_),
      slot_(other.slot_),
      count_(std::exchange(other.count_, 0)),
      more_(std::move(other.more_)) {
    std::copy_n(other.first_.begin(), std::min(count_, few), first_.begin());
}

void Checkout::end() {
    if (slot_) return memory_->made_->end_checkout(caller_.worker(), *slot_);
    for (std::size_t i = 0; i < count_; ++i)
        memory_->pages().unpin(caller_.worker(), i < few ? first_[i] : more_[i - few]);
}

void SharedMemory::release(const Caller& caller) {
    expect_sealed();
    if (made_->has_checkouts())
        throw Error(
            fmt::format("node {} comes to a barrier of its shared memory with pages checked out", node_.id()),
            "let every Checkout go before the barrier");
    made_->protocol().release(caller);
}

void SharedMemory::acquire(const Caller& caller) {
    made_->protocol().acquire(caller);
}

runtime::Team& SharedMemory::team() {
    return *team_;
}

// --- faults

void SharedMemory::on_fault(runtime::Context& context, std::size_t offset, std::optional<bool> write) {
    if (context.id.core >= node_.cores())
        throw Error(fmt::format("a message handler of node {} touches shared memory", node_.id()),
                    "touch shared memory in tasks and strands only");
    Worker& worker = node_.worker(context.id.core);
    if (before_fault_) before_fault_(worker);
    runtime::Strand* const strand = worker.strands().current();
    Faulter faulter{&worker, strand && !strand->forks() ? strand : nullptr, true};
    // Where the processor does not tell, the first store faults twice: then the page may be read already.
    const bool writes = write.value_or(!made_->lacks(page_of(offset), Access::read));
    const Access wanted = writes ? Access::write : Access::read;
    const Time now = worker.backend->now(worker);  // before what the fault itself takes
    made_->count_fault(worker, page_of(offset), wanted);
    made_->acquire_in_place(faulter, offset, wanted, now);
}

// --- for models, reports and handlers

bool SharedMemory::by_hardware() const {
    return trigger() != Trigger::checked;
}

Trigger SharedMemory::trigger() const {
    expect_sealed();
    return made_->view().trigger();
}

std::uint32_t SharedMemory::outstanding(CoreId core) const {
    expect_sealed();
    return made_->outstanding(core);
}

bool SharedMemory::pending(std::uint64_t page, CoreId core) const {
    expect_sealed();
    Page& of = made_->at(page);
    const runtime::SpinLock::Guard guard(of.lock);
    return of.pending.get(core);
}

MemoryCounts SharedMemory::counts() const {
    return sealed() ? made_->counts() : MemoryCounts{};
}

void SharedMemory::report(runtime::NodeReport& report) const {
    if (sealed()) made_->report(report);
}

Pages& SharedMemory::pages() {
    Pages* const made = pages_.load(std::memory_order_acquire);
    if (!made) throw runtime::MalformedMessage("this node has not sealed its shared memory");
    return *made;
}

}  // namespace heddle::dsm
