// Starts strands, gives those that are ready to workers, and says which wait.
#include "runtime/strands/strands.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

// --- what can be waited for

void Waiter::wake(Node& node, Context& caller) {
    if (strand_) return node.strands().resume(caller, *strand_);
    if (code_) return code_(*this, node, caller);
    Worker& worker = node.worker(worker_);
    woken_.store(true, std::memory_order_seq_cst);
    worker.awaited_done(caller);
}

void Event::wake_all(Waiter* latest, Node& node, Context& caller) {
    Waiter* first = nullptr;
    while (latest) {
        Waiter* const before = std::exchange(latest->next_, first);
        first = std::exchange(latest, before);
    }
    while (first) std::exchange(first, first->next_)->wake(node, caller);
}

// --- strands

void Strand::start(Node& node, Context& caller, Body body, Options options) {
    node.strands().start(caller, std::move(body), options);
}

void Strand::start(Worker& worker, Body body, Options options) {
    worker.node().strands().start(worker, std::move(body), options);
}

// --- the strands of a node

Strands::Strands(Node& node) : node_(node), stacks_(node.schedule().strand_stack_bytes) {}

void Strands::start(Context& caller, Strand::Body body, Strand::Options options) {
    if (options.pinned_to != Strand::any_worker && options.pinned_to >= node_.cores()) [[unlikely]]
        refuse_worker(options);
    caller.charge(caller.costs->strand);
    if (!waiting_.known()) {
        node_.note_strands();
        waiting_.add();  // for good
    }
    const bool by_worker = caller.id.core < node_.cores();
    StrandPool& pool = by_worker ? node_.worker(caller.id.core).strands().pool() : receiver_pool_;
    Strand& strand = pool.take();
    strand.body_ = std::move(body);
    strand.options_ = options;
    put(caller, strand);
}

void Strands::resume(Context& caller, Strand& strand) {
    if (caller.id.core < node_.cores()) [[likely]] {
        StrandRunner& own = node_.worker(caller.id.core).strands();
        StrandRunner::count(own.counts().resumed, 1);
        if (!strand.pinned() || strand.pinned_to() == caller.id.core) return own.put_own(strand);
    } else {
        StrandRunner::count(receiver_resumed_, 1);
    }
    put(caller, strand);
}

void Strands::put(Context& caller, Strand& strand) {
    const bool by_worker = caller.id.core < node_.cores();
    CoreId core = strand.pinned_to();
    if (core == Strand::any_worker) {
        core = by_worker ? caller.id.core : strand.runner_ ? strand.runner_->worker().id.core : some_worker();
    }
    Worker& worker = node_.worker(core);
    if (core == caller.id.core) return worker.strands().put_own(strand);
    const bool pinned = strand.pinned();
    worker.strands().put_shared(strand);
    if (worker.claim_sleeper()) {
        caller.backend->unpark(caller, core);
    } else if (!pinned && worker.steals_within_node()) {
        node_.wake_one(caller);
    }
}

void Strands::refuse_worker(const Strand::Options& options) const {
    throw Error(fmt::format("{} is pinned to worker {} of node {}, and there are {} workers", options.name,
                            options.pinned_to, node_.id(), node_.cores()),
                "workers are numbered from 0");
}

/// For a strand that no worker has run yet: each in turn.
CoreId Strands::some_worker() {
    return static_cast<CoreId>(next_worker_.fetch_add(1, std::memory_order_relaxed) % node_.cores());
}

bool Strands::waits_for(const Worker& worker) const {
    return worker.strands().any_ready() || (worker.steals_within_node() && any_stealable());
}

bool Strands::run(Worker& worker, Slot* head) {
    StrandRunner& own = worker.strands();
    const bool steals = !own.any_ready();
    if (steals && !(worker.steals_within_node() && any_stealable())) {
        own.looks_elsewhere();
        return false;
    }
    worker.show_active();
    if (steals) {
        worker.charge(worker.costs->steal_attempt);
        worker.count_attempt();
    }
    bool ran = false;
    if (!steals || steal_for(own, worker.id.core + 1)) {
        if (steals) {
            worker.count_steal();
            // The worker that put them has woken only one.
            if (any_stealable()) node_.wake_one(worker);
        }
        worker.begin_strands(steals);
        worker.run_apart([&] { ran = own.run(head); });
        worker.end_strands();
    } else {
        own.looks_elsewhere();
    }
    worker.show_passive();
    return ran;
}

bool Strands::steal_for(StrandRunner& thief, CoreId first_victim) {
    for (CoreId i = 0; i < node_.cores() && any_stealable(); ++i) {
        if (node_.worker((first_victim + i) % node_.cores()).strands().steal(thief)) return true;
    }
    return false;
}

std::uint64_t Strands::waiting() const {
    if (!used()) return 0;
    // First those that were resumed: what is counted in between then looks as if it waited.
    std::uint64_t resumed = receiver_resumed_.load(std::memory_order_relaxed);
    for (CoreId core = 0; core < node_.cores(); ++core)
        resumed += node_.worker(core).strands().counts().resumed.load(std::memory_order_relaxed);
    std::uint64_t waited = 0;
    for (CoreId core = 0; core < node_.cores(); ++core)
        waited += node_.worker(core).strands().counts().waited.load(std::memory_order_relaxed);
    return waited - resumed;
}

// A strand with open forks waits on its worker's stack, as a task does, and has not left its own (`rest_`).
// It is among the worker's waiters, and what it waited for before may be gone.
std::vector<std::string> Strands::waiters(std::size_t most) const {
    std::vector<std::string> lines;
    stacks_.for_each([&](const StrandStack& stack) {
        const Strand* const strand = stack.strand;
        if (!strand || !strand->rest_ || strand->left_ != Strand::Left::waits) return;
        if (lines.size() == most) return;
        lines.push_back(fmt::format("{} waits for {} since {}", strand->name(), strand->waits_for_->what(),
                                    print_time(strand->waits_since_)));
    });
    return lines;
}

void Strands::unwind() {
    for (CoreId core = 0; core < node_.cores(); ++core) node_.worker(core).strands().unwind();
    stacks_.unwind();
}

}  // namespace heddle::runtime
