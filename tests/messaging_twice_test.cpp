// Tests that a fragment which comes twice is acknowledged again and delivered once, and that a late answer
// changes nothing: by hand, and with the queues of several processes on a network that doubles, delays and
// reorders fragments and their answers, and loses acknowledgments of fragments that come again.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "base/random.hpp"
#include "model/messaging/receive_queue.hpp"
#include "model/messaging/send_queue.hpp"
#include "runtime/comm/wire.hpp"
#include "tests/fragments_testing.hpp"
#include "tests/seeds.hpp"

namespace heddle::messaging {
namespace {

constexpr std::uint64_t data_bytes = 100;  ///< of a fragment

DispatcherSettings little(std::uint32_t control_blocks, std::uint32_t send_buffers) {
    DispatcherSettings settings;
    settings.fragment_bytes = data_bytes + settings.header_bytes;
    settings.control_blocks = control_blocks;
    settings.send_buffers = send_buffers;
    return settings;
}

TEST(MessagingTwice, AFragmentOfAMessageThatIsComingIsAcceptedAgain) {
    ReceiveQueue queue(0, little(4, 4));
    queue.open(3);
    ReceiveQueue::Posted receive;
    receive.thread = 3;
    static_cast<void>(queue.begin(receive));
    EXPECT_TRUE(queue.admit(1, header_of(1, 0, 200, 0), bytes(100)).accepted);
    EXPECT_TRUE(queue.admit(1, header_of(1, 0, 200, 0), bytes(100)).accepted);
    EXPECT_FALSE(queue.has_come(receive));
    EXPECT_TRUE(queue.admit(1, header_of(1, 0, 200, 1), bytes(100)).accepted);
    EXPECT_TRUE(queue.has_come(receive));
}

TEST(MessagingTwice, AMessageThatHasComeWholeIsDeliveredOnceAndTakesNoOtherBlock) {
    ReceiveQueue queue(0, little(1, 4));
    queue.open(3);
    std::vector<ReceiveQueue::Posted> receives(2);
    for (ReceiveQueue::Posted& receive : receives) {
        receive.thread = 3;
        static_cast<void>(queue.begin(receive));
    }
    EXPECT_TRUE(queue.admit(1, header_of(1, 0, 50, 0), bytes(50)).accepted);
    EXPECT_TRUE(queue.admit(1, header_of(1, 0, 50, 0), bytes(50)).accepted);
    EXPECT_TRUE(queue.has_come(receives[0]));
    EXPECT_FALSE(queue.has_come(receives[1]));
    EXPECT_TRUE(queue.admit(1, header_of(2, 1, 50, 0), bytes(50)).accepted);
    EXPECT_TRUE(queue.has_come(receives[1]));
    EXPECT_EQ(queue.refused(), 0U);
}

TEST(MessagingTwice, SequenceNumbersMayBeginAgain) {
    ReceiveQueue queue(0, little(2, 4));
    queue.open(3);
    EXPECT_TRUE(queue.admit(1, header_of(1, 0, 1, 0), bytes(1)).accepted);
    // Before 0, modulo 2^32: so it came before. And after it: so it must wait.
    EXPECT_TRUE(queue.admit(1, header_of(9, 0xffff'ffffU, 1, 0), bytes(1)).accepted);
    EXPECT_FALSE(queue.admit(1, header_of(3, 2, 1, 0), bytes(1)).accepted);
    EXPECT_EQ(queue.blocks_used_max(), 1U);
}

TEST(MessagingTwice, AfterAThreadHasEndedOnlyWhatItHadIsAccepted) {
    ReceiveQueue queue(0, little(2, 4));
    queue.open(3);
    EXPECT_TRUE(queue.admit(1, header_of(1, 0, 1, 0), bytes(1)).accepted);
    static_cast<void>(queue.close(3));
    EXPECT_TRUE(queue.admit(1, header_of(1, 0, 1, 0), bytes(1)).accepted);
    EXPECT_THROW(queue.admit(1, header_of(2, 1, 1, 0), bytes(1)), Error);
    EXPECT_THROW(queue.admit(2, header_of(1, 0, 1, 0), bytes(1)), Error);
}

TEST(MessagingTwice, AnAcknowledgmentThatComesTwiceFreesOneBufferAndEndsNothingEarly) {
    SendQueue queue(0, little(4, 2));
    const auto put = [&](std::uint64_t size) {
        return queue.put(1, header_of(0, 0, size, 0), std::make_shared<runtime::Bytes>(size),
                         std::make_shared<Left>());
    };
    EXPECT_EQ(put(250).departures.size(), 2U);
    EXPECT_EQ(queue.acknowledged({1, 0}).departures.size(), 1U);
    EXPECT_TRUE(queue.acknowledged({1, 0}).departures.empty());
    EXPECT_TRUE(put(50).departures.empty());
    EXPECT_FALSE(queue.acknowledged({1, 0}).left);
    EXPECT_EQ(queue.acknowledged({1, 1}).departures.size(), 1U);
    EXPECT_TRUE(queue.acknowledged({1, 2}).left);
    // Late.
    EXPECT_FALSE(queue.acknowledged({1, 2}).left);
    EXPECT_TRUE(queue.refused(1, {1, 2}, false, Time{}).departures.empty());
    EXPECT_TRUE(queue.acknowledged({2, 0}).left);
    // Of two buffers two are free.
    EXPECT_EQ(put(250).departures.size(), 2U);
}

TEST(MessagingTwice, AFragmentThatIsRefusedAndAcceptedIsNotSentAgain) {
    SendQueue queue(0, little(4, 4));
    queue.put(1, header_of(0, 0, 50, 0), std::make_shared<runtime::Bytes>(50), std::make_shared<Left>());
    EXPECT_TRUE(queue.refused(1, {1, 0}, false, Time{}).departures.empty());
    EXPECT_TRUE(queue.acknowledged({1, 0}).left);
    bool relieved = false;
    RelievedMessage answer;
    EXPECT_TRUE(queue.room(1, {1}, relieved, answer).departures.empty());
    EXPECT_TRUE(relieved);
    EXPECT_EQ(answer.blocks, 1U);
    EXPECT_EQ(answer.refusals, 1U);
}

// --- a block that is told of is used, or told of again

/// A send queue of process 0, and messages of one fragment.
class MessagingRoom : public testing::Test {
protected:
    explicit MessagingRoom(std::uint32_t buffers = 4) : queue(0, little(4, buffers)) {}

    /// Of the thread 0 to thread 3.
    SendQueue::Outcome put(ProcessId to, std::uint64_t size = 50) {
        return queue.put(to, header_of(0, 0, size, 0), std::make_shared<runtime::Bytes>(size),
                         std::make_shared<Left>());
    }
    SendQueue::Outcome refused(std::uint64_t message, bool has_room) {
        return queue.refused(1, {message, 0}, has_room, Time{});
    }
    std::size_t sent_by_room() {
        bool relieved = false;
        RelievedMessage answer;
        return queue.room(1, {1}, relieved, answer).departures.size();
    }

    SendQueue queue;
};
class MessagingRoomOneBuffer : public MessagingRoom {
protected:
    MessagingRoomOneBuffer() : MessagingRoom(1) {}
};

TEST_F(MessagingRoomOneBuffer, TheNextMessageUsesItIfACopyOfTheFirstHasCome) {
    put(1);
    refused(1, false);
    EXPECT_TRUE(put(1).departures.empty());
    EXPECT_EQ(put(2).departures.size(), 1U);  // has the buffer
    EXPECT_EQ(sent_by_room(), 0U);
    EXPECT_TRUE(queue.acknowledged({1, 0}).left);
    const auto departures = queue.acknowledged({3, 0}).departures;
    ASSERT_EQ(departures.size(), 1U);
    EXPECT_EQ(departures.front().header.message, 2U);
}

TEST_F(MessagingRoomOneBuffer, IfNoOtherMessageWaitsTheProcessIsToldSo) {
    put(1);
    refused(1, false);
    put(2);
    EXPECT_EQ(sent_by_room(), 0U);
    const SendQueue::Outcome outcome = queue.acknowledged({1, 0});
    ASSERT_TRUE(outcome.relieved);
    EXPECT_EQ(outcome.relieved->first, 1U);
    EXPECT_EQ(outcome.relieved->second.refusals, 1U);
    EXPECT_EQ(outcome.relieved->second.blocks, 1U);
    queue.acknowledged({2, 0});
    EXPECT_EQ(put(1).departures.size(), 1U);
}

TEST_F(MessagingRoom, ALaterMessageLeavesItToAnOlderOneWhoseRefusalComesLate) {
    put(1);
    put(1);
    EXPECT_FALSE(refused(2, true).again);  // the first may be on its way
    EXPECT_TRUE(refused(1, false).again);
}

TEST_F(MessagingRoom, AMessageIsTriedAgainIfTheOneBeforeItHasABlock) {
    put(1, 150);
    put(1);
    queue.acknowledged({1, 0});
    EXPECT_TRUE(refused(2, true).again);
}

TEST_F(MessagingRoom, ALateRefusalLeavesItToAMessageThatWaits) {
    put(1);
    put(1);
    refused(1, false);
    EXPECT_TRUE(queue.acknowledged({2, 0}).left);
    EXPECT_TRUE(refused(2, true).again);
}

TEST(MessagingTwice, AFragmentThatComesAgainLeavesItsBlockToAnotherProcess) {
    ReceiveQueue queue(0, little(1, 4));
    queue.open(3);
    EXPECT_TRUE(queue.admit(1, header_of(1, 0, 1, 0), bytes(1)).accepted);
    EXPECT_FALSE(queue.admit(2, header_of(1, 0, 1, 0), bytes(1)).accepted);
    EXPECT_TRUE(queue.admit(1, header_of(1, 0, 1, 0), bytes(1)).rooms.empty());
    ReceiveQueue::Posted receive;
    receive.thread = 3;
    EXPECT_EQ(queue.begin(receive).rooms.size(), 1U);
    const ReceiveQueue::Outcome outcome = queue.admit(1, header_of(1, 0, 1, 0), bytes(1));
    ASSERT_EQ(outcome.rooms.size(), 1U);
    EXPECT_EQ(outcome.rooms.front().first, 2U);
}

// --- processes on a network that doubles

struct Answer {
    FragmentId fragment;
    bool accepted = false;
    bool has_room = false;
};
struct Letter {
    ProcessId from = 0;
    ProcessId to = 0;
    std::variant<Departure, Answer, RoomMessage, RelievedMessage> content;
};

/// Of two threads in each process, each of which sends to each thread of the other processes.
class Processes {
public:
    explicit Processes(std::uint64_t seed) : random_(seed) {
        const auto count = static_cast<ProcessId>(2 + random_.below(2));
        for (ProcessId process = 0; process < count; ++process) {
            const DispatcherSettings settings = little(static_cast<std::uint32_t>(1 + random_.below(3)),
                                                       static_cast<std::uint32_t>(1 + random_.below(5)));
            all_.push_back(std::make_unique<One>(process, settings));
            for (std::uint32_t thread = 0; thread < threads; ++thread) all_.back()->receive.open(thread);
        }
    }

    void run() {
        for (ProcessId from = 0; from < all_.size(); ++from)
            for (ProcessId to = 0; to < all_.size(); ++to)
                for (std::uint32_t thread = 0; from != to && thread < threads * threads; ++thread)
                    streams_.push_back({from, to, thread / threads, thread % threads, 0, 0});
        std::uint64_t steps = 0;
        while (delivered_ < streams_.size() * each) {
            ASSERT_LT(++steps, 2'000'000U) << "nothing goes on";
            const std::uint64_t choice = random_.below(10);
            if (choice == 0) {
                send(streams_[random_.below(streams_.size())]);
            } else if (choice <= 2) {
                take(static_cast<ProcessId>(random_.below(all_.size())),
                     static_cast<std::uint32_t>(random_.below(threads)));
            } else if (!letters_.empty()) {
                arrive();
            }
            if (testing::Test::HasFailure()) return;
        }
        while (!letters_.empty()) arrive();
        EXPECT_EQ(left_, streams_.size() * each);
        for (const auto& one : all_) {
            EXPECT_TRUE(one->lefts.empty());
            // All buffers are free.
            const auto departures = one->send
                                        .put(one->process == 0 ? 1 : 0, header_of(0, 0, 3200, 0),
                                             std::make_shared<runtime::Bytes>(3200), std::make_shared<Left>())
                                        .departures;
            EXPECT_EQ(departures.size(), one->settings.send_buffers);
            // So are all blocks.
            for (std::uint32_t i = 0; i < one->settings.control_blocks; ++i)
                EXPECT_TRUE(one->receive.admit(99, header_of(i + 1, i, 1, 0, 0), bytes(1)).accepted);
            EXPECT_FALSE(
                one->receive.admit(99, header_of(1000, one->settings.control_blocks, 1, 0, 0), bytes(1))
                    .accepted);
        }
    }

    std::uint64_t doubled() const { return doubled_; }
    std::uint64_t lost() const { return lost_; }

private:
    static constexpr std::uint32_t threads = 2;
    static constexpr std::uint32_t each = 12;  ///< messages of a thread to another one

    struct One {
        One(ProcessId number, const DispatcherSettings& its_settings)
            : process(number), settings(its_settings), send(number, settings), receive(number, settings) {}
        ProcessId process;
        DispatcherSettings settings;
        SendQueue send;
        ReceiveQueue receive;
        std::map<const Left*, std::shared_ptr<Left>> lefts;  ///< of messages that have not left
        std::map<std::uint64_t, int> open;  ///< by message and fragment: copies and acknowledgments under way
    };
    struct Stream {
        ProcessId from, to;
        std::uint32_t source, target;
        std::uint32_t sent, taken;
    };

    static FragmentHeader header_of(std::uint64_t message, std::uint32_t sequence, std::uint64_t size,
                                    std::uint32_t index, std::uint32_t target) {
        FragmentHeader header = messaging::header_of(message, sequence, size, index);
        header.target_thread = target;
        return header;
    }
    static FragmentHeader header_of(std::uint64_t message, std::uint32_t sequence, std::uint64_t size,
                                    std::uint32_t index) {
        return header_of(message, sequence, size, index, 0);
    }

    void send(Stream& stream) {
        if (stream.sent == each) return;
        One& one = *all_[stream.from];
        FragmentHeader header = header_of(0, stream.sent, random_.below(5) * 70, 0, stream.target);
        header.source_thread = stream.source;
        header.tag = stream.sent++;
        const auto data = std::make_shared<runtime::Bytes>(header.size, static_cast<std::byte>(header.tag));
        const auto left = std::make_shared<Left>();
        one.lefts.emplace(left.get(), left);
        act(one, one.send.put(stream.to, header, data, left));
    }

    /// A thread takes a message if there is one.
    void take(ProcessId process, std::uint32_t thread) {
        One& one = *all_[process];
        ReceiveQueue::Posted receive;
        receive.thread = thread;
        act(one, one.receive.begin(receive));
        if (!receive.message) return one.receive.give_up(receive);
        const ThreadId from = id_of(receive.message->from);
        for (Stream& stream : streams_) {
            if (stream.from != from.process || stream.to != process || stream.source != from.thread ||
                stream.target != thread)
                continue;
            ASSERT_EQ(receive.message->tag, stream.taken++);
            std::uint64_t size = 0;
            for (const runtime::Parcel& part : receive.message->parts)
                for (const std::byte byte : part.bytes()) {
                    ASSERT_EQ(byte, static_cast<std::byte>(receive.message->tag));
                    ++size;
                }
            ASSERT_EQ(size, receive.message->size);
            ++delivered_;
        }
    }

    void act(One& one, const SendQueue::Outcome& outcome) {
        for (const Departure& departure : outcome.departures) {
            const bool twice = random_.below(2) == 0;
            doubled_ += twice;
            for (int copies = twice ? 2 : 1; copies > 0; --copies) {
                ++one.open[key_of(departure.header)];
                letters_.push_back({one.process, departure.to, departure});
            }
        }
        if (outcome.left) {
            ASSERT_EQ(one.lefts.erase(outcome.left.get()), 1U) << "a message has left twice";
            ++left_;
        }
        if (outcome.relieved)
            letters_.push_back({one.process, outcome.relieved->first, outcome.relieved->second});
    }
    void act(One& one, const ReceiveQueue::Outcome& outcome) {
        for (const auto& [to, room] : outcome.rooms) letters_.push_back({one.process, to, room});
    }

    static std::uint64_t key_of(const FragmentHeader& header) { return header.message << 24 | header.index; }

    /// Any letter may be the next.
    void arrive() {
        const std::size_t place = random_.below(letters_.size());
        std::swap(letters_[place], letters_.back());
        const Letter letter = std::move(letters_.back());
        letters_.pop_back();
        One& one = *all_[letter.to];
        if (const auto* departure = std::get_if<Departure>(&letter.content)) {
            receive(one, letter.from, *departure);
        } else if (const auto* answer = std::get_if<Answer>(&letter.content)) {
            receive(one, letter.from, *answer);
        } else if (const auto* room = std::get_if<RoomMessage>(&letter.content)) {
            bool relieved = false;
            RelievedMessage reply;
            act(one, one.send.room(letter.from, *room, relieved, reply));
            if (relieved) letters_.push_back({letter.to, letter.from, reply});
        } else {
            act(one, one.receive.relieved(letter.from, std::get<RelievedMessage>(letter.content)));
        }
    }

    void receive(One& one, ProcessId from, const Departure& departure) {
        const FragmentHeader& header = departure.header;
        const std::uint64_t begin = header.index * data_bytes;
        const std::uint64_t count = std::min(data_bytes, header.size - begin);
        const auto first = departure.data->begin() + static_cast<std::ptrdiff_t>(begin);
        const auto data = std::make_shared<runtime::Bytes>(first, first + static_cast<std::ptrdiff_t>(count));
        const ReceiveQueue::Outcome outcome = one.receive.admit(from, header, runtime::Parcel(data));
        act(one, outcome);
        if (!outcome.accepted) --all_[from]->open[key_of(header)];
        letters_.push_back(
            {one.process, from, Answer{{header.message, header.index}, outcome.accepted, outcome.has_room}});
    }

    void receive(One& one, ProcessId from, const Answer& answer) {
        int& open = one.open[answer.fragment.message() << 24 | answer.fragment.index()];
        if (!answer.accepted) {
            const SendQueue::Outcome outcome =
                one.send.refused(from, answer.fragment, answer.has_room, Time{});
            act(one, outcome);
            if (outcome.again) letters_.push_back({from, one.process, RoomMessage{1}});
            return;
        }
        // Lost, if another copy of the fragment will be acknowledged.
        if (open > 1 && random_.below(2) == 0) {
            --open;
            ++lost_;
            return;
        }
        const bool twice = random_.below(4) == 0;
        if (!twice) --open;
        act(one, one.send.acknowledged(answer.fragment));
        if (twice) letters_.push_back({from, one.process, answer});
    }

    Random random_;
    std::vector<std::unique_ptr<One>> all_;
    std::vector<Stream> streams_;
    std::vector<Letter> letters_;
    std::uint64_t delivered_ = 0;
    std::uint64_t left_ = 0;
    std::uint64_t doubled_ = 0;
    std::uint64_t lost_ = 0;
};

TEST(MessagingTwice, OnAHundredNetworksEachMessageComesOnceAndLeavesOnce) {
    std::uint64_t doubled = 0;
    std::uint64_t lost = 0;
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(500); ++seed) {
        SCOPED_TRACE(seed);
        Processes processes(seed);
        processes.run();
        if (testing::Test::HasFailure()) return;
        doubled += processes.doubled();
        lost += processes.lost();
    }
    EXPECT_GT(doubled, 1000U);
    EXPECT_GT(lost, 1000U);
}

}  // namespace
}  // namespace heddle::messaging
