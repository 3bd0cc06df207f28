// What a program on one node asks of the filaments model: phases, pools and filaments, their execution, and
// reductions (Lowenthal, Subramanian: "HyFi: Architecture-independent parallelism on networks of
// multiprocessors", sections 2 and 3).
//
// A node's main program is a strand pinned to processor 0. `start` executes the phases: each pool is executed
// by a strand of its own, its *filthread*, pinned to the pool's processor. When all pools of the node are
// done, the main program goes on with the post-phase code.
//
// Order: a processor begins its pools in the order in which they were made. A filthread is left only where it
// waits or ends: then its processor goes on with the next pool, or with a filthread whose wait has ended. If
// there are both, they take turns.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/filaments/phase.hpp"
#include "model/filaments/reduction.hpp"
#include "model/filaments/rounds.hpp"
#include "runtime/core/wait.hpp"

namespace heddle::filaments {

class Filaments {
public:
    using Main = std::function<void(Filaments&)>;

    Filaments(runtime::Node& node, dsm::SharedMemory& memory);

    /// Runs `main` as the node's main program, once. The caller is the node's worker 0. Every node of the run
    /// does so, and their main programs start the same phases.
    void run(runtime::Worker& worker, const ReductionOwner& owner, Main main);

    // --- the machine (filMyNode, filNumNodes, filNumProcessors)
    NodeId my_node() const;
    NodeId nodes() const;
    /// Of each node.
    CoreId processors() const { return static_cast<CoreId>(processors_.size()); }

    // --- memory that all nodes share
    dsm::SharedMemory& memory() const { return memory_; }
    /// After the last allocation, on each node: returns when all nodes have come here. Programs without
    /// shared memory need not call it.
    void seal() { memory_.seal(*main_); }

    // --- making phases. In the main program and post-phase code only.
    /// A phase whose filaments execute `code`, a member function of `program` that takes the processor and
    /// plain values. `post` is called on each node after each execution, as `PostPhase post(Filaments&)`;
    /// without it (null) the phase is executed once, or as often as its sequence. `ranges` says what a run of
    /// filaments touches: `void ranges(Ranges&, values..., std::uint64_t count)`, for `count` filaments from
    /// the one of these values on, whose last values are consecutive. `strip` does the same as `count`
    /// filaments one after the other, in one call: `void strip(Processor&, values..., std::uint64_t count)`.
    template <auto code, auto post = nullptr, typename FilamentCode<code>::DeclareRanges ranges = nullptr,
              typename FilamentCode<code>::ExecuteStrip strip = nullptr>
    Phase<code>& create_phase(typename FilamentCode<code>::Program& program, PhaseOptions options = {}) {
        expect_between_phases("creates a phase");
        PhaseBase::PostPhaseCode call;
        if constexpr (!std::is_null_pointer_v<decltype(post)>)
            call = [&program](Filaments& fil) { return (program.*post)(fil); };
        auto made = std::make_unique<Phase<code>>(program, ranges, strip, phases_.size(), processors(),
                                                  std::move(call), options);
        Phase<code>& phase = *made;
        add(std::move(made));
        return phase;
    }

    /// Pools for each processor of this node, of `capacity` filaments each. Throws Error if the phase is
    /// over.
    template <auto code>
    PoolArray<code>& create_pool_array(Phase<code>& phase, std::uint64_t capacity,
                                       std::uint32_t pools_per_processor = 1) {
        expect_between_phases("creates pools");
        phase.expect_open();
        auto& array = phase.arrays_.emplace_back(phase, processors(), capacity, pools_per_processor);
        for (std::size_t i = 0; i < array.size(); ++i)
            phase.pools_[array[i].processor()].push_back(&array[i]);
        return array;
    }

    /// Throws Error beyond the pool's capacity, with phase, pool and node, and in a filament.
    template <auto code, class... Given>
    void create_filament(Pool<code>& pool, Given&&... arguments) {
        static_assert(sizeof...(Given) == FilamentCode<code>::arity,
                      "a filament gets one value for each argument of its function");
        expect_between_phases("creates a filament");
        pool.create(detail::plain_values<typename FilamentCode<code>::Arguments>(
            std::index_sequence_for<Given...>{}, std::forward<Given>(arguments)...));
    }

    /// These phases are executed one after the other, each with its post-phase code, again and again until
    /// the post-phase code of one of them returns F_DONE. Otherwise each phase is a sequence of its own.
    template <auto... codes>
    void repeat_in_sequence(Phase<codes>&... phases) {
        make_sequence({&phases...});
    }

    /// Returns when all phases that were made before are complete, on all nodes. Throws Error where nodes
    /// have made different phases, or their post-phase code decides differently.
    void start();

    // --- in the main program and post-phase code
    /// The node's value of a reduction variable: what `reduce` gave, or what was assigned to it since. Each
    /// processor's copy begins the next phase with it. Throws Error where filaments have run since, because
    /// then each processor has another one.
    template <class T>
    T& value(Reduction<T>& variable) {
        expect_between_phases("asks for the node's value of", variable.name());
        if (variable.state_ != Reduction<T>::State::one) refuse_value(variable.name());
        return variable.value_;
    }

    /// Combines the copies of all processors of all nodes, and gives each the result (filReduce): the copies
    /// of a node in the order of its processors and pools, then the nodes along a tournament (Hensgen,
    /// Finkel, Manber: "Two algorithms for barrier synchronization", 1988). So timing does not change the
    /// result. It is a barrier between nodes. `operation`: add, max, min, or any associative operation that
    /// captures nothing.
    template <class T, class Operation>
    const T& reduce(Reduction<T>& variable, Operation operation) {
        expect_between_phases("reduces", variable.name());
        const T mine = variable.combined(processors(), operation);
        variable.value_ = rounds_->reduce(*main_, at(Rounds::Kind::reduce), mine, operation);
        variable.state_ = Reduction<T>::State::one;
        return variable.value_;
    }

    /// Returns when the main programs of all nodes have come here.
    void barrier() {
        expect_between_phases("comes to a barrier");
        rounds_->barrier(*main_, at(Rounds::Kind::barrier));
    }

    /// The main program's strand, which waits and computes as others do.
    runtime::Strand& strand() const { return *main_; }
    /// Declares work of the main program (runtime::Worker::work).
    void work(std::uint64_t units) { main_->worker().work(units); }
    runtime::Node& node() const { return node_; }

private:
    void add(std::unique_ptr<PhaseBase> phase);
    void make_sequence(const std::vector<PhaseBase*>& phases);
    void execute(const std::vector<PhaseBase*>& sequence);
    PostPhase execute(PhaseBase& phase);
    void execute_pools(PhaseBase& phase);
    void begin_pool(CoreId processor, runtime::Context& caller, std::size_t place);
    void run_filthread(const runtime::Strand& filthread, CoreId processor, std::size_t place);
    void note_fault(runtime::Worker& faulting);
    Rounds::Place at(Rounds::Kind kind) const;

    void expect_between_phases(const char* what, std::string_view which = {}) const {
        if (executing_.load(std::memory_order_relaxed)) [[unlikely]]
            refuse_in_filament(what, which);
    }
    [[noreturn, gnu::cold]] void refuse_in_filament(const char* what, std::string_view which) const;
    [[noreturn, gnu::cold]] void refuse_value(std::string_view which) const;

    runtime::Node& node_;
    dsm::SharedMemory& memory_;
    std::unique_ptr<Rounds> rounds_;       ///< from `run` on
    std::deque<DeclaredWork> processors_;  // what is in it does not move
    Main main_program_;
    const ReductionOwner* owner_ = nullptr;  ///< from `run` on; the main program may make more variables
    runtime::Strand* main_ = nullptr;        ///< the main program's

    std::vector<std::unique_ptr<PhaseBase>> phases_;
    std::vector<std::vector<PhaseBase*>> sequences_;  ///< not started yet
    std::uint32_t made_ = 0;                          ///< a digest of the phases made so far

    std::atomic<PhaseBase*> executing_{nullptr};  ///< whose filaments may run now
    PhaseBase* latest_ = nullptr;                 ///< that was executed
    std::uint64_t executions_ = 0;
    std::atomic<std::size_t> pools_left_{0};
    runtime::Event pools_done_;
};

}  // namespace heddle::filaments
