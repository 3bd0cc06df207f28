// Lowers what the ends of a message take to what a message of that size was seen to take.
#include "calibration/message_sizes.hpp"

#include <algorithm>

namespace heddle::calibration {

namespace {

/// Of what bytes take: the way has the rest.
constexpr double most_at_ends = 0.98;

/// Smaller messages take what one without bytes takes, and their differences are noise.
constexpr double least_bytes = 300;

MessageEnds at_most(MessageEnds ends, double most, Way way) {
    if (way == Way::shared_memory)
        return {ends.bytes, std::min(ends.send, most), std::min(ends.receive, most)};
    const double sum = ends.send + ends.receive;
    const double share = sum > most ? most / sum : 1;
    return {ends.bytes, share * ends.send, share * ends.receive};
}

}  // namespace

double seconds_of_bytes(const std::vector<MessageEnds>& sizes, double MessageEnds::*end, double bytes) {
    if (sizes.empty()) return 0;
    auto above = std::ranges::lower_bound(sizes, bytes, {}, &MessageEnds::bytes);
    if (above == sizes.end()) --above;
    const MessageEnds below = above == sizes.begin() ? MessageEnds{} : *(above - 1);
    const double slope = ((*above).*end - below.*end) / (above->bytes - below.bytes);
    return below.*end + slope * (bytes - below.bytes);
}

double seconds_at_ends(const std::vector<MessageEnds>& sizes, Way way, double bytes) {
    const double send = seconds_of_bytes(sizes, &MessageEnds::send, bytes);
    const double receive = seconds_of_bytes(sizes, &MessageEnds::receive, bytes);
    return way == Way::network ? send + receive : std::max(send, receive);
}

SizedMessages divide_by_size(const std::vector<Trip>& trips, double fixed,
                             const std::vector<MessageEnds>& measured, Way way) {
    SizedMessages sized;
    double squares = 0, products = 0;  // of the way's line: relative errors
    double all = 0;
    for (const Trip& trip : trips) {
        if (trip.bytes < least_bytes) continue;
        all = std::max(all, trip.seen - fixed);
        const MessageEnds alone{trip.bytes, seconds_of_bytes(measured, &MessageEnds::send, trip.bytes),
                                seconds_of_bytes(measured, &MessageEnds::receive, trip.bytes)};
        MessageEnds ends = at_most(alone, most_at_ends * all, way);
        if (!sized.ends.empty()) {
            ends.send = std::max(ends.send, sized.ends.back().send);
            ends.receive = std::max(ends.receive, sized.ends.back().receive);
        }
        sized.ends.push_back(ends);
        const double weight = 1 / (trip.seen * trip.seen);
        squares += weight * trip.bytes * trip.bytes;
        products += weight * trip.bytes * (all - seconds_at_ends(sized.ends, way, trip.bytes));
    }
    if (squares > 0) sized.way_slope = std::max(0.0, products / squares);
    return sized;
}

}  // namespace heddle::calibration
