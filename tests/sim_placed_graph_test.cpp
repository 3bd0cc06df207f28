// A placed graph that is simulated without overheads, stealing or contention takes exactly as long as its
// schedule promises. The promise is the schedulers' arithmetic, which knows nothing of the simulator.
#include "tests/sim_placed_graphs.hpp"

namespace heddle::testing_placed {
namespace {

TEST(PlacedGraphSimulated, TakesExactlyThePromisedTime) {
    expect_all_as_promised(0, 10);
}

}  // namespace
}  // namespace heddle::testing_placed
