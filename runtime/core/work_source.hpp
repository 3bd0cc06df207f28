// A kind of ready work of a node, and the list of a node's kinds. Workers that look for work, workers about
// to sleep, the termination detection and the answers to other nodes' steal requests go through this list,
// and know no kind. An execution model adds a kind by deriving from WorkSource: `node.sources().add(source)`.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/assert.hpp"
#include "base/time.hpp"
#include "runtime/spin_lock.hpp"

namespace heddle::runtime {

class Gift;
class Worker;
struct Slot;

/// Work of one kind that waits on a node. It must outlive the run of its node's workers. Workers and the
/// node's receiver call it at the same time.
///
/// Invariant: work is in a source, or a worker that has shown itself active has it (Worker::show_active), or
/// it counts as leaving the node (Gift::leaves). So a node without active workers, work in sources and
/// leaving tasks has nothing to do.
class WorkSource {
public:
    WorkSource() = default;
    WorkSource(const WorkSource&) = delete;
    WorkSource& operator=(const WorkSource&) = delete;
    virtual ~WorkSource() = default;

    /// False only if no work waits here: one load. What follows here is asked only if it is true.
    bool may_wait() const { return waiting_.load(std::memory_order_seq_cst) != 0; }

    /// Whether work waits here.
    virtual bool waits() const { return true; }

    /// Whether `worker` could begin some of it now.
    virtual bool waits_for(const Worker& /*worker*/) const { return true; }

    /// When work will wait here without a cause from outside. A worker does not sleep beyond it.
    virtual Time due() const { return never; }

    /// `worker` takes some of it and runs it above `head`. False if there was none for it.
    virtual bool run(Worker& worker, Slot* head) = 0;

    /// False only if neither another worker nor another node could take something. What follows here is asked
    /// only if it is true.
    bool may_be_taken() const { return with_active_workers_ || may_wait(); }

    // --- what waits with one worker, and another worker may take. `may_wait` is true if it may wait with an
    // idle worker.
    /// Whether another worker of the node may take something that waits with `victim`.
    virtual bool may_steal(Worker& /*victim*/) const { return false; }
    /// `thief` takes it and runs it above `head`. False if there was none.
    virtual bool steal(Worker& /*thief*/, Worker& /*victim*/, Slot* /*head*/) { return false; }

    // --- what may leave the node
    /// How many tasks another node could get.
    virtual std::uint32_t givable() const { return 0; }
    /// Adds tasks to the gift as long as it wants more. What is pinned stays. Tasks may be chosen, or found
    /// to be ready, for the gift's thief.
    virtual void give(Gift& /*gift*/) {}

    /// Whether work for this worker will come once something else is done: then it waits, and is not idle.
    virtual bool expects(const Worker& /*worker*/) const { return false; }

protected:
    /// Never less than what waits: counted up before it is put, and down after it is taken.
    std::atomic<std::uint32_t> waiting_{0};
    /// True for a source of which others may take what does not wait, because active workers have it.
    bool with_active_workers_ = false;
};

/// The sources of one node, in the order in which its workers look at them. Sources are added while workers
/// look, and never removed.
class WorkSources {
public:
    /// Which work a worker begins above a task that waits, if very many tasks lie on its stack already.
    enum class Begun : std::uint8_t {
        always,       ///< the run may depend on it
        unless_deep,  ///< another worker, or this one later, can begin it as well
    };

    /// `source` must outlive the node's workers. Of one kind, those added first come first. A source is asked
    /// only what `Source` overrides.
    template <class Source>
    void add(Source& source, Begun begun = Begun::always) {
        static_assert(!std::is_same_v<Source, WorkSource>, "add a source as what it is");
        const SpinLock::Guard guard(lock_);
        (begun == Begun::always ? always_ : unless_deep_).add(source);
        if constexpr (overrides(&Source::steal)) with_workers_.add(source);
        if constexpr (overrides(&Source::give)) givers_.add(source);
        if constexpr (overrides(&Source::expects)) expecting_.add(source);
        if constexpr (overrides(&Source::due)) due_.add(source);
        all_.add(source);
    }

    /// Runs work of the first source that has some for `worker`.
    bool run(Worker& worker, Slot* head, Begun begun) {
        for (WorkSource* const source : (begun == Begun::always ? always_ : unless_deep_).get())
            if (source->may_wait() && source->run(worker, head)) return true;
        return false;
    }

    /// Whether `worker` could begin something. `deep`: only what it always begins.
    bool waits_for(const Worker& worker, bool deep) const {
        const auto waits = [&](const WorkSource* source) {
            return source->may_wait() && source->waits_for(worker);
        };
        return any(always_, waits) || (!deep && any(unless_deep_, waits));
    }

    /// When the first work will wait without a cause from outside.
    Time due() const {
        Time first = never;
        for (const WorkSource* const source : due_.get())
            if (source->may_wait()) first = std::min(first, source->due());
        return first;
    }

    /// Whether a source that comes before `source` has work for `worker`.
    bool waits_before(const WorkSource& source, const Worker& worker) const {
        for (const WorkSource* const other : all_.get()) {
            if (other == &source) return false;
            if (other->may_wait() && other->waits_for(worker)) return true;
        }
        return false;
    }

    /// Whether work waits anywhere on the node, except in deques of active workers.
    bool waits() const {
        return any(all_, [](const WorkSource* source) { return source->may_wait() && source->waits(); });
    }

    /// Whether work for `worker` will come once something else is done.
    bool expects(const Worker& worker) const {
        return any(expecting_, [&](const WorkSource* source) { return source->expects(worker); });
    }

    /// `thief` takes what waits with `victim`, and runs it.
    bool steal(Worker& thief, Worker& victim, Slot* head) {
        for (WorkSource* const source : with_workers_.get())
            if (source->may_be_taken() && source->steal(thief, victim, head)) return true;
        return false;
    }
    bool may_steal(Worker& victim) const {
        return any(with_workers_, [&](const WorkSource* source) {
            return source->may_be_taken() && source->may_steal(victim);
        });
    }
    /// Whether a thief should look at idle workers too.
    bool waits_with_idle_workers() const {
        return any(with_workers_, [](const WorkSource* source) { return source->may_wait(); });
    }

    /// How many tasks another node could get.
    std::uint32_t givable() const {
        std::uint32_t sum = 0;
        for (const WorkSource* const source : givers_.get())
            if (source->may_be_taken()) sum += source->givable();
        return sum;
    }
    /// Adds tasks of all sources to the gift as long as it wants more.
    template <class Gift>
    void give(Gift& gift) {
        for (WorkSource* const source : givers_.get())
            if (source->may_be_taken() && gift.wants_more()) source->give(gift);
    }

    std::span<WorkSource* const> all() const { return all_.get(); }

private:
    static constexpr std::size_t most = 32;

    /// Grows while others read it.
    class List {
    public:
        void add(WorkSource& source) {
            const std::size_t count = count_.load(std::memory_order_relaxed);
            HEDDLE_ASSERT(count < most);
            sources_[count] = &source;
            count_.store(count + 1, std::memory_order_release);
        }
        std::span<WorkSource* const> get() const {
            return {sources_.data(), count_.load(std::memory_order_acquire)};
        }

    private:
        std::atomic<std::size_t> count_{0};
        std::array<WorkSource*, most> sources_{};
    };

    /// Of a member function that a class inherits, the pointer's type names the base.
    template <class Source, class Result, class... Arguments>
    static constexpr bool overrides(Result (Source::* /*function*/)(Arguments...)) {
        return !std::is_same_v<Source, WorkSource>;
    }
    template <class Source, class Result, class... Arguments>
    static constexpr bool overrides(Result (Source::* /*function*/)(Arguments...) const) {
        return !std::is_same_v<Source, WorkSource>;
    }

    template <class Predicate>
    static bool any(const List& list, const Predicate& predicate) {
        for (const WorkSource* const source : list.get())
            if (predicate(source)) return true;
        return false;
    }

    List always_;
    List unless_deep_;
    List all_;
    // Those that override steal(), give(), expects(), due().
    List with_workers_, givers_, expecting_, due_;
    SpinLock lock_;  ///< over adding
};

}  // namespace heddle::runtime
