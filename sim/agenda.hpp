// A table of the times at which each simulated machine must run next. It finds the earliest time quickly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/time.hpp"
#include "sim/cards.hpp"

namespace heddle::sim {

/// Most machines are due in most windows. So the times are an array that is read from one end to the other.
/// The earliest time of each block of it lets a reader pass over machines if few are due.
class Agenda {
public:
    explicit Agenda(MachineId machines)
        : times_(machines, never), blocks_((machines + block - 1) / block, never) {}

    /// Machine `id` is to be looked at by `time`.
    void note(MachineId id, Time time) {
        times_[id] = std::min(times_[id], time);
        blocks_[id / block] = std::min(blocks_[id / block], time);
    }

    /// `never` if no machine is due.
    Time next_time() const {
        Time first = never;
        for (const Time time : blocks_) first = std::min(first, time);
        return first;
    }

    /// Appends the machines that are due before `end` to `due`, in the order of their numbers, and forgets
    /// them.
    void take(Time end, std::vector<MachineId>& due) {
        for (std::size_t number = 0; number < blocks_.size(); ++number)
            if (blocks_[number] < end) blocks_[number] = take_of_block(number * block, end, due);
    }

private:
    static constexpr std::size_t block = 64;

    /// Returns the earliest time that is left.
    Time take_of_block(std::size_t first, Time end, std::vector<MachineId>& due) {
        Time left = never;
        for (std::size_t id = first; id < std::min(first + block, times_.size()); ++id) {
            if (times_[id] < end) {
                due.push_back(static_cast<MachineId>(id));
                times_[id] = never;
            } else {
                left = std::min(left, times_[id]);
            }
        }
        return left;
    }

    std::vector<Time> times_;
    std::vector<Time> blocks_;
};

}  // namespace heddle::sim
