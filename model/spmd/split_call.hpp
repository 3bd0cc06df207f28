// Split-phase collective calls: a thread starts a call, does something else, and waits for its end.
//
//     SplitCall sum = self.start().all_reduce(std::plus<double>(), part, total);
//     work_on_something_else();
//     sum.wait();
//
// All threads of a node start it, and the call begins here when the last one has. A strand of its own carries
// it out, on the workers of the node that have nothing else to do: it makes no progress while all compute. It
// does not need the threads, so calls may be waited for in any order, and blocking calls may be made
// meanwhile.
//
// All ranks start the same calls in the same order. Until the wait has ended, no thread may write what the
// call reads, or use what it writes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/spmd/operations.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/wait.hpp"

namespace heddle::spmd {

class Spmd;

/// What a request refers to, other than arrays: operators, layouts.
using Kept = std::vector<std::shared_ptr<const void>>;

/// A call of a node's threads, or with Ranks::threads of one thread.
struct StartedCall {
    class Done final : public runtime::Event {
    public:
        explicit Done(const StartedCall& call) : call_(call) {}
        std::string what() const override;

    private:
        const StartedCall& call_;
    };

    std::uint64_t number;  ///< among those that the node has started, from 1
    Request request;
    Kept kept;
    std::uint32_t thread;   ///< whose request it is: that came first
    std::uint32_t missing;  ///< threads of the node
    std::array<char, 96> strand_name{};
    Done done{*this};
};

/// Those that some threads of a node have started, and others not yet.
class SplitCalls {
public:
    struct Joined {
        std::shared_ptr<StartedCall> call;  ///< the same for all threads
        bool begins;                        ///< all threads have started it
    };
    /// A thread starts its call of that number. Throws Error if another thread has started a different one.
    Joined join(NodeId node, std::uint64_t number, const Request& request, Kept kept, std::uint32_t thread,
                std::uint32_t threads);

private:
    runtime::SpinLock lock_;
    std::unordered_map<std::uint64_t, std::shared_ptr<StartedCall>> waiting_;
};

/// A call that a thread has started. A thread may only let go of it when it has ended, so the destructor
/// waits. If an exception passes, it waits as `outlast` does.
class [[nodiscard]] SplitCall {
public:
    SplitCall(Spmd& self, std::shared_ptr<StartedCall> call) : self_(&self), call_(std::move(call)) {}
    SplitCall(SplitCall&& other) noexcept = default;
    /// Waits for the call that it replaces.
    // NOLINTNEXTLINE(performance-noexcept-move-constructor): a wait may throw
    SplitCall& operator=(SplitCall&& other);
    ~SplitCall() noexcept(false);

    /// Whether `wait` returns at once. A thread that asks again and again lets other strands run between:
    /// `self.strand().yield()`.
    bool done() const { return !call_ || call_->done.done(); }
    /// Returns when this rank's part is complete.
    void wait();

private:
    Spmd* self_;
    std::shared_ptr<StartedCall> call_;  ///< null: it was waited for
};

/// The collective calls, each of which returns a SplitCall. What the calls of redistribution.hpp are given
/// is copied, too; only arrays are not.
class SplitPhase : public Operations<SplitPhase> {
public:
    explicit SplitPhase(Spmd& self) : self_(self) {}

    RankId rank() const;
    RankId ranks() const;

    /// A copy that lives until the call has ended.
    template <class T>
    const T& keep(const T& value) {
        auto copy = std::make_shared<const T>(value);
        const T& kept = *copy;
        kept_.push_back(std::move(copy));
        return kept;
    }

private:
    friend class Operations<SplitPhase>;

    const Algorithm* algorithm_of(Operation operation, std::string_view name) const;
    SplitCall run(const Request& request);

    Spmd& self_;
    Kept kept_;
};

}  // namespace heddle::spmd
