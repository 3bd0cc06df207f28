// The dataflow threads of one node as a work source. Idle workers and thieves of other nodes take ready
// closures of these threads, whether a thread waits or another worker runs it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "model/dataflow/thread.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"
#include "runtime/sources/work_source.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::dataflow {

/// `waiting_` counts the threads that wait for a stolen closure and may have ready ones.
class Threads final : public runtime::State<runtime::Node>, public runtime::WorkSource {
public:
    explicit Threads(runtime::Node& node);
    ~Threads() override;

    runtime::Node& node() const { return node_; }

    /// A body that has forked so many closures, to a few hundred, waits for them before it forks more; 0: it
    /// does not. Before the run.
    void limit(std::uint64_t window) { window_ = window; }
    std::uint64_t window() const { return window_; }

    /// A thread, on a strand of its own: `begin(thread)` forks its first closures. `options.task`: it is the
    /// body of a task. The strand itself is none, because it runs the closures, too. `caller`: a worker, or
    /// the receiver in a handler.
    template <class Begin>
    void start(runtime::Context& caller, runtime::Strand::Options options, Begin begin) {
        const bool task = std::exchange(options.task, false);
        runtime::Strand::start(
            node_, caller,
            [this, task, begin = std::move(begin)](runtime::Strand& strand) {
                Thread& thread = take();
                thread.execute(strand, task, begin);
                give_back(thread);
            },
            options);
    }
    /// One that runs a closure which was stolen. `begin(thread)` makes it. `victim`: for a record.
    template <class Begin>
    void start_thief(runtime::Worker& worker, WorkerId victim, Begin begin) {
        start(worker, {.name = "a thief thread", .task = false},
              [victim, begin = std::move(begin)](Thread& own) {
                  begin(own);
                  own.worker().note_victim(victim);
              });
    }

    bool run(runtime::Worker& worker, runtime::Slot* head) override;
    bool may_steal(runtime::Worker& victim) const override;
    bool steal(runtime::Worker& thief, runtime::Worker& victim, runtime::Slot* head) override;
    std::uint32_t givable() const override;
    void give(runtime::Gift& gift) override;

    void report(runtime::NodeReport& report) const override;

    // --- for threads
    /// Which thread `worker` runs; null: none. While a body waits for what is no thread's, its thread stays
    /// named until the worker runs another one: thieves may take what it offers.
    static void runs(runtime::Worker& worker, Thread* thread);
    void count_waiting(bool more) { more ? waiting_.add() : waiting_.subtract(); }
    void count_renaming() { renamings_.fetch_add(1, std::memory_order_relaxed); }

    // --- for what is away
    struct Away {
        Thread* thread;
        Closure* closure;
    };
    std::uint64_t sends(Away away);
    /// What was sent under that number. Throws MalformedMessage if nothing was, or it is back.
    Away returns(std::uint64_t id);

private:
    static Thread* run_by(runtime::Worker& worker);

    Thread& take();
    void give_back(Thread& thread);
    std::size_t size() const;
    Thread& at(std::size_t i) const;
    /// `worker`: where the victim runs. Its core is TaskNote::nowhere if the victim waits.
    bool steal_from(runtime::Worker& thief, Thread& victim, WorkerId worker);

    runtime::Node& node_;
    std::uint64_t window_;
    std::atomic<std::uint64_t> renamings_{0};
    mutable runtime::SpinLock lock_;  ///< over what follows
    std::vector<std::unique_ptr<Thread>> all_;
    std::vector<Thread*> free_;
    std::map<std::uint64_t, Away> away_;
    std::uint64_t next_id_ = 1;
};

}  // namespace heddle::dataflow
