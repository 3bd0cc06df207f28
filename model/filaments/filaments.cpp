// Executes phases: starts a filthread for each pool, waits for all of them, and calls the post-phase code. It
// knows nothing of what filaments do.
#include "model/filaments/filaments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "runtime/core/node.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::filaments {

namespace {

using runtime::Strand;

const char* words(Rounds::Kind kind) {
    switch (kind) {
        case Rounds::Kind::start:
            return "starts its phases";
        case Rounds::Kind::reduce:
            return "reduces a variable";
        case Rounds::Kind::barrier:
            return "comes to a barrier";
        case Rounds::Kind::end:
            break;
    }
    return "has ended its main program";
}

std::string in_words(NodeId node, const Rounds::Place& place) {
    return fmt::format("node {} {} after {} executions of phases", node, words(place.kind), place.executions);
}

[[noreturn]] void refuse_apart(const void* /*owner*/, const Rounds::Apart& apart) {
    const bool other_phases = apart.place.phases != apart.other_place.phases;
    throw Error(
        fmt::format("the main programs of nodes {} and {} have come apart{}: {}, and {}", apart.node,
                    apart.other_node, other_phases ? ", because they have made different phases" : "",
                    in_words(apart.node, apart.place), in_words(apart.other_node, apart.other_place)),
        "make the same phases in the same order on each node, and let post-phase code decide by reduced "
        "values only");
}

}  // namespace

// --- pools and phases

static constexpr auto advice_for_closed =
    "make a new phase: one whose post-phase code returned F_DONE is over";

void PhaseBase::refuse_pools() const {
    throw Error(fmt::format("pools for phase {} on node {}, which is closed", name(), node()),
                advice_for_closed);
}

void PoolBase::refuse_filament() const {
    if (closed_) {
        throw Error(fmt::format("a filament for pool {} of phase {} on node {}, which is closed", number_,
                                phase_.name(), phase_.node()),
                    advice_for_closed);
    }
    throw Error(fmt::format("pool {} of phase {} on node {} holds {} filaments, which is its capacity",
                            number_, phase_.name(), phase_.node(), capacity_),
                "raise the capacity in create_pool_array, or deal filaments out over more pools");
}

bool PoolBase::fetches_declared(Processor& self) const {
    return phase_.options().skip || !self.filaments().memory().by_hardware();
}

dsm::Checkout PoolBase::check_out(Processor& self, const Ranges& ranges) {
    return self.filaments().memory().touch(self.caller(), ranges.all());
}

std::size_t PoolBase::page_bytes_of(Processor& self) {
    return self.filaments().memory().page_bytes();
}

std::optional<dsm::Checkout> PoolBase::check_out_at_once(Processor& self, const Ranges& ranges) {
    return self.filaments().memory().touch_at_once(self.caller(), ranges.all());
}

void PoolBase::fetch(Processor& self, const Ranges& ranges) {
    dsm::SharedMemory& memory = self.filaments().memory();
    if (!memory.by_hardware()) {
        memory.touch(self.caller(), ranges.all());
        return;
    }
    auto* const begin = memory.at(dsm::Shared<std::uint8_t>{0, 0});
    for (const dsm::Range& range : ranges.all()) {
        for (std::uint64_t at = range.offset; at < range.offset + range.bytes;
             at = (memory.page_of(at) + 1) * memory.page_bytes()) {
            // An exchange faults as a write does, also where it writes nothing.
            std::uint8_t nothing = 0;
            const std::atomic_ref<std::uint8_t> byte(begin[at]);
            if (range.access == dsm::Access::write) {
                byte.compare_exchange_strong(nothing, nothing, std::memory_order_relaxed);
            } else {
                byte.load(std::memory_order_relaxed);
            }
        }
    }
}

void PhaseBase::refuse_pool(std::size_t pool, std::size_t pools) const {
    throw Error(fmt::format("pool {} of an array of {} for phase {} on node {}", pool, pools, name(), node()),
                "an array has as many pools as processors times pools a processor, numbered from 0");
}

void PhaseBase::put_in_order() {
    for (std::size_t processor = 0; processor < pools_.size(); ++processor) {
        const std::vector<PoolBase*>& pools = pools_[processor];
        std::vector<std::size_t>& order = order_[processor];
        order.resize(pools.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_partition(order.begin(), order.end(),
                              [&](std::size_t pool) { return pools[pool]->faulted(); });
    }
}

// --- the node

Filaments::Filaments(runtime::Node& node, dsm::SharedMemory& memory) : node_(node), memory_(memory) {}

NodeId Filaments::my_node() const {
    return node_.id();
}

NodeId Filaments::nodes() const {
    return node_.topology().nodes;
}

void Filaments::run(runtime::Worker& worker, const ReductionOwner& owner, Main main) {
    HEDDLE_ASSERT(worker.id.core == 0 && processors_.empty());
    node_.expect_same_nodes("filaments need");
    const bool charges = !node_.topology().gates_open;
    for (CoreId core = 0; core < node_.cores(); ++core) processors_.emplace_back(node_.worker(core), charges);
    owner_ = &owner;
    rounds_ = std::make_unique<Rounds>(memory_, this, &refuse_apart);
    // Filthreads are pinned, so what their processors have not charged yet is their own.
    memory_.before_fault([this](runtime::Worker& faulting) {
        note_fault(faulting);
        processors_[faulting.id.core].settle();
    });
    main_program_ = std::move(main);
    Strand::start(worker,
                  [this](Strand& self) {
                      main_ = &self;
                      main_program_(*this);
                      rounds_->barrier(self, at(Rounds::Kind::end));
                  },
                  {"the main program of filaments", 0, false});
}

void Filaments::add(std::unique_ptr<PhaseBase> phase) {
    phase->node_ = my_node();
    if (phase->options().at_once == 0) {
        throw Error(fmt::format("phase {} on node {} executes no filament at once", phase->name(), my_node()),
                    "let PhaseOptions::at_once be at least 1");
    }
    made_ = detail::digest(phase->name(), made_);
    sequences_.push_back({phase.get()});
    phases_.push_back(std::move(phase));
}

void Filaments::make_sequence(const std::vector<PhaseBase*>& phases) {
    expect_between_phases("makes a sequence");
    for (PhaseBase* const phase : phases) {
        const auto place = std::find(sequences_.begin(), sequences_.end(), std::vector{phase});
        if (place == sequences_.end()) {
            throw Error(fmt::format("phase {} on node {} is in a sequence already, or was started",
                                    phase->name(), my_node()),
                        "name each phase in one sequence, before start()");
        }
        // The sequence takes the place of its first phase.
        if (phase == phases.front()) {
            *place = phases;
        } else {
            sequences_.erase(place);
        }
        phase->in_sequence_ = true;
        made_ = detail::digest("sequence", made_ + static_cast<std::uint32_t>(phase->number()));
    }
    if (std::none_of(phases.begin(), phases.end(),
                     [](const PhaseBase* phase) { return bool(phase->post()); })) {
        throw Error(fmt::format("no phase of a sequence on node {} has post-phase code", my_node()),
                    "let the post-phase code of one return F_DONE when the sequence is over");
    }
}

Rounds::Place Filaments::at(Rounds::Kind kind) const {
    return {made_, static_cast<std::uint32_t>(executions_),
            latest_ ? static_cast<std::uint32_t>(latest_->number()) + 1 : 0, kind};
}

// --- execution

void Filaments::start() {
    expect_between_phases("starts phases");
    rounds_->barrier(*main_, at(Rounds::Kind::start));
    const auto sequences = std::exchange(sequences_, {});
    for (const auto& sequence : sequences) execute(sequence);
}

void Filaments::execute(const std::vector<PhaseBase*>& sequence) {
    const auto once = [&] {
        for (PhaseBase* const phase : sequence)
            if (execute(*phase) == F_DONE) return F_DONE;
        return F_CONTINUE;
    };
    while (once() == F_CONTINUE) {
    }
    for (PhaseBase* const phase : sequence) phase->close();
}

PostPhase Filaments::execute(PhaseBase& phase) {
    execute_pools(phase);
    latest_ = &phase;
    ++executions_;
    const std::uint64_t rounds_before = rounds_->count();
    const PostPhase after = phase.post() ? phase.post()(*this) : phase.without_post();
    // A reduction is a barrier.
    if (rounds_->count() == rounds_before) rounds_->barrier(*main_, at(Rounds::Kind::barrier));
    return after;
}

void Filaments::execute_pools(PhaseBase& phase) {
    for (ReductionBase* const reduction : owner_->reductions())
        reduction->begin_phase(processors(), std::max<std::size_t>(1, phase.pools_most()));
    phase.put_in_order();
    std::size_t pools = 0;
    for (CoreId core = 0; core < processors(); ++core) pools += phase.pools(core).size();
    if (pools == 0) return;
    pools_done_.reset();
    pools_left_.store(pools, std::memory_order_relaxed);
    executing_.store(&phase, std::memory_order_relaxed);
    // The others first, because each has to be woken.
    for (CoreId core = processors(); core > 0; --core)
        if (!phase.pools(core - 1).empty()) begin_pool(core - 1, main_->worker(), 0);
    main_->wait(pools_done_);
    executing_.store(nullptr, std::memory_order_relaxed);
}

/// A filthread begins with starting the next one of its processor, so that they begin in order and none runs
/// before the one before it waits or ends.
void Filaments::begin_pool(CoreId processor, runtime::Context& caller, std::size_t place) {
    Strand::start(node_, caller,
                  [this, processor, place](const Strand& self) { run_filthread(self, processor, place); },
                  {"a filthread", processor, false});
}

/// On the faulting processor, which alone executes its pools.
void Filaments::note_fault(runtime::Worker& faulting) {
    PhaseBase* const phase = executing_.load(std::memory_order_relaxed);
    const Strand* const filthread = faulting.strands().current();
    if (!phase || !filthread) return;
    for (PoolBase* const pool : phase->pools(faulting.id.core))
        if (pool->filthread() == filthread) return pool->note_fault();
}

/// `place`: in the order of the processor's pools.
void Filaments::run_filthread(const Strand& filthread, CoreId processor, std::size_t place) {
    const PhaseBase& phase = *executing_.load(std::memory_order_relaxed);
    const auto& order = phase.order(processor);
    DeclaredWork& work = processors_[processor];
    if (place + 1 < order.size()) begin_pool(processor, work.worker(), place + 1);
    PoolBase& pool = *phase.pools(processor)[order[place]];
    pool.begin(filthread);
    Processor self(*this, work, order[place]);
    pool.execute(self);
    work.settle();
    pool.end();
    if (pools_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) pools_done_.complete(node_, work.worker());
}

// --- errors

void Filaments::refuse_in_filament(const char* what, std::string_view which) const {
    throw Error(fmt::format("on node {} the main program {}{}{} while filaments of phase {} run", my_node(),
                            what, which.empty() ? "" : " ", which, executing_.load()->name()),
                "do that in the main program or in post-phase code; filaments use Processor::value");
}

void Filaments::refuse_value(std::string_view which) const {
    throw Error(
        fmt::format("on node {} the main program asks for {}, of which each processor has its own value "
                    "since filaments ran",
                    my_node(), which),
        "call reduce first");
}

}  // namespace heddle::filaments
