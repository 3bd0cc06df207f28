// As sim_placed_graph_test, on 200 graphs.
#include "tests/sim_placed_graphs.hpp"

namespace heddle::testing_placed {
namespace {

TEST(PlacedGraphSimulated, TakesExactlyThePromisedTimeOnTwoHundredGraphs) {
    expect_all_as_promised(0, 200);
}

}  // namespace
}  // namespace heddle::testing_placed
