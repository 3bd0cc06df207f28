// The strands (user-level threads) of one node. It owns their stacks, decides which worker continues a ready
// strand, and counts the waiting ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/sources/work_source.hpp"
#include "runtime/strands/strand.hpp"
#include "runtime/strands/strand_pool.hpp"
#include "runtime/strands/strand_runner.hpp"
#include "runtime/strands/strand_stacks.hpp"

namespace heddle::runtime {

/// As a work source: each worker runs its own ready strands, or takes one of another worker.
class Strands final : public WorkSource {
public:
    explicit Strands(Node& node);

    /// Whether a strand was ever started here.
    bool used() const { return may_wait(); }

    bool waits() const override { return any_ready(); }
    bool waits_for(const Worker& worker) const override;
    bool run(Worker& worker, Slot* head) override;
    bool expects(const Worker& /*worker*/) const override { return waiting() != 0; }

    /// `caller`: a worker of the node, or its receiver.
    void start(Context& caller, Strand::Body body, Strand::Options options);

    /// A strand that has waited is ready to go on.
    void resume(Context& caller, Strand& strand);

    StrandStacks& stacks() { return stacks_; }
    SpareStrands& spare() { return spare_; }

    /// Ready strands where all contexts see them. Never less than there are: counted before they are put.
    bool any_ready() const { return any_stealable() || pinned_.load(std::memory_order_seq_cst) != 0; }
    bool any_stealable() const { return ready_.load(std::memory_order_seq_cst) != 0; }
    std::atomic<std::uint32_t>& ready(bool pinned) { return pinned ? pinned_ : ready_; }

    /// Takes one for `thief`'s list, which no other worker looks at. False if none is left.
    bool steal_for(StrandRunner& thief, CoreId first_victim);

    /// Strands that wait. Exact while no worker runs; else it may be old.
    std::uint64_t waiting() const;

    /// The waiters, at most `most`, each as "NAME waits for WHAT since TIME". While no worker runs.
    std::vector<std::string> waiters(std::size_t most) const;

    /// Unwinds every strand that has not ended, when no worker runs any more. What their destructors ask of
    /// the scheduler is not done.
    void unwind();

private:
    void put(Context& caller, Strand& strand);
    CoreId some_worker();
    [[noreturn, gnu::cold]] void refuse_worker(const Strand::Options& options) const;

    Node& node_;
    StrandStacks stacks_;
    SpareStrands spare_;
    std::atomic<std::uint32_t> ready_{0};  ///< not pinned
    std::atomic<std::uint32_t> pinned_{0};
    std::atomic<std::uint32_t> next_worker_{0};
    // Of handlers, which run one at a time.
    StrandPool receiver_pool_{spare_};
    std::atomic<std::uint64_t> receiver_resumed_{0};
};

}  // namespace heddle::runtime
