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

struct SimNode {
    SimNode(NodeId number, std::span<SimWorker> of_cores, SimWorker& receiver_module, Pace speed)
        : id(number),
          workers(of_cores),
          receiver(&receiver_module),
          pace(std::move(speed)),
          cores_left(1e12 * (of_cores.size() == 1 ? 0.5 : static_cast<double>(of_cores.size() - 1)), 1e12) {}

    CoreId cores() const { return static_cast<CoreId>(workers.size()); }

    NodeId id;
    CoreId idle = 0;       ///< workers that are parked or have finished
    CoreId computing = 0;  ///< workers that do declared work
    Time rested = never;   ///< when a worker last returned from a park; never: none has
    std::span<SimWorker> workers;
    SimWorker* receiver;
    Pace pace;
    runtime::NodeProgram* program = nullptr;
    Stacks* stacks = nullptr;  ///< of its workers
    bool begun = false;

    Time sender_free{};
    std::vector<Sender> senders;  ///< if they send sequences: of each network
    std::uint64_t messages_sent = 0;
    Message* received = nullptr;  ///< the receiver module's work; the first is being received
    Message* last_received = nullptr;
    bool receiver_rests = false;  ///< a worker that rests receives the message whose handler runs
    CoreId finished = 0;          ///< workers that have left
    CoreId next_taken = 0;        ///< the core that the next message takes its time from
    /// If the receiver polls: the cores that it leaves to the workers. In picoseconds of work.
    MemoryBus cores_left;
    std::uint64_t cores_round = 0;  ///< changes whenever the next end of `cores_left` does
    /// By place in the machine: when the last message to that node has left the sender's side of the memory
    /// that they share. Empty until there is one.
    std::vector<Time> channel_free;
};

}  // namespace heddle::sim
