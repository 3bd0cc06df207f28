// Broadcast along a chain: each rank sends the array to the next one, as a whole (chain) or in segments
// (pipeline). Pjesivac-Grbovic et al.: "Performance analysis of MPI collective operations", 2007, section 3.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

namespace {

void broadcast_in_segments(const Call& call, Index segment, Steps& steps) {
    const RankId number = call.from_root();
    Index begin = 0;
    do {  // once even if there are no elements
        const Range range{Array::output, begin, std::min(segment, call.count - begin)};
        if (number > 0) steps.receive(call.before(1), range);
        if (number + 1 < call.ranks) steps.send(call.after(1), range);
        begin += range.count;
    } while (begin < call.count);
}

}  // namespace

void broadcast_chain(const Call& call, Steps& steps) {
    broadcast_in_segments(call, call.count, steps);
}

void broadcast_pipeline(const Call& call, Steps& steps) {
    broadcast_in_segments(call, std::max<Index>(1, call.segment), steps);
}

}  // namespace heddle::spmd::algorithms
