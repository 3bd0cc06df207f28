// A work source: one kind of ready work of a node. The node has a list of its sources. Workers that look for
// work or are about to sleep, the termination detection, and answers to steal requests go through this list.
// They do not know the kinds. An execution model adds a kind by deriving from WorkSource:
// `node.sources().add(source)`.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/assert.hpp"
#include "base/time.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::runtime {

class Gift;
class Worker;
struct Slot;

/// How much work of one kind waits. The first count makes the source known as used; until then the node's
/// list does not ask it.
class WaitingCount {
public:
    WaitingCount() = default;

    /// Before the work is put where others find it.
    void add(std::uint32_t n = 1) {
        count_.fetch_add(n, std::memory_order_seq_cst);
        // Not only the first: the context that counted before may not have come so far.
        if (!known()) [[unlikely]]
            make_known();
    }
    /// After it is taken.
    void subtract(std::uint32_t n = 1) { count_.fetch_sub(n, std::memory_order_seq_cst); }

    std::uint32_t get() const { return count_.load(std::memory_order_seq_cst); }

    /// Whether `add` has returned once.
    bool known() const { return known_.load(std::memory_order_acquire); }

private:
    friend class WorkSources;

    void make_known() {
        used_->fetch_or(kind_, std::memory_order_seq_cst);
        known_.store(true, std::memory_order_release);
    }

    std::atomic<std::uint32_t> count_{0};
    std::atomic<bool> known_{true};  ///< to the list; a count of its own is in none
    std::uint64_t kind_ = 0;         ///< one bit
    std::atomic<std::uint64_t>* used_ = nullptr;
};

/// Work of one kind that waits on a node. It must outlive the run of its node's workers. Workers and the
/// node's receiver call it at the same time. The context that puts work in must call Node::wake_one
/// afterwards: a worker that sleeps already does not look by itself.
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
    bool may_wait() const { return waiting_.get() != 0; }

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
    /// Never less than what waits.
    WaitingCount waiting_;
    /// True for a source of which others may take what does not wait, because active workers have it.
    bool with_active_workers_ = false;

private:
    friend class WorkSources;
};

/// The sources of one node, in the order in which its workers look at them. Sources are added while workers
/// look, and never removed. A source that has had no work yet costs those that look nothing.
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
        const std::size_t place = count_.load(std::memory_order_relaxed);
        HEDDLE_ASSERT(place < most);
        const Kinds kind = Kinds{1} << place;
        all_[place] = &source;
        count_.store(place + 1, std::memory_order_release);
        include(begun == Begun::always ? always_ : unless_deep_, kind);
        if constexpr (overrides(&Source::steal)) include(with_workers_, kind);
        if constexpr (overrides(&Source::give)) include(givers_, kind);
        if constexpr (overrides(&Source::expects)) include(expecting_, kind);
        if constexpr (overrides(&Source::due)) include(due_, kind);
        follow(source, kind);
    }

    /// Runs work of the first source that has some for `worker`.
    bool run(Worker& worker, Slot* head, Begun begun) {
        return run_of(used(begun == Begun::always ? always_ : unless_deep_), worker, head);
    }
    /// The same, but the sources from number `turn` on come first; numbers begin again after the last one. So
    /// in as many turns as there are sources each of them comes first, also where others always have work.
    /// `deep`: only what it always begins.
    bool run_in_turn(std::uint32_t turn, Worker& worker, Slot* head, bool deep) {
        const Kinds all = used(always_) | (deep ? 0 : used(unless_deep_));
        const Kinds first = ~Kinds{0} << turn % count_.load(std::memory_order_acquire);
        return run_of(all & first, worker, head) || run_of(all & ~first, worker, head);
    }
    /// The same of the sources that come after `source`.
    bool run_behind(const WorkSource& source, Worker& worker, Slot* head, Begun begun) {
        const Kinds up_to = source.waiting_.kind_ | (source.waiting_.kind_ - 1);
        return run_of(used(begun == Begun::always ? always_ : unless_deep_) & ~up_to, worker, head);
    }

    /// Whether `worker` could begin something. `deep`: only what it always begins.
    bool waits_for(const Worker& worker, bool deep) const {
        return waits_of(used(always_) | (deep ? 0 : used(unless_deep_)), worker);
    }

    /// When the first work will wait without a cause from outside.
    Time due() const {
        Time first = never;
        each(used(due_), [&](const WorkSource& source) {
            if (source.may_wait()) first = std::min(first, source.due());
        });
        return first;
    }

    /// Whether a source that comes before `source` has work for `worker`.
    bool waits_before(const WorkSource& source, const Worker& worker) const {
        return waits_of(used_.load(std::memory_order_seq_cst) & (source.waiting_.kind_ - 1), worker);
    }
    /// Whether any other source than `source` has.
    bool waits_besides(const WorkSource& source, const Worker& worker) const {
        return waits_of(used_.load(std::memory_order_seq_cst) & ~source.waiting_.kind_, worker);
    }

    /// Whether work waits anywhere on the node, except in deques of active workers.
    bool waits() const {
        return any(used_.load(std::memory_order_seq_cst),
                   [](const WorkSource& source) { return source.may_wait() && source.waits(); });
    }

    /// Whether work for `worker` will come once something else is done.
    bool expects(const Worker& worker) const {
        return any(expecting_.load(std::memory_order_acquire),
                   [&](const WorkSource& source) { return source.expects(worker); });
    }

    /// `thief` takes what waits with `victim`, and runs it.
    bool steal(Worker& thief, Worker& victim, Slot* head) {
        return any(taken_from(with_workers_), [&](WorkSource& source) {
            return source.may_be_taken() && source.steal(thief, victim, head);
        });
    }
    bool may_steal(Worker& victim) const {
        return any(taken_from(with_workers_), [&](const WorkSource& source) {
            return source.may_be_taken() && source.may_steal(victim);
        });
    }
    /// Whether a thief should look at idle workers too.
    bool waits_with_idle_workers() const {
        return any(used(with_workers_), [](const WorkSource& source) { return source.may_wait(); });
    }

    /// How many tasks another node could get.
    std::uint32_t givable() const {
        std::uint32_t sum = 0;
        each(taken_from(givers_), [&](const WorkSource& source) {
            if (source.may_be_taken()) sum += source.givable();
        });
        return sum;
    }
    /// Adds tasks of all sources to the gift as long as it wants more.
    template <class Gift>
    void give(Gift& gift) {
        each(taken_from(givers_), [&](WorkSource& source) {
            if (source.may_be_taken() && gift.wants_more()) source.give(gift);
        });
    }

    std::span<WorkSource* const> all() const { return {all_.data(), count_.load(std::memory_order_acquire)}; }

private:
    /// A set of sources: one bit each, in the order of `all_`.
    using Kinds = std::uint64_t;
    static constexpr std::size_t most = 64;

    static void include(std::atomic<Kinds>& kinds, Kinds kind) {
        kinds.fetch_or(kind, std::memory_order_release);
    }

    /// Invariant: of a source that is not in `used_`, no call of WaitingCount::add has returned. So no work
    /// is in it, and a context that is about to put some has still to look for sleepers (Worker::rest).
    void follow(WorkSource& source, Kinds kind) {
        WaitingCount& waiting = source.waiting_;
        waiting.kind_ = kind;
        waiting.used_ = &used_;
        waiting.known_.store(false, std::memory_order_release);
        if (source.may_wait()) waiting.make_known();
        if (source.with_active_workers_) include(with_active_workers_, kind);
    }

    Kinds used(const std::atomic<Kinds>& kinds) const {
        return kinds.load(std::memory_order_acquire) & used_.load(std::memory_order_seq_cst);
    }
    /// Those of `kinds` from which others may take something.
    Kinds taken_from(const std::atomic<Kinds>& kinds) const {
        return used(kinds) |
               (kinds.load(std::memory_order_acquire) & with_active_workers_.load(std::memory_order_acquire));
    }

    /// Of a member function that a class inherits, the pointer's type names the base.
    template <class Source, class Result, class... Arguments>
    static constexpr bool overrides(Result (Source::* /*function*/)(Arguments...)) {
        return !std::is_same_v<Source, WorkSource>;
    }
    template <class Source, class Result, class... Arguments>
    static constexpr bool overrides(Result (Source::* /*function*/)(Arguments...) const) {
        return !std::is_same_v<Source, WorkSource>;
    }

    bool waits_of(Kinds kinds, const Worker& worker) const {
        return any(kinds,
                   [&](const WorkSource& source) { return source.may_wait() && source.waits_for(worker); });
    }
    bool run_of(Kinds kinds, Worker& worker, Slot* head) const {
        return any(kinds, [&](WorkSource& source) { return source.may_wait() && source.run(worker, head); });
    }
    template <class Predicate>
    bool any(Kinds kinds, const Predicate& predicate) const {
        for (; kinds != 0; kinds &= kinds - 1)
            if (predicate(*all_[static_cast<std::size_t>(std::countr_zero(kinds))])) return true;
        return false;
    }
    template <class Action>
    void each(Kinds kinds, const Action& action) const {
        any(kinds, [&](WorkSource& source) {
            action(source);
            return false;
        });
    }

    alignas(64) std::atomic<Kinds> used_{0};  ///< those that have had work
    std::atomic<Kinds> with_active_workers_{0};
    std::atomic<Kinds> always_{0}, unless_deep_{0};
    // Those that override steal(), give(), expects(), due().
    std::atomic<Kinds> with_workers_{0}, givers_{0}, expecting_{0}, due_{0};
    std::atomic<std::size_t> count_{0};
    std::array<WorkSource*, most> all_{};
    SpinLock lock_;  ///< over adding
};

}  // namespace heddle::runtime
