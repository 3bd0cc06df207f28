// Advances all machines of a simulation in windows of virtual time. Within a window no machine can reach
// another, so threads may simulate machines at the same time. Large messages advance between windows, in
// SimGrid.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/crew.hpp"
#include "sim/agenda.hpp"
#include "sim/machine.hpp"

namespace heddle::sim {

class Simulation {
public:
    struct Order {
        bool reverse = false;  ///< machines of one window are visited in the opposite order
        bool plain = false;    ///< none goes on beyond the window
    };
    /// `order` must not matter. `elapsed`:
    /// the time that all machines have reached, in picoseconds, for other threads to read.
    /// `crew`: runs the lanes of the world at the same time; may be null.
    Simulation(World& world, std::deque<SimMachine>& machines, Order order, Crew* crew,
               std::atomic<std::int64_t>& elapsed);

    /// Runs until all workers have returned and all messages are delivered. Passes on what a worker or
    /// handler throws; throws Error on a deadlock.
    void run();

private:
    void run_window(Time begin);
    void run_lanes(Time end);
    void run_lane(std::size_t lane, Time end);
    void note_written_to(MachineId from, std::span<Message* const> sent);
    void go_on_alone(std::size_t lane, std::size_t first, std::size_t last);
    bool all_done() const;
    void insert_arrivals();
    [[noreturn]] void deadlock() const;

    World& world_;
    std::deque<SimMachine>& machines_;
    Order order_;
    Crew* crew_;
    std::atomic<std::size_t> next_lane_{0};  ///< of this window: the next that a thread takes
    Agenda agenda_;
    std::vector<Message*> inboxes_;  ///< by machine: what it has not been told of, linked
    std::vector<MachineId> due_;
    std::vector<std::vector<std::size_t>> due_of_lane_;  ///< places in `due_`
    std::vector<Message*> spare_messages_;               ///< that one lane has left over for the others
    std::vector<std::uint32_t> expecting_;  ///< by machine: the last window in which a message may have come
    std::uint32_t window_ = 0;
    bool groups_go_on_ = false;            ///< in the present window
    std::vector<std::size_t> stopped_at_;  ///< by lane: the place in `due_` of the machine that failed
    Time next_arrival_{};                  ///< nothing new arrives before this
    std::atomic<std::int64_t>& elapsed_;
};

}  // namespace heddle::sim
