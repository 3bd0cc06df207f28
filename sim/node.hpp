// One simulated node: its program, its workers, its sender and receiver modules. A machine
// (sim/machine.hpp) runs its events.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "runtime/backend.hpp"
#include "sim/memory_bus.hpp"
#include "sim/pace.hpp"
#include "sim/sender.hpp"
#include "sim/stacks.hpp"
#include "sim/world.hpp"

namespace heddle::sim {

/// What every event looks at comes first, in two lines of the cache.
struct alignas(64) SimNode {
    SimNode(SimMachine& its_machine, NodeId number, std::span<SimWorker> of_cores, SimWorker& receiver_module,
            Pace speed)
        : machine(&its_machine),
          id(number),
          workers(of_cores),
          receiver(&receiver_module),
          pace(std::move(speed)),
          cores_left(1e12 * (of_cores.size() == 1 ? 0.5 : static_cast<double>(of_cores.size() - 1)), 1e12) {}

    CoreId cores() const { return static_cast<CoreId>(workers.size()); }

    SimMachine* machine;
    NodeId id;
    CoreId idle = 0;       ///< workers that are parked or have finished
    CoreId receiving = 0;  ///< workers that receive themselves
    std::span<SimWorker> workers;
    SimWorker* receiver;
    runtime::NodeProgram* program = nullptr;
    Message* received = nullptr;  ///< the receiver module's work; the first is being received
    Message* last_received = nullptr;

    Time sender_free{};
    std::uint64_t messages_sent = 0;
    Time rested = never;     ///< when a worker last returned from a park; never: none has
    CoreId computing = 0;    ///< workers that do declared work
    CoreId next_taken = 0;   ///< the core that the next message takes its time from
    CoreId finished = 0;     ///< workers that have left
    std::uint8_t soon = 0;   ///< so often a worker came back to rest soon; halved where one did not
    std::uint8_t taken = 0;  ///< so often the receiver module has taken a core to wake, since `taken_since`
    bool begun = false;
    bool polled = false;          ///< a worker takes up what has been received
    bool receiver_rests = false;  ///< a worker that rests receives the message whose handler runs
    Pace pace;                    ///< begins with what is looked at if the speed never changes

    Time taken_since{}, naps_until{};
    /// When the receiver module takes up what it has left to a worker; never: it has left nothing.
    Time looks_at = never;
    Stacks* stacks = nullptr;     ///< of its workers
    std::vector<Sender> senders;  ///< if they send sequences: of each network
    /// If the receiver polls: the cores that it leaves to the workers. In picoseconds of work.
    MemoryBus cores_left;
    std::uint64_t cores_round = 0;  ///< changes whenever the next end of `cores_left` does
    /// By place in the machine: when the last message to that node has left the sender's side of the memory
    /// that they share. Empty until there is one.
    std::vector<Time> channel_free;
};

}  // namespace heddle::sim
