// Prefix sums (scan) by recursive doubling: after round k a rank has combined the 2^k ranks that end with it.
// Hillis, Steele: "Data parallel algorithms", 1986.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void scan_recursive_doubling(const Call& call, Steps& steps) {
    const Range output = whole(call, Array::output);
    steps.copy(output, whole(call, Array::input));
    for (RankId distance = 1; distance < call.ranks; distance *= 2) {
        if (distance < call.ranks - call.rank) steps.send(call.after(distance), output);
        if (distance <= call.rank) steps.combine(call.before(distance), output, Comes::left);
    }
}

}  // namespace heddle::spmd::algorithms
