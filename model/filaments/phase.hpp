// A phase: the function that its filaments execute, its pools, and the post-phase code that says whether all
// of them run again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "model/filaments/filament_code.hpp"
#include "model/filaments/pool.hpp"

namespace heddle::filaments {

struct PhaseOptions {
    std::uint64_t units = 1;  ///< what each filament is declared to take (runtime::Program::unit)
    /// So many filaments of a run are executed at most between two fetches of what is declared.
    /// At least 1.
    std::uint64_t at_once = ~std::uint64_t{0};
    /// Filaments are not executed: what they declare is fetched and charged. For programs whose control flow
    /// does not depend on their data.
    bool skip = false;
};

class PhaseBase {
public:
    using PostPhaseCode = std::function<PostPhase(Filaments&)>;

    PhaseBase(std::string_view name, std::size_t number, CoreId processors, PostPhaseCode post,
              PhaseOptions options)
        : name_(name),
          number_(number),
          post_(std::move(post)),
          options_(options),
          pools_(processors),
          order_(processors) {}
    virtual ~PhaseBase() = default;
    PhaseBase(const PhaseBase&) = delete;
    PhaseBase& operator=(const PhaseBase&) = delete;

    /// The function's name, for messages.
    std::string_view name() const { return name_; }
    /// Phases of a node are numbered in the order in which they were created.
    std::size_t number() const { return number_; }
    const PhaseOptions& options() const { return options_; }
    const PostPhaseCode& post() const { return post_; }
    /// Without post-phase code: a phase is executed once, and one of several in a sequence goes on.
    PostPhase without_post() const { return in_sequence_ ? F_CONTINUE : F_DONE; }

    /// Of one processor, in the order in which they were made.
    const std::vector<PoolBase*>& pools(CoreId processor) const { return pools_[processor]; }

    /// The numbers of a processor's pools in the order in which their filthreads begin: first those that
    /// have faulted in the phase's last execution, because their pages come while the others run.
    const std::vector<std::size_t>& order(CoreId processor) const { return order_[processor]; }

    /// Between two executions.
    void put_in_order();

    /// The phase is over for good.
    void close() {
        closed_ = true;
        for (const auto& pools : pools_)
            for (PoolBase* const pool : pools) pool->close();
    }

    /// Of the processor that has most.
    std::size_t pools_most() const {
        std::size_t most = 0;
        for (const auto& pools : pools_) most = std::max(most, pools.size());
        return most;
    }

    NodeId node() const { return node_; }

    /// One that an array of so many pools does not have.
    [[noreturn, gnu::cold]] void refuse_pool(std::size_t pool, std::size_t pools) const;

protected:
    friend class Filaments;

    /// Throws Error if the phase is over.
    void expect_open() const {
        if (closed_) [[unlikely]]
            refuse_pools();
    }
    [[noreturn, gnu::cold]] void refuse_pools() const;

    std::string_view name_;
    std::size_t number_;
    PostPhaseCode post_;
    PhaseOptions options_;
    std::vector<std::vector<PoolBase*>> pools_;  ///< of each processor
    std::vector<std::vector<std::size_t>> order_;
    bool in_sequence_ = false;
    bool closed_ = false;
    NodeId node_ = 0;
};

template <auto code>
class PoolArray;

/// A phase whose filaments execute `code`, a member function of the program.
template <auto code>
class Phase final : public PhaseBase {
public:
    using Program = typename FilamentCode<code>::Program;

    using DeclareRanges = typename FilamentCode<code>::DeclareRanges;
    using ExecuteStrip = typename FilamentCode<code>::ExecuteStrip;

    template <class... Given>
    explicit Phase(Program& program, DeclareRanges declare, ExecuteStrip together, Given&&... given)
        : PhaseBase(FilamentCode<code>::name, std::forward<Given>(given)...),
          program_(program),
          ranges_(declare),
          strip_(together) {}

    Program& program() const { return program_; }
    /// Null: filaments declare nothing.
    DeclareRanges ranges() const { return ranges_; }
    /// Null: filaments are executed one by one.
    ExecuteStrip strip() const { return strip_; }

private:
    friend class Filaments;

    Program& program_;
    DeclareRanges ranges_;
    ExecuteStrip strip_;
    std::deque<PoolArray<code>> arrays_;
};

/// So many pools for each processor of the node, those of a processor side by side: with one a processor,
/// pool p is processor p's.
template <auto code>
class PoolArray {
public:
    PoolArray(Phase<code>& phase, CoreId processors, std::uint64_t capacity,
              std::uint32_t pools_per_processor)
        : phase_(phase) {
        for (CoreId processor = 0; processor < processors; ++processor)
            for (std::uint32_t i = 0; i < pools_per_processor; ++i)
                pools_.emplace_back(phase, pools_.size(), processor, capacity);
    }
    PoolArray(const PoolArray&) = delete;
    PoolArray& operator=(const PoolArray&) = delete;

    /// How many pools this node has here.
    std::size_t size() const { return pools_.size(); }

    Pool<code>& operator[](std::size_t pool) {
        if (pool >= pools_.size()) [[unlikely]]
            phase_.refuse_pool(pool, pools_.size());
        return pools_[pool];
    }

private:
    PhaseBase& phase_;
    std::deque<Pool<code>> pools_;  // what is in it does not move
};

template <auto code>
Pool<code>::Pool(Phase<code>& phase, std::size_t number, CoreId processor, std::uint64_t capacity)
    : PoolBase(phase, number, processor, capacity) {}

template <auto code>
void Pool<code>::execute(Processor& self) {
    const auto& phase = static_cast<Phase<code>&>(phase_);
    if (phase.ranges() && fetches_declared(self)) return execute_declared(self);
    if (phase.options().skip) return self.work(filaments() * phase.options().units);
    constexpr auto begin = std::make_index_sequence < arity == 0 ? 0 : arity - 1 > {};
    const std::uint64_t most = self.declared().polls() && !phase.strip() ? between_polls : ~std::uint64_t{0};
    for (const Run& run : runs_) {
        for (std::uint64_t done = 0; done < run.count; done += most) {
            const Run part = run.part(done, std::min(most, run.count - done));
            if (self.declared().charges()) {
                execute_run<true>(phase.program(), phase.strip(), self, part, phase.options().units, begin);
            } else {
                execute_run<false>(phase.program(), phase.strip(), self, part, 0, begin);
            }
            self.declared().step(true);
        }
    }
}

/// Between two parts of a run no page is kept here for this pool, so that other nodes go on.
template <auto code>
void Pool<code>::execute_declared(Processor& self) {
    const auto& phase = static_cast<Phase<code>&>(phase_);
    const PhaseOptions& options = phase.options();
    constexpr auto begin = std::make_index_sequence < arity == 0 ? 0 : arity - 1 > {};
    Ranges ranges;
    for (std::size_t next = 0; next < runs_.size(); ++next) {
        if (const std::size_t many = execute_together(self, next); many != 0) {
            next += many - 1;
            continue;
        }
        const Run& run = runs_[next];
        for (std::uint64_t done = 0; done < run.count; done += options.at_once) {
            self.declared().step(true);
            const Run part = run.part(done, std::min(options.at_once, run.count - done));
            ranges.clear();
            declare(part, ranges);
            if (options.skip) {
                fetch(self, ranges);
                self.work(part.count * options.units + ranges.units());
                continue;
            }
            const dsm::Checkout checkout = check_out(self, ranges);
            execute_run<false>(phase.program(), phase.strip(), self, part, 0, begin);
            self.work(part.count * options.units);
        }
    }
}

/// Runs that are short, and whose pages are all here, share a checkout: it waits for the processor's stores,
/// which takes as long as some filaments. Returns how many there were.
template <auto code>
std::size_t Pool<code>::execute_together(Processor& self, std::size_t first) {
    constexpr std::uint64_t units_most = 4096;
    constexpr auto begin = std::make_index_sequence < arity == 0 ? 0 : arity - 1 > {};
    const auto& phase = static_cast<Phase<code>&>(phase_);
    const PhaseOptions& options = phase.options();
    if (options.skip || options.at_once != PhaseOptions{}.at_once) return 0;
    const std::size_t page_bytes = page_bytes_of(self);
    Ranges all, ranges;
    std::size_t end = first;
    for (std::uint64_t units = 0; end < runs_.size(); ++end) {
        units += runs_[end].count * std::max<std::uint64_t>(1, options.units);
        if (units > units_most) break;
        ranges.clear();
        declare(runs_[end], ranges);
        if (!all.absorb(ranges, page_bytes, dsm::Checkouts::Slot::most)) break;
    }
    if (end - first < 2) return 0;
    const auto checkout = check_out_at_once(self, all);
    if (!checkout) return 0;
    for (std::size_t next = first; next < end; ++next) {
        execute_run<false>(phase.program(), phase.strip(), self, runs_[next], 0, begin);
        self.work(runs_[next].count * options.units);
    }
    return end - first;
}

/// The program is told where a part begins and how many filaments it has. So it can declare a part with gaps
/// one filament at a time only.
template <auto code>
void Pool<code>::declare(const Run& run, Ranges& ranges) const {
    const auto& phase = static_cast<Phase<code>&>(phase_);
    const auto of = [&](const Run& part) {
        std::apply(
            [&](const auto&... values) { (phase.program().*phase.ranges())(ranges, values..., part.count); },
            part.first);
    };
    if (run.step == 1 || run.count == 1) return of(run);
    for (std::uint64_t i = 0; i < run.count; ++i) of(run.part(i, 1));
}

}  // namespace heddle::filaments
