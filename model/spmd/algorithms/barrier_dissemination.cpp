// Barrier by dissemination: in each round a rank signals to ranks at growing distances, and waits for signals
// of ranks as far behind. Radix 2: Hensgen, Finkel, Manber: "Two algorithms for barrier synchronization",
// 1988. Any radix: Hoefler et al.: "Fast barrier synchronization for InfiniBand", 2006, where a rank's
// signals of a round travel together.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

template <RankId radix>
void barrier_dissemination(const Call& call, Steps& steps) {
    for (RankId step = 1; step < call.ranks; step *= radix) {
        const RankId end = std::min(call.ranks, radix * step);
        for (RankId distance = step; distance < end; distance += step) steps.send(call.after(distance), {});
        for (RankId distance = step; distance < end; distance += step)
            steps.receive(call.before(distance), {});
    }
}

template void barrier_dissemination<2>(const Call&, Steps&);
template void barrier_dissemination<4>(const Call&, Steps&);
template void barrier_dissemination<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
