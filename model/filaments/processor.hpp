// The processor that executes a filament: its number, its copies of reduction variables, and the work that
// its filaments have declared. Work is charged in batches: at the end of a pool, and before a filament waits.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/core/caller.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::filaments {

class Filaments;
class PoolBase;
template <class T>
class Reduction;

class alignas(64) Processor {
public:
    Processor(Filaments& filaments, runtime::Worker& worker, bool charges)
        : filaments_(filaments), worker_(worker), charges_(charges) {}
    Processor(const Processor&) = delete;
    Processor& operator=(const Processor&) = delete;

    /// Its number on its node, from 0.
    CoreId id() const { return worker_.id.core; }
    NodeId node() const { return worker_.id.node; }
    Filaments& filaments() const { return filaments_; }
    runtime::Worker& worker() const { return worker_; }

    /// This processor's copy of a reduction variable (the paper's filGetVal).
    template <class T>
    T& value(Reduction<T>& variable) const {
        return variable.copy(id());
    }

    /// A filament declares work beyond that of its phase (PhaseOptions::units), in the program's units.
    void work(std::uint64_t units) {
        if (charges_) [[unlikely]]
            declare(units);
    }

    /// Waits until `waitable` is done. Other pools of this processor run meanwhile. For filaments.
    void wait(runtime::Waitable& waitable) {
        settle();
        runtime::Caller(*worker_.strands().current()).wait(waitable);
    }

    /// Charges the work that filaments have declared here so far. Called before a request of theirs leaves.
    void settle() {
        const std::uint64_t units = declared_.load(std::memory_order_relaxed);
        if (units == 0) return;
        declared_.store(0, std::memory_order_relaxed);
        worker_.work(units);
    }

    /// Whether work is charged, so that it must be counted.
    bool charges() const { return charges_; }

    // A fault may interrupt a filament between any two instructions. It must find all that was declared
    // before.
    void declare(std::uint64_t units) {
        declared_.store(declared_.load(std::memory_order_relaxed) + units, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }

private:
    friend class Filaments;

    Filaments& filaments_;
    runtime::Worker& worker_;
    bool charges_;
    std::atomic<std::uint64_t> declared_{0};  ///< units since the last `settle`
};

}  // namespace heddle::filaments
