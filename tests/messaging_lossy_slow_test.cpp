// Tests messaging threads of two processes by UDP, while a tenth of the datagrams is lost, a tenth doubled
// and a tenth reordered. A million messages below 2 KiB, and 10,240 of up to 2 MiB, arrive once, intact and
// in order.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "base/random.hpp"
#include "tests/messaging_testing.hpp"
#include "tests/native_udp_testing.hpp"

namespace heddle::messaging {
namespace {

constexpr std::uint32_t pairs = 32;  ///< of threads, because one waits long for what was lost
constexpr std::uint32_t batch = 5;   ///< messages that a thread sends before it receives as many

/// Message `number` of a thread, which follows from all three: process, pair, number. Below `most` bytes.
std::string text(ProcessId from, std::uint32_t pair, std::uint32_t number, std::uint32_t most) {
    Random random(std::uint64_t{from} << 48 | std::uint64_t{pair} << 32 | number);
    const std::uint64_t size = random.below(most);
    std::string text(size, '\0');
    const std::uint64_t first = random.below(256);
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(first + i * (number | 1));
    return text;
}

/// Exchanges messages with the other thread of the pair, and tells `main` how many are not as they were sent.
void exchange(Thread& self, ThreadId main, std::uint32_t pair, std::uint32_t count, std::uint32_t most) {
    const auto other = self.receive<ThreadId>();
    std::uint32_t wrong = 0;
    const auto sends = [&](std::uint32_t begin) {
        for (std::uint32_t i = begin; i < begin + batch; ++i)
            self.send(other, 1, text(self.process(), pair, i, most));
    };
    for (std::uint32_t begin = 0; begin < count; begin += batch) {
        // One of both receives first, because a large message is sent only when it is received.
        if (self.process() == 0) sends(begin);
        for (std::uint32_t i = begin; i < begin + batch; ++i)
            wrong += self.receive<std::string>({.thread = other}) != text(1 - self.process(), pair, i, most);
        if (self.process() != 0) sends(begin);
    }
    self.send(main, 2, wrong);
}

class MessagingLossy : public testing::TestWithParam<bool> {
protected:
    /// Each thread sends `count` messages.
    static void run(std::uint32_t count, std::uint32_t most) {
        std::optional<DispatcherSettings> dispatcher;
        if (GetParam()) dispatcher.emplace().fragments = 64;  // the default permits 2 MiB less their headers
        std::uint32_t wrong = 0;
        testing_strands::run_native_nodes_with(native::by_udp({}), 2, 1, [&](NodeId) {
            return std::make_unique<MainThread>(
                [&](Thread& self) {
                    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
                        const ThreadId first = self.create<exchange>(0, self.id(), pair, count, most);
                        const ThreadId second = self.create<exchange>(1, self.id(), pair, count, most);
                        self.send(first, 0, second);
                        self.send(second, 0, first);
                    }
                    for (std::uint32_t i = 0; i < 2 * pairs; ++i)
                        wrong += self.receive<std::uint32_t>({.tag = 2});
                },
                dispatcher);
        });
        EXPECT_EQ(wrong, 0u);
    }
};

INSTANTIATE_TEST_SUITE_P(Carriers, MessagingLossy, testing::Bool(),
                         [](const auto& carrier) { return carrier.param ? "dispatcher" : "endpoint"; });

TEST_P(MessagingLossy, AMillionSmallMessagesArriveOnceIntactAndInOrder) {
    run(15'625, 2 << 10);
}

TEST_P(MessagingLossy, TenThousandLargeMessagesArriveOnceIntactAndInOrder) {
    run(160, 2 << 20);
}

}  // namespace
}  // namespace heddle::messaging
