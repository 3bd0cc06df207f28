// Tests random exchanges of messages between threads at many interleavings, natively and in simulation. Each
// message comes once, whole and in order.
#include "tests/messaging_random.hpp"

namespace heddle::testing_messaging {
namespace {

TEST(MessagingRandomSlow, EachMessageComesOnceAtManyInterleavings) {
    expect_each_once_in_process(100'000);
}

TEST(MessagingRandomSlow, EachMessageComesOnceOnRealNodes) {
    expect_each_once_natively(2000);
}

#ifdef HEDDLE_SIM
TEST(MessagingRandomSlow, EachMessageComesOnceInSimulation) {
    expect_each_once_in_simulation(5000);
}
#endif

}  // namespace
}  // namespace heddle::testing_messaging
