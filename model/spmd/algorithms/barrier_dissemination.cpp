// Hensgen, Finkel, Manber: "Two algorithms for barrier synchronization", 1988.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void barrier_dissemination(const Call& call, Steps& steps) {
    for (RankId distance = 1; distance < call.ranks; distance *= 2) {
        steps.send(call.after(distance), {});
        steps.receive(call.before(distance), {});
    }
}

}  // namespace heddle::spmd::algorithms
