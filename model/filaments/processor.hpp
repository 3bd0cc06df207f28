// The processor that executes a filament: its number, its copy of reduction variables, the work that its
// filaments have declared, and how often it polls. Work is charged in batches: at the end of a pool, and
// before a filament waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/core/caller.hpp"
#include "runtime/core/poll_pace.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::filaments {

class Filaments;
template <class T>
class Reduction;

/// The work of one processor that was declared and not charged yet.
class alignas(64) DeclaredWork {
public:
    DeclaredWork(runtime::Worker& worker, bool charges)
        : worker_(worker),
          pace_(worker.node().topology().polled_in_passing, charges ? units_most : steps_most),
          charges_(charges) {}
    DeclaredWork(const DeclaredWork&) = delete;
    DeclaredWork& operator=(const DeclaredWork&) = delete;

    // A fault may interrupt a filament between any two instructions. It must find all that was declared
    // before.
    void declare(std::uint64_t units) {
        units_.store(units_.load(std::memory_order_relaxed) + units, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }

    /// Charges all of it. Called before a request of this processor's leaves.
    void settle() {
        charge_all();
        goes_on_ = false;
    }

    /// Whether work is charged, so that it must be declared.
    bool charges() const { return charges_; }
    runtime::Worker& worker() const { return worker_; }

    /// Whether the processor polls while filaments are executed: then `step` is called between them, often.
    bool polls() const { return pace_.polls(); }
    /// `settles`: no page is kept for what has been declared.
    void step(bool settles) {
        if (!pace_.polls()) [[likely]]
            return;
        if (!charges_) {
            if (pace_.due(1)) pace_.poll(worker_);
        } else if (settles && units_.load(std::memory_order_relaxed) >= pace_.left()) {
            charge_all();
        }
    }

private:
    /// What is charged in parts, with polls between them, is one piece of work all the same.
    void charge_all() {
        std::uint64_t units = units_.load(std::memory_order_relaxed);
        if (units == 0) return;
        units_.store(0, std::memory_order_relaxed);
        if (!pace_.polls()) return worker_.work(units);
        while (units > 0) {
            const std::uint64_t part = std::min(units, pace_.left());
            if (std::exchange(goes_on_, true)) {
                worker_.work_on(part);
            } else {
                worker_.work(part);
            }
            units -= part;
            if (pace_.due(part)) pace_.poll(worker_);
        }
    }

    /// Between two polls: strips, and where work is charged units.
    static constexpr std::uint64_t steps_most = 1U << 10, units_most = 1U << 16;

    runtime::Worker& worker_;
    runtime::PollPace pace_;
    bool charges_;
    bool goes_on_ = false;  ///< part of the piece has been charged
    std::atomic<std::uint64_t> units_{0};
};

/// A processor, as the filaments of one pool see it.
class Processor {
public:
    Processor(Filaments& filaments, DeclaredWork& work, std::size_t pool)
        : filaments_(filaments), work_(work), worker_(work.worker()), pool_(pool) {}
    Processor(const Processor&) = delete;
    Processor& operator=(const Processor&) = delete;

    /// Its number on its node, from 0.
    CoreId id() const { return worker_.id.core; }
    NodeId node() const { return worker_.id.node; }
    /// Which of the processor's pools of this phase is executed, from 0.
    std::size_t pool() const { return pool_; }
    Filaments& filaments() const { return filaments_; }
    runtime::Worker& worker() const { return worker_; }

    /// This filthread's copy of a reduction variable (the paper's filGetVal).
    template <class T>
    T& value(Reduction<T>& variable) const {
        return variable.copy(id(), pool_);
    }

    /// A filament declares work beyond that of its phase (PhaseOptions::units), in the program's units.
    void work(std::uint64_t units) const {
        if (work_.charges()) [[unlikely]]
            work_.declare(units);
    }
    DeclaredWork& declared() const { return work_; }

    /// The filament's filthread, as functions want it that wait. Other pools of this processor run meanwhile.
    runtime::Caller caller() const { return *worker_.strands().current(); }

    /// Waits until `waitable` is done.
    void wait(runtime::Waitable& waitable) const {
        work_.settle();
        caller().wait(waitable);
    }

private:
    Filaments& filaments_;
    DeclaredWork& work_;
    runtime::Worker& worker_;
    std::size_t pool_;
};

}  // namespace heddle::filaments
