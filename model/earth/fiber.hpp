// Fibers and their sync slots. In a threaded function F, `Fiber<&F::function> READY{*this, 2}` is a slot that
// waits for two signals, then schedules an activation of F::function (EARTH: Tremblay et al., section 2).
// Programs include earth.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "model/earth/frame.hpp"
#include "model/task_function.hpp"
#include "runtime/comm/global_reference.hpp"
#include "runtime/comm/sync_slot.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/task_type.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::model::earth {

class Em;

template <class T>
using Global = runtime::GlobalReference<T>;

/// SPTR: a reference to a sync slot on any node.
using Sptr = runtime::GlobalReference<runtime::SyncSlot>;

/// Where one argument of a fiber is awaited, on any node.
template <class T>
struct Input {
    Global<T> value;
    Sptr slot;
};

namespace detail {

template <class Function>
struct FiberSignature;
template <class F, class... Values>
struct FiberSignature<void (F::*)(Em, Values...)> {
    using Owner = F;
    using Arguments = model::detail::Pack<Values...>;
    template <std::size_t index>
    using Argument = std::tuple_element_t<index, std::tuple<Values...>>;
    static constexpr std::uint32_t arguments = sizeof...(Values);
    static_assert((std::is_trivially_copyable_v<Values> && ...), "arguments of fibers are plain bytes");
};

/// A member function's name, as the compiler writes it.
template <auto Function>
std::string function_name() {
    const std::string text = __PRETTY_FUNCTION__;
    const auto begin = text.find("Function = ") + 11;
    return text.substr(begin, text.find_first_of(";]", begin) - begin);
}

/// Makes a fiber ready: in its turn where it is exclusive, and before those of lower priority.
void schedule(Frame& frame, runtime::Node& node, runtime::Context& caller, const ScheduledFiber& fiber,
              bool exclusive);

/// An exclusive fiber has ended.
void schedule_next_exclusive(Frame& frame, runtime::Worker& worker);

[[noreturn]] void terminated_too_early(const Frame& frame, const std::string& fiber, NodeId node);

/// A worker's frames. The program shares them, because frames that were never terminated outlive the worker.
struct WorkerFrames : runtime::State<runtime::Worker> {
    explicit WorkerFrames(runtime::Worker& worker);

    std::shared_ptr<FramePool> pool;
};

inline FramePool& pool_of(runtime::Worker& worker) {
    return *worker.state<WorkerFrames>().pool;
}

/// To be called before a fiber of the frame, `Function`, other than the initialization fiber.
template <auto Function>
void begin_fiber(const runtime::Worker& worker, const Frame& frame) {
    if (frame.terminated()) [[unlikely]]
        terminated_too_early(frame, function_name<Function>(), worker.id.node);
}

/// See EarthNode.
void remember(runtime::Node& node, Frame& frame, void (*destroy)(Frame&));
void forget(runtime::Node& node, Frame& frame);

/// To be called when a fiber of the frame has returned.
template <class F>
void end_fiber(runtime::Worker& worker, F& frame) {
    if (!frame.fiber_ended()) return;
    const FunctionInfo& function = frame.function();
    if (!std::is_trivially_destructible_v<F> || frame.has_exclusive()) forget(worker.node(), frame);
    frame.~F();
    pool_of(worker).release(&frame, function);
}

}  // namespace detail

/// The sync slot of a fiber, which is a member function of the threaded function F: void F::fiber(Em). Each
/// time its count is reached one more activation of the fiber is scheduled; several may run at once, also on
/// different workers. With `exclusive`, only one of all exclusive fibers of a thread runs at a time. Of the
/// fibers that wait for one execution module, those of higher priority begin earlier.
template <auto Function, bool exclusive = false, std::uint32_t priority = 0>
class Fiber : public runtime::SyncSlot {
    using Signature = detail::FiberSignature<decltype(Function)>;
    using F = typename Signature::Owner;
    static_assert(Signature::arguments == 0, "a fiber with arguments is a FiberOf");

public:
    /// `count` signals enable it. It is then armed again, with `reset_count`; 0: no more signals may come.
    Fiber(F& thread, std::uint32_t count, std::uint32_t reset_count)
        : SyncSlot(count, reset_count, &Fiber::enable), frame_(&thread) {}
    Fiber(F& thread, std::uint32_t count) : Fiber(thread, count, count) {}

    /// For a slot that gets its count while the thread runs, by `set`.
    explicit Fiber(F& thread) : Fiber(thread, 0, 0) {}

private:
    static void enable(SyncSlot& slot, runtime::Node& node, runtime::Context& caller) {
        F* const frame = static_cast<Fiber&>(slot).frame_;
        frame->fiber_scheduled();
        if constexpr (exclusive || priority != 0) {
            detail::schedule(*frame, node, caller, {&type, priority}, exclusive);
        } else {
            node.make_ready(caller, type, std::as_bytes(std::span(&frame, 1)));
        }
    }
    static void run(runtime::Worker& worker, runtime::Slot* head, std::byte* payload);

    F* frame_;
    static const runtime::TaskType type;
};

template <auto Function, std::uint32_t priority = 0>
using ExclusiveFiber = Fiber<Function, true, priority>;

/// A fiber with arguments (EARTH paper, section 7): it is scheduled when each of them has come (Em::put_sync
/// to an Input), and is called with them. Then it waits for the next set, of which nothing may come before
/// the last argument of this one.
template <auto Function>
class FiberOf : public runtime::SyncSlot {
    using Signature = detail::FiberSignature<decltype(Function)>;
    using F = typename Signature::Owner;
    using Arguments = typename Signature::Arguments;
    struct Payload {
        F* frame;
        Arguments arguments;
    };
    static_assert(sizeof(Payload) <= runtime::payload_bytes, "a fiber's arguments are 40 bytes at most");

public:
    explicit FiberOf(F& thread)
        : SyncSlot(Signature::arguments, Signature::arguments, &FiberOf::enable), waiting_{&thread, {}} {}

    /// The place of argument `index`. `here`: the thread's node.
    template <std::size_t index>
    auto input(NodeId here) {
        using T = typename Signature::template Argument<index>;
        auto& value = static_cast<model::detail::Element<index, T>&>(waiting_.arguments).value;
        return Input<T>{{here, &value}, {here, this}};
    }

private:
    static void enable(SyncSlot& slot, runtime::Node& node, runtime::Context& caller) {
        const Payload& waiting = static_cast<FiberOf&>(slot).waiting_;
        waiting.frame->fiber_scheduled();
        node.make_ready(caller, type, std::as_bytes(std::span(&waiting, 1)));
    }
    static void run(runtime::Worker& worker, runtime::Slot* head, std::byte* payload);

    Payload waiting_;
    static const runtime::TaskType type;
};

}  // namespace heddle::model::earth
