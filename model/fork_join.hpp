// Fork/join, the first execution model. A program is a set of task functions:
//
//     struct Fib {
//         static std::uint64_t run(Strand strand, std::uint32_t n) {
//             if (n < 2) return n;
//             strand.fork<Fib>(n - 1);
//             const auto second = strand.call<Fib>(n - 2);
//             return strand.join<Fib>() + second;
//         }
//     };
//
// A fork may run anywhere; a call runs here; a join takes the latest fork that was not joined yet. Every fork
// is joined, in that order, before its function returns. If no worker steals, a join is a direct call.
//
// A function may declare what each of its calls takes: `static constexpr std::uint64_t work_units = 1`, in
// the unit that Program::unit prices. That is a Strand::work(1) at its beginning, but where the gates are
// open, a joined task does not even test whether it is charged.
//
// A function that takes its arguments by reference to const may say `static constexpr bool in_place = true`.
// Then what it gets may lie in its own slot, over which its first fork writes: it copies what it needs from
// there on. That saves the copy where most tasks fork nothing.
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "model/task_function.hpp"
#include "runtime/core/task_record.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/run/program.hpp"

namespace heddle::model {

/// A function's place in the run: its worker, and where on that worker's deque it forks. Pass it by value.
class Strand {
public:
    explicit Strand(runtime::Worker& worker) : Strand(worker, worker.base()) {}
    Strand(runtime::Worker& worker, runtime::Slot* head) : worker_(&worker), head_(head) {}

    /// Makes a task F::run(strand, arguments...), which another worker may take. For an argument that costs
    /// much to copy, give a function that returns it: it is made in its place.
    template <class F, class... Given>
    void fork(Given&&... arguments) {
        using Task = TaskFunction<F>;
        // After arguments with a destructor: see Deque. Others keep the machine code that was measured.
        if constexpr (!Task::drops_arguments) head_->type = &Task::type;
        Task::store(head_->payload, std::forward<Given>(arguments)...);
        if constexpr (Task::drops_arguments) head_->type = &Task::type;
        worker_->push(head_);
        ++head_;
    }

    /// Runs F::run(strand, arguments...) here and now.
    template <class F, class... Given>
    auto call(Given&&... arguments) const {
        if constexpr (TaskFunction<F>::work_units != 0) work(TaskFunction<F>::work_units);
        return F::run(Strand(*worker_, head_), std::forward<Given>(arguments)...);
    }

    /// The result of the latest fork that was not joined yet, which must have been of F.
    template <class F>
    auto join() {
        using Task = TaskFunction<F>;
        runtime::Slot* slot = --head_;
        // For gcc, `slot` is a new value from here on. Otherwise it finds that the joined task's strand
        // equals the one that this function was called with, and loads both pointers as one vector right
        // after it stored each alone. No processor forwards that: fib took 2.4 times as long.
        __asm__("" : "+r"(slot));
        if (worker_->pop(slot, Task::work_units)) [[likely]] {
            if constexpr (Task::drops_arguments) slot->type = nullptr;
            return Task::call(Strand(*worker_, slot), slot->payload);
        }
        return Task::take_result(slot->payload);
    }

    /// Joins the latest `count` forks, which must have been of F, the latest first, and calls `use(result)`
    /// for each.
    template <class F, class Use>
    void join_all(std::int32_t count, const Use& use) {
        for (; count > 0; --count) use(join<F>());
    }

    /// Declares `units` units of the program's work, as Program::unit prices them. Free where nothing is
    /// charged.
    void work(std::uint64_t units = 1) const { worker_->work(units); }

    /// The node's program, for settings and for state that a sequential program would keep in globals.
    template <class P>
    P& program() const {
        return static_cast<P&>(worker_->program());
    }

    runtime::Worker& worker() const { return *worker_; }

private:
    runtime::Worker* worker_;
    runtime::Slot* head_;
};

template <class F>
typename TaskFunction<F>::Result TaskFunction<F>::call(Strand strand, std::byte* payload) {
    if constexpr (in_place) {
        auto& arguments = *std::launder(reinterpret_cast<Arguments*>(payload));
        return std::move(arguments).apply([&](const auto&... values) { return F::run(strand, values...); });
    } else {
        return call_on_copy(strand, payload);
    }
}

template <class F>
typename TaskFunction<F>::Result TaskFunction<F>::call_on_copy(Strand strand, std::byte* payload) {
    if constexpr (arguments_on_heap) {
        const auto arguments = detail::take_from_payload<Arguments>(payload);
        return std::move(*arguments).apply([&](auto&&... values) {
            return F::run(strand, std::move(values)...);
        });
    }
    auto* stored = std::launder(reinterpret_cast<Arguments*>(payload));
    const auto run = [&](auto&&... values) { return F::run(strand, std::move(values)...); };
    // Out of the slot before the call: what the function forks is written over it. Each alone: a copy of all
    // together loads the bytes between them, too, which no store wrote (see detail::make_at).
    if constexpr (Signature::takes_copies && std::is_trivially_copyable_v<Arguments>) {
        return std::move(*stored).apply(run);
    }
    Arguments arguments = std::move(*stored);
    stored->~Arguments();
    return std::move(arguments).apply(run);
}

template <class F>
void TaskFunction<F>::run(runtime::Worker& worker, runtime::Slot* head, std::byte* payload) {
    const Strand strand(worker, head);
    if constexpr (work_units != 0 && drops_arguments) {
        runtime::HeldPayload held(type, payload);
        strand.work(work_units);
        held.holds = runtime::Holds::nothing;
    } else if constexpr (work_units != 0) {
        strand.work(work_units);
    }
    // Not in place: there the result is made.
    if constexpr (std::is_void_v<Result>) {
        call_on_copy(strand, payload);
    } else if constexpr (result_on_heap) {
        detail::give_to_payload(payload, std::make_unique<Result>(call_on_copy(strand, payload)));
    } else {
        ::new (static_cast<void*>(payload)) Result(call_on_copy(strand, payload));
    }
}

/// A program with its beginning in one function, on the first worker of node 0.
class ForkJoinProgram : public runtime::Program {
public:
    /// The root of the spawn tree.
    virtual void root(Strand strand) = 0;

    void begin(runtime::Worker& worker) override {
        if (worker.id != WorkerId{0, 0}) return worker.begins_nothing();
        worker.count_task();
        const runtime::TaskRecord record(worker, TaskNote::root);
        root(Strand(worker));
    }
};

}  // namespace heddle::model
