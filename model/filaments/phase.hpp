// A phase: the function that its filaments execute, its pools, and the post-phase code that says whether all
// of them run again.
#pragma once

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
};

class PhaseBase {
public:
    using PostPhaseCode = std::function<PostPhase(Filaments&)>;

    PhaseBase(std::string_view name, std::size_t number, CoreId processors, PostPhaseCode post,
              PhaseOptions options)
        : name_(name), number_(number), post_(std::move(post)), options_(options), pools_(processors) {}
    virtual ~PhaseBase() = default;
    PhaseBase(const PhaseBase&) = delete;
    PhaseBase& operator=(const PhaseBase&) = delete;

    /// The function's name, for messages.
    std::string_view name() const { return name_; }
    /// Phases of a node are numbered in the order in which they were created.
    std::size_t number() const { return number_; }
    std::uint64_t units() const { return options_.units; }
    const PostPhaseCode& post() const { return post_; }
    /// Without post-phase code: a phase is executed once, and one of several in a sequence goes on.
    PostPhase without_post() const { return in_sequence_ ? F_CONTINUE : F_DONE; }

    /// Of one processor, in the order in which their filthreads begin.
    const std::vector<PoolBase*>& pools(CoreId processor) const { return pools_[processor]; }

    /// The phase is over for good.
    void close() {
        for (const auto& pools : pools_)
            for (PoolBase* const pool : pools) pool->close();
    }

    NodeId node() const { return node_; }

protected:
    friend class Filaments;

    std::string_view name_;
    std::size_t number_;
    PostPhaseCode post_;
    PhaseOptions options_;
    std::vector<std::vector<PoolBase*>> pools_;  ///< of each processor
    bool in_sequence_ = false;
    NodeId node_ = 0;
};

template <auto code>
class PoolArray;

/// A phase whose filaments execute `code`, a member function of the program.
template <auto code>
class Phase final : public PhaseBase {
public:
    using Program = typename FilamentCode<code>::Program;

    template <class... Given>
    explicit Phase(Program& program, Given&&... given)
        : PhaseBase(FilamentCode<code>::name, std::forward<Given>(given)...), program_(program) {}

    Program& program() const { return program_; }

private:
    friend class Filaments;

    Program& program_;
    std::deque<PoolArray<code>> arrays_;
};

/// So many pools for each processor of the node, those of a processor side by side: with one a processor,
/// pool p is processor p's.
template <auto code>
class PoolArray {
public:
    PoolArray(Phase<code>& phase, CoreId processors, std::uint64_t capacity,
              std::uint32_t pools_per_processor) {
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
            refuse(pool);
        return pools_[pool];
    }

private:
    [[noreturn, gnu::cold]] void refuse(std::size_t pool) const;

    std::deque<Pool<code>> pools_;  // what is in it does not move
};

namespace detail {
[[noreturn]] void refuse_pool(std::size_t pool, std::size_t pools);
}

template <auto code>
void PoolArray<code>::refuse(std::size_t pool) const {
    detail::refuse_pool(pool, pools_.size());
}

template <auto code>
Pool<code>::Pool(Phase<code>& phase, std::size_t number, CoreId processor, std::uint64_t capacity)
    : PoolBase(phase, number, processor, capacity) {}

template <auto code>
void Pool<code>::execute(Processor& self) {
    if (self.charges()) return execute_runs<true>(self);
    execute_runs<false>(self);
}

template <auto code>
template <bool charged>
void Pool<code>::execute_runs(Processor& self) {
    auto& program = static_cast<Phase<code>&>(phase_).program();
    const std::uint64_t units = phase_.units();
    constexpr std::size_t begin = arity == 0 ? 0 : arity - 1;
    for (const Run& run : runs_)
        execute_run<charged>(program, self, run, units, std::make_index_sequence<begin>{});
}

}  // namespace heddle::filaments
