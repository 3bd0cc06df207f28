// Runs the shipped workloads in a faulty world, at a few seeds: messages are late and out of order, and
// workers wake for no reason.
#include "tests/faulty_workloads.hpp"
#include "tests/seeds.hpp"

namespace heddle::testing_faults {
namespace {

TEST(FaultyWorkloads, AreRightAtEachSeed) {
    run_seeds(0, testing_seeds::seeds(1200));
}

TEST(FaultyWorkloads, AreAllThatShip) {
    std::set<std::string> run = too_large;
    for (const SmallRun& stated : all_workloads()) run.insert(stated.name);
    for (const workloads::Kind& kind : workloads::all()) EXPECT_TRUE(run.contains(kind.name)) << kind.name;
}

}  // namespace
}  // namespace heddle::testing_faults
