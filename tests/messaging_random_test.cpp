// Tests random exchanges of messages between threads at some interleavings, natively and in simulation. Each
// message comes once, whole and in order.
#include "tests/messaging_random.hpp"

namespace heddle::testing_messaging {
namespace {

TEST(MessagingRandom, EachMessageComesOnceAtManyInterleavings) {
    expect_each_once_in_process(500);
}

TEST(MessagingRandom, EachMessageComesOnceOnRealNodes) {
    expect_each_once_natively(40);
}

#ifdef HEDDLE_SIM
TEST(MessagingRandom, EachMessageComesOnceInSimulation) {
    expect_each_once_in_simulation(100);
}
#endif

}  // namespace
}  // namespace heddle::testing_messaging
