// Divides what messages of different sizes take among their ends and the way between them. One line over all
// sizes cannot: copies from and to memory take longer by the byte than those that stay in a cache, and large
// messages are read while they are written.
#pragma once

#include <vector>

#include "calibration/entries.hpp"

namespace heddle::calibration {

/// What the bytes of a message of that size take at each end, in seconds: what a message takes without any
/// is not in it.
struct MessageEnds {
    double bytes = 0;
    double send = 0;
    double receive = 0;
};

/// As heddle::time_of_bytes.
double seconds_of_bytes(const std::vector<MessageEnds>& sizes, double MessageEnds::*end, double bytes);

/// What its bytes take at both ends of a message. Through shared memory one reads while the other writes.
double seconds_at_ends(const std::vector<MessageEnds>& sizes, Way way, double bytes);

struct SizedMessages {
    std::vector<MessageEnds> ends;  ///< by size, ascending; none takes less than the one before
    double way_slope = 0;           ///< seconds for each byte, on the way
};

/// `trips`: half round trips. `fixed`: what a message without bytes takes. `measured`: the ends as they were
/// seen alone, which may come to more than all of a message.
SizedMessages divide_by_size(const std::vector<Trip>& trips, double fixed,
                             const std::vector<MessageEnds>& measured, Way way);

}  // namespace heddle::calibration
