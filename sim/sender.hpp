// The state of a simulated sender module that sends messages in sequences (SimOptions::sends_sequences).
#pragma once

#include <vector>

#include "base/time.hpp"
#include "sim/world.hpp"

namespace heddle::sim {

/// The module of one node and one network.
struct Sender {
    std::vector<Message*> waiting;  ///< in the order of the calls; Message::time says when each was posted
    Time free{};                    ///< when the last sequence has been sent
    Time due = never;               ///< when it takes the next one
};

}  // namespace heddle::sim
