// Types that the simulator's files share: a worker as a fiber, a message on its way, and the switch from
// fiber to fiber. No time is computed here.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

#include "base/fiber_notes.hpp"
#include "base/fiber_switch.hpp"
#include "base/lost_fibers.hpp"
#include "base/time.hpp"
#include "runtime/backend.hpp"

namespace heddle::sim {

class SimMachine;
struct SimNode;

/// A worker, or the receiver of a node (which has no fiber), or the simulation's own thread of control (which
/// has no node).
///
/// What every switch looks at comes first, in one line of the cache.
struct alignas(64) SimWorker : runtime::BackendPart {
    boost::context::fiber fiber;  ///< where it goes on; empty while it runs
    runtime::Context* context = nullptr;
    SimNode* node = nullptr;
    bool parked = false;
    bool waking = false;  ///< unparked, but not yet back
    bool permit = false;
    std::uint8_t passed_over = 0;     ///< pauses without effect since it went on
    std::uint32_t parks = 0;          ///< how often it parked: tells its present deadline from older ones
    Time since{};                     ///< when it went on
    Time debt{};                      ///< taken from its core by messages, still to be paid
    const void* hot = nullptr;        ///< Context::hot
    const void* stack_top = nullptr;  ///< near where its stack ends while it does not run
    // Seldom needed.
    bool finished = false;
    bool polls = false;  ///< only a message has interrupted its park, which goes on after a poll
    const std::function<bool()>* receives_until = nullptr;  ///< while it receives itself, and is not unparked
    std::uint32_t parts_left = 0;                           ///< of its work: bytes, and flops on shared cores
    double noise = 1;                                       ///< of its latest piece of work
    Time flops_end{};  ///< when its arithmetic is done, while it waits for memory
    [[no_unique_address]] FiberNotes notes;
};

/// In place of a message's network: it lets a node begin that may be in none of its sender's networks.
/// Gateways are programs, so none passes it on: it takes the latency of the way.
inline constexpr NetworkId no_network = ~NetworkId{0};

/// A message from the moment it is sent until it is delivered.
struct alignas(64) Message {
    runtime::Bytes bytes;
    NodeId from = 0;
    NodeId to = 0;
    std::uint64_t sequence = 0;  ///< its number among the messages of `from`
    Time time{};                 ///< of its departure from the sender module; later of its arrival
    Message* next = nullptr;     ///< another one that waits for the same, in a list
    bool encloses = false;       ///< most do not, and the enclosure is not looked at
    bool in_turn = false;        ///< runtime::Path
    NetworkId network = 0;
    runtime::Enclosure enclosure;

    std::uint64_t size() const { return bytes.size() + (encloses ? enclosure.size() : 0); }
};

/// Switches between the workers of a lane's nodes and the lane's own thread of control, which advances them.
class Switchboard {
    SimWorker main_;  // first, as it begins a line of the cache

public:
    SimWorker& main() { return main_; }

    /// `from` stops here and `to` goes on. Returns when a worker switches back to `from`.
    void jump(SimWorker& from, SimWorker& to) {
        // Also when the worker is abandoned, which comes out of `resume` as an exception.
        struct Arrival {
            SimWorker& here;
            SimWorker& other;
            const SimWorker& thread;
            const Switchboard& board;
            [[gnu::always_inline]] ~Arrival() {
                if (&here == &thread) {
                    other.notes.after_resume();
                } else if (board.leaving_ == &thread) {
                    here.notes.after_suspend();
                } else {
                    here.notes.after_switch();
                }
            }
        };
        leaving_ = &from;
        from.stack_top = __builtin_frame_address(0);
        if (from.context) from.hot = from.context->hot;
        if (&from == &main_) {
            to.notes.before_resume();
        } else if (&to == &main_) {
            from.notes.before_suspend();
        } else {
            from.notes.before_switch_to(to.notes);
        }
        const Arrival arrival{from, to, main_, *this};
        boost::context::fiber back = resumed(std::move(to.fiber));
        leaving_->fiber = std::move(back);
    }

    /// The first thing on a new fiber's stack: `caller` is what Boost.Context hands over.
    void entered(SimWorker& worker, boost::context::fiber&& caller) {
        worker.notes.after_entry();
        leaving_->fiber = std::move(caller);
    }

    /// The last thing: what the fiber returns to Boost.Context.
    boost::context::fiber leave(SimWorker& worker) {
        worker.finished = true;
        leaving_ = &worker;
        worker.notes.before_exit();
        return std::move(main_.fiber);
    }

    /// Unwinds a worker that will not be resumed any more. Called by the main thread of control.
    void abandon(SimWorker& worker) {
        abandoning_ = true;
        leaving_ = &main_;
        if (worker.fiber && worker.context->faults != 0) {
            lose(std::move(worker.fiber));  // Context::faults
        } else if (worker.fiber) {
            worker.notes.before_resume();
            worker.fiber = {};
            worker.notes.after_unwind();
        }
        worker.finished = true;
    }

    /// True while workers are unwound: whatever their destructors ask for is not done.
    bool abandoning() const { return abandoning_; }

    std::exception_ptr failure;  ///< what came out of a worker

private:
    SimWorker* leaving_ = nullptr;  ///< the worker that switched last
    bool abandoning_ = false;
};

}  // namespace heddle::sim
