// Prefix sums (scan) rank after rank, with the fewest messages. Sanders, Traeff: "Parallel prefix (scan)
// algorithms for MPI", 2006, section 2.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void scan_chain(const Call& call, Steps& steps) {
    const Range output = whole(call, Array::output);
    steps.copy(output, whole(call, Array::input));
    if (call.rank > 0) steps.combine(call.before(1), output, Comes::left);
    if (call.rank + 1 < call.ranks) steps.send(call.after(1), output);
}

}  // namespace heddle::spmd::algorithms
