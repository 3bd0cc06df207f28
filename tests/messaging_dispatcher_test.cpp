// Tests dispatchers, which carry messages of threads in fragments: control blocks, refusals, wake-ups, and
// messages that a receive queue refuses to read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <numeric>

#include "runtime/comm/endpoints.hpp"
#include "tests/fragments_testing.hpp"
#include "tests/messaging_testing.hpp"

namespace heddle::messaging {
namespace {

using testing::HasSubstr;

/// The paper's (section 5.1).
DispatcherSettings papers(std::uint32_t control_blocks) {
    DispatcherSettings settings;
    settings.control_blocks = control_blocks;
    return settings;
}

class MessagingDispatcher : public MessagingTest {};

// What carries messages is the tests' own choice here.
std::vector<MessagingWorld> worlds_once() {
    std::vector<MessagingWorld> all;
    for (const testing_strands::World& world : testing_strands::worlds()) all.push_back({world});
    return all;
}

INSTANTIATE_TEST_SUITE_P(Worlds, MessagingDispatcher, testing::ValuesIn(worlds_once()),
                         [](const auto& world) { return world.param.name; });

void tells_size(Thread& self, ThreadId to) {
    Block block;
    Handle handle = self.recv_dma({}, &block);
    self.test_handle(handle, Mode::blocking);
    bool right = true;
    for (std::size_t i = 0; i < block->size(); ++i)
        right = right && (*block)[i] == static_cast<std::byte>(i * 7);
    self.send(to, 2, right ? block->size() : 0);
}

Block block_of(std::size_t bytes) {
    auto block = std::make_shared<runtime::Bytes>(bytes);
    for (std::size_t i = 0; i < bytes; ++i) (*block)[i] = static_cast<std::byte>(i * 7);
    return block;
}

// Footnote 7: "(64k - fragmentheadersize) x 32", 2,095,872 bytes.
TEST_P(MessagingDispatcher, TheLargestMessageIsThePapers) {
    run(
        2, 2,
        [](Thread& self) {
            for (const std::size_t bytes : {0UL, 1UL, 65'496UL, 65'497UL, 2'095'872UL}) {
                const ThreadId to = self.create<tells_size>(last(self), self.id());
                Handle handle = self.send_dma(to, 1, block_of(bytes));
                self.test_handle(handle, Mode::blocking);
                EXPECT_EQ(self.receive<std::uint64_t>({.thread = to}), bytes);
            }
        },
        papers(64));
}

TEST_P(MessagingDispatcher, OneByteMoreIsAnError) {
    const bool alone = GetParam().world.ends_process;
    EXPECT_THAT(
        testing_strands::error_of([&] {
            run(
                alone ? 1 : 2, alone ? 1 : 2,
                [](Thread& self) { self.send_dma(self.id(), 1, block_of(2'095'873)); }, papers(64));
        }),
        HasSubstr("a message of 2095873 bytes, and the dispatcher permits 2095872: 32 fragments of 65536 "
                  "bytes with headers of 40"));
}

TEST_P(MessagingDispatcher, AMessageToAProcessThatDoesNotExistIsAnError) {
    const bool alone = GetParam().world.ends_process;
    const auto error = [&](const MainThread::Body& body) {
        return testing_strands::error_of([&] { run(alone ? 1 : 2, alone ? 1 : 2, body, papers(64)); });
    };
    const std::string text =
        fmt::format("a message for thread 5 of process 99, and there are {} processes", alone ? 1 : 2);
    EXPECT_THAT(error([](Thread& self) { self.send(ThreadId{99, 5}, 1, 42); }), HasSubstr(text));
    EXPECT_THAT(error([](Thread& self) {
                    self.send_dma(ThreadId{99, 5}, 1, block_of(100'000));
                }),
                HasSubstr(text));
}

void sends_number(Thread& self, ThreadId to, std::uint32_t number) {
    std::vector<std::uint32_t> numbers(1 + number % 3 * 10'000, number);
    self.send(to, number, numbers);
}

TEST_P(MessagingDispatcher, ManySendersLoseNothingWithFewControlBlocks) {
    for (const auto wake : {DispatcherSettings::Wake::one, DispatcherSettings::Wake::all}) {
        DispatcherSettings settings = papers(4);
        settings.wake = wake;
        run(
            3, 2,
            [](Thread& self) {
                constexpr std::uint32_t senders = 300;
                for (std::uint32_t i = 0; i < senders; ++i)
                    self.create<sends_number>(i % self.processes(), self.id(), i);
                std::vector<int> come(senders, 0);
                for (std::uint32_t i = 0; i < senders; ++i) {
                    Actual actual;
                    const auto numbers = self.receive<std::vector<std::uint32_t>>({}, &actual);
                    EXPECT_EQ(numbers, std::vector<std::uint32_t>(1 + actual.tag % 3 * 10'000,
                                                                  static_cast<std::uint32_t>(actual.tag)));
                    ++come[actual.tag];
                }
                EXPECT_EQ(come, std::vector<int>(senders, 1));
            },
            settings);
    }
}

void takes_block(Thread& self, ThreadId to) {
    Block block;
    Handle handle = self.recv_dma({}, &block);
    self.test_handle(handle, Mode::blocking);
    self.send(to, 2, reinterpret_cast<std::uintptr_t>(block->data()));
}

// Section 4.2: "transmitted as a zero copy message"; within a process the receiver has the same memory.
TEST_P(MessagingDispatcher, WithinAProcessABlockIsNotCopied) {
    run(
        1, 2,
        [](Thread& self) {
            const ThreadId to = self.create<takes_block>(self.process(), self.id());
            const Block block = block_of(1'000'000);
            self.send_dma(to, 1, block);
            EXPECT_EQ(self.receive<std::uintptr_t>(), reinterpret_cast<std::uintptr_t>(block->data()));
        },
        papers(64));
}

void sends_two(Thread& self, ThreadId to) {
    self.send(to, 1, 1);
    self.send(to, 2, 2);
}

// The paper bounds the pending messages. If all that wait are not those that threads wait for, the run ends.
TEST_P(MessagingDispatcher, ControlBlocksThatAreFullOfOthersEndTheRun) {
    const bool alone = GetParam().world.ends_process;
    const std::string text = testing_strands::error_of([&] {
        run(
            alone ? 1 : 2, alone ? 1 : 2,
            [](Thread& self) {
                self.create<sends_two>(last(self), self.id());
                self.receive<int>({.tag = 2});
            },
            papers(1));
    });
    EXPECT_THAT(text, HasSubstr("waits for a message with tag 2"));
    EXPECT_THAT(text, HasSubstr("waits for room to send a message"));
}

// --- what a receive queue reads

FragmentHeader part_of(std::uint64_t size, std::uint32_t index) {
    return messaging::header_of(1, 0, size, index);
}

TEST(MessagingReceiveQueue, FragmentsThatDoNotFitAreRefusedByName) {
    ReceiveQueue queue(0, papers(4));
    queue.open(3);
    EXPECT_TRUE(queue.admit(1, part_of(100'000, 0), bytes(65'496)).accepted);
    EXPECT_THROW(queue.admit(1, part_of(100'000, 0), bytes(65'495)), runtime::MalformedMessage);
    EXPECT_THROW(queue.admit(1, part_of(100'000, 2), bytes(1)), runtime::MalformedMessage);
    EXPECT_THROW(queue.admit(1, part_of(100'000, 1), bytes(34'505)), runtime::MalformedMessage);
    EXPECT_THROW(queue.admit(1, part_of(100'001, 1), bytes(34'505)), runtime::MalformedMessage);
    EXPECT_TRUE(queue.admit(1, part_of(100'000, 1), bytes(34'504)).accepted);
}

TEST(MessagingReceiveQueue, ASecondMessageNeedsABlockAndItsTurn) {
    ReceiveQueue queue(0, papers(2));
    queue.open(3);
    FragmentHeader header = part_of(10, 0);
    const auto accepted = [&](std::uint64_t message, std::uint32_t sequence) {
        header.message = message;
        header.sequence = sequence;
        return queue.admit(1, header, bytes(10)).accepted;
    };
    EXPECT_FALSE(accepted(2, 1));  // the first one has not come
    EXPECT_TRUE(accepted(1, 0));
    EXPECT_TRUE(accepted(2, 1));
    EXPECT_FALSE(accepted(3, 2));
    ReceiveQueue::Posted receive;
    receive.thread = 3;
    const ReceiveQueue::Outcome outcome = queue.begin(receive);
    EXPECT_TRUE(queue.has_come(receive));
    // The process that was refused is told.
    ASSERT_EQ(outcome.rooms.size(), 1U);
    EXPECT_EQ(outcome.rooms[0].first, 1U);
    EXPECT_EQ(outcome.rooms[0].second.blocks, 1U);
    EXPECT_TRUE(accepted(3, 2));
    EXPECT_EQ(queue.refused(), 2U);
}

/// A process may permit many messages of which few ever wait.
TEST(MessagingReceiveQueue, BlocksThatAreNotUsedTakeNoMemory) {
    const auto used = [] { return mallinfo2().uordblks; };
    const std::size_t before = used();
    ReceiveQueue queue(0, papers(1'000'000));
    queue.open(3);
    for (std::uint32_t i = 0; i < 5; ++i) {
        FragmentHeader header = part_of(10, 0);
        header.message = i;
        header.sequence = i;
        EXPECT_TRUE(queue.admit(1, header, bytes(10)).accepted);
    }
    EXPECT_EQ(queue.blocks_used_max(), 5U);
    EXPECT_LT(used() - before, 100'000U);
}

TEST(MessagingSendQueue, AnAnswerToWhatWasNeverSentIsMalformed) {
    DispatcherSettings settings = papers(4);
    settings.send_buffers = 1;
    SendQueue queue(0, settings);
    queue.put(1, part_of(100'000, 0), block_of(100'000), std::make_shared<Left>());
    EXPECT_THROW(queue.refused(1, {1, 1}, false, Time{}), runtime::MalformedMessage);  // it has no buffer
    EXPECT_THROW(queue.refused(1, {1, 2}, false, Time{}), runtime::MalformedMessage);
    EXPECT_THROW(queue.refused(1, {2, 0}, false, Time{}), runtime::MalformedMessage);
    EXPECT_THROW(queue.refused(2, {1, 0}, false, Time{}), runtime::MalformedMessage);
    EXPECT_THROW(queue.acknowledged({0, 0}), runtime::MalformedMessage);
    EXPECT_THROW(queue.acknowledged({2, 0}), runtime::MalformedMessage);
    EXPECT_NO_THROW(queue.refused(1, {1, 0}, false, Time{}));
}

TEST(MessagingReceiveQueue, SettingsThatMakeNoSenseAreErrors) {
    DispatcherSettings settings;
    settings.header_bytes = 39;
    EXPECT_THROW(settings.check(), Error);
    settings.header_bytes = settings.fragment_bytes;
    EXPECT_THROW(settings.check(), Error);
    settings = {};
    settings.control_blocks = 0;
    EXPECT_THROW(settings.check(), Error);
}

}  // namespace
}  // namespace heddle::messaging
