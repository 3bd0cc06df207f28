// Tests native nodes by UDP, while a tenth of the datagrams is lost, a tenth doubled and a tenth reordered. A
// million small messages and 10,000 of 2 MiB arrive once, intact and in order.
#include <gtest/gtest.h>

#include "tests/native_udp_testing.hpp"

namespace heddle::native {

TEST(NativeUdpSlow, AMillionSmallMessagesArriveOnceIntactAndInOrder) {
    exchange(500'000, 40, false, by_udp({}));
}

TEST(NativeUdpSlow, TenThousandLargeMessagesArriveOnceIntactAndInOrder) {
    exchange(5'000, 2 << 20, true, by_udp({}));
}

}  // namespace heddle::native
