// Counts the sends of a collective call that have not left.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "runtime/core/node.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::spmd {

/// The sends of a call that have not left. Shared, because a send may leave after an error has ended the
/// call.
class Leaving {
public:
    void begin() { count_.fetch_add(1, std::memory_order_relaxed); }
    void end(runtime::Worker& worker) {
        if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) all_.complete(worker.node(), worker);
    }
    bool under_way() const { return count_.load(std::memory_order_acquire) > 1; }
    /// Once.
    void wait(runtime::Strand& self) {
        end(self.worker());
        self.wait(all_);
    }

private:
    class All final : public runtime::Event {
    public:
        std::string what() const override { return "its messages of a collective call to leave"; }
    };
    std::atomic<std::uint32_t> count_{1};  ///< the call itself
    All all_;
};

}  // namespace heddle::spmd
