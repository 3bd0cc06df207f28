// Simulates 200 placed graphs without overheads: each takes exactly as long as its schedule promises.
#include "tests/sim_placed_graphs.hpp"

namespace heddle::testing_placed {
namespace {

TEST(PlacedGraphSimulated, TakesExactlyThePromisedTimeOnTwoHundredGraphs) {
    expect_all_as_promised(0, 200);
}

}  // namespace
}  // namespace heddle::testing_placed
