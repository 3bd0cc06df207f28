// Tests links between threads that post at the same time. Each thread's messages arrive once, whole and in
// order, whether the thread writes a message itself, past the queue, or finds the connection busy or full.
// And how many writes a large message takes.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "tests/native_links.hpp"
#include "tests/seeds.hpp"

namespace heddle::native {

namespace {

/// What a message begins with.
struct Mark {
    std::uint32_t thread;
    std::uint32_t number;
};

/// Most are small, some are frames of their own.
std::size_t size_of(Random& random) {
    const std::size_t more =
        random.below(100) < 97 ? random.below(300) : random.below(3 * SendQueue::small_bytes);
    return sizeof(Mark) + more;
}

class NativeLink : public testing::TestWithParam<std::size_t> {
protected:
    /// As the sender of a node does: writes what posting threads leave.
    void flush_until_done() {
        while (!done) {
            if (!asked.exchange(false)) std::this_thread::yield();
            link->flush();
        }
        while (link->flush() == Link::Flushed::blocked) std::this_thread::yield();
    }

    void post(Random& random, std::uint32_t thread, std::uint32_t count) {
        for (std::uint32_t number = 0; number < count; ++number) {
            const Mark mark{thread, number};
            runtime::Bytes message(size_of(random), static_cast<std::byte>(number));
            std::memcpy(message.data(), &mark, sizeof mark);
            if (link->post(FrameKind::message, std::move(message))) asked = true;
        }
    }

    std::unique_ptr<Link> link, peer;
    std::atomic<bool> done{false}, asked{false};
};

/// Takes all that is written, and counts how often.
class CountedWrites final : public Stream {
public:
    explicit CountedWrites(int& writes) : writes_(writes) {}

    std::ptrdiff_t write(std::span<const iovec> parts) override {
        ++writes_;
        std::size_t bytes = 0;
        for (const iovec& part : parts) bytes += part.iov_len;
        return static_cast<std::ptrdiff_t>(bytes);
    }
    std::ptrdiff_t read(std::span<const iovec> /*parts*/) override { return nothing; }
    std::string failure() const override { return {}; }
    int descriptor() const override { return -1; }
    void shut_down() override {}

private:
    int& writes_;
};

Link link_that_counts(int& writes) {
    return {std::make_unique<CountedWrites>(writes), Session{}, 8U << 20, Protection::headers};
}

void post_body(Link& link, const runtime::Body& body) {
    EXPECT_FALSE(link.post(FrameKind::message, runtime::Bytes(8), body));
}

}  // namespace

/// A value that travels has a few bytes besides its data.
TEST(NativeLinkWrites, AFewBytesMoreTakeNoWriteOfTheirOwn) {
    int even = 0, more = 0;
    Link first = link_that_counts(even), second = link_that_counts(more);
    post_body(first, std::make_shared<runtime::Bytes>(1U << 20));
    post_body(second, std::make_shared<runtime::Bytes>((1U << 20) + 5));
    EXPECT_EQ(more, even);
}

/// The pieces in which a large body is written are no stream of messages, which would gather at the sender.
TEST(NativeLinkWrites, AMessageBehindALargeBodyIsWrittenAtOnce) {
    const auto body = std::make_shared<runtime::Bytes>(4U << 20);
    int left = 0;
    for (int round = 0; round < 50; ++round) {
        int writes = 0;
        Link link = link_that_counts(writes);
        post_body(link, body);
        left += link.post(FrameKind::message, runtime::Bytes(8)) ? 1 : 0;
    }
    EXPECT_EQ(left, 0);
}

TEST_P(NativeLink, MessagesOfEachThreadArriveInOrder) {
    std::tie(link, peer) = linked_pair(GetParam());
    constexpr std::uint32_t threads = 3;
    const auto count = static_cast<std::uint32_t>(testing_seeds::seeds(5'000));
    std::vector<std::thread> posting;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
        posting.emplace_back([&, thread] {
            Random random(thread + 1);
            post(random, thread, count);
        });
    }
    std::thread sender([this] { flush_until_done(); });
    std::vector<std::uint32_t> next(threads, 0);
    std::uint32_t came = 0;
    int wrong = 0;
    const Deadline end = soon();
    while (came < threads * count && Clock::now() < end) {
        const std::string failure = peer->receive([&](FrameKind, std::span<const std::byte> message, auto) {
            Mark mark{};
            std::memcpy(&mark, message.data(), sizeof mark);
            const auto fill = static_cast<std::byte>(mark.number);
            const auto rest = message.subspan(sizeof mark);
            wrong +=
                mark.number != next.at(mark.thread)++ || std::ranges::count(rest, fill) != std::ssize(rest);
            ++came;
        });
        ASSERT_EQ(failure, "");
    }
    for (std::thread& thread : posting) thread.join();
    done = true;
    sender.join();
    EXPECT_EQ(came, threads * count);
    EXPECT_EQ(wrong, 0);
}

/// The reader looks at nothing until the ring is full: the thread then leaves a message of which a part is
/// written, and those behind it, to the sender.
TEST_P(NativeLink, AMessageThatFindsNoRoomIsLeftToTheSender) {
    std::tie(link, peer) = linked_pair(GetParam());
    std::uint32_t posted = 0;
    for (std::uint32_t behind = 0; behind < 10; behind += link->is_blocked() ? 1 : 0) {
        runtime::Bytes message(1000);
        std::memcpy(message.data(), &posted, sizeof posted);
        if (link->post(FrameKind::message, std::move(message))) link->flush();
        ASSERT_LT(++posted, 1'000'000u);
    }
    EXPECT_TRUE(link->is_blocked());
    std::uint32_t came = 0;
    const Deadline end = soon();
    while (came < posted && Clock::now() < end) {
        const std::string failure = peer->receive([&](FrameKind, std::span<const std::byte> message, auto) {
            std::uint32_t number = 0;
            std::memcpy(&number, message.data(), sizeof number);
            EXPECT_EQ(number, came++);
            EXPECT_EQ(message.size(), 1000u);
        });
        ASSERT_EQ(failure, "");
        link->flush();
    }
    EXPECT_EQ(came, posted);
}

INSTANTIATE_TEST_SUITE_P(Each, NativeLink, testing::Values(0U, 4096U, 64U << 10), [](const auto& tested) {
    return tested.param == 0 ? "Socket" : "Ring" + std::to_string(tested.param);
});

}  // namespace heddle::native
