// Simulates a placed graph without overheads, stealing or contention: it takes exactly what its schedule
// promises. The promise is the schedulers' arithmetic, which uses no code of the simulator.
#include "tests/sim_placed_graphs.hpp"

namespace heddle::testing_placed {
namespace {

TEST(PlacedGraphSimulated, TakesExactlyThePromisedTime) {
    expect_all_as_promised(0, 10);
}

}  // namespace
}  // namespace heddle::testing_placed
