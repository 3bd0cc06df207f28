// Tests how the receiver thread of a node and a worker that rests take turns (reception.hpp). No message
// waits while a thread sleeps, and no worker sleeps on when it has been woken. It tries sockets and shared
// memory.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "runtime/native/reception.hpp"
#include "tests/native_links.hpp"
#include "tests/native_testing.hpp"
#include "tests/seeds.hpp"

namespace heddle::native {

namespace {

using namespace std::chrono_literals;

int rounds(int all) {
    return static_cast<int>(testing_seeds::seeds(static_cast<std::uint64_t>(all)));
}

struct ReceptionWay {
    std::size_t ring_bytes;  ///< 0: a socket
    Receive how;
    bool looks = true;  ///< the receiver thread, for a while
};

class NativeReception : public testing::TestWithParam<ReceptionWay> {
protected:
    NativeReception() { std::tie(peer, link) = linked_pair(GetParam().ring_bytes); }

    /// Begins to receive from the link. With a receiver thread, or only by workers that rest.
    void begin(bool with_thread) {
        reception.add(*link);
        if (with_thread) receiver = std::thread([this] { reception.receive(stopping, GetParam().looks); });
    }

    ~NativeReception() override {
        stopping = true;
        reception.wake();
        if (receiver.joinable()) receiver.join();
    }

    void send(std::size_t bytes = 8) {
        if (peer->post(FrameKind::message, runtime::Bytes(bytes))) peer->flush();
    }

    void unpark() {
        if (parker.unpark()) reception.rouse();
    }

    bool attend(Link& from) {
        const std::string failure = from.receive([this](auto, auto, auto) {
            handled_by = std::this_thread::get_id();
            ++came;  // last: the tests wait for it
            if (came % unparks == 0) unpark();
        });
        return failure.empty() && !from.ended();
    }

    std::unique_ptr<Link> peer, link;
    Parker parker;
    std::atomic<int> came{0}, over{0};
    std::atomic<std::thread::id> handled_by{};
    std::atomic<int> asked_for_core{0};  ///< whether one is free
    std::atomic<bool> core_is_free{true};
    int unparks = 1;  ///< every so many messages the worker is woken
    std::atomic<bool> stopping{false};
    Reception reception{GetParam().how,
                        50us,
                        [this] { return ++asked_for_core > 0 && core_is_free; },
                        true,
                        {.attend = [this](Link& from) { return attend(from); },
                         .over = [this](Link&) { ++over; },
                         .between = [] {}}};
    std::thread receiver;
};

class NativeReceptionWithoutLooks : public NativeReception {};

}  // namespace

/// Whether it looks on after something that was found so soon, and whose handling took so long. Another
/// process may have the core meanwhile: so it is asked several times.
bool looks_on(std::chrono::nanoseconds found_after, std::chrono::nanoseconds handling) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        Polling polling(Receive::automatic, 1ms, [] { return true; });
        polling.again();
        std::this_thread::sleep_for(found_after);
        polling.look();
        std::this_thread::sleep_for(handling);
        polling.found();
        if (polling.again()) return true;
    }
    return false;
}

TEST(NativePolling, WhatTakesLongToHandleDoesNotEndTheLooks) {
    EXPECT_TRUE(looks_on(0ns, 3ms));
}

TEST(NativePolling, AThreadThatHadNoCoreWhileItLookedBlocks) {
    EXPECT_FALSE(looks_on(3ms, 0ns));
}

TEST_P(NativeReception, AWorkerThatRestsReceivesItself) {
    begin(false);
    std::thread later([this] {
        std::this_thread::sleep_for(20ms);
        send();
    });
    reception.rest(parker, Clock::now(), Deadline::max(), 0us);
    later.join();
    EXPECT_EQ(came, 1);
    EXPECT_EQ(handled_by.load(), std::this_thread::get_id());
}

TEST_P(NativeReception, TheReceiverThreadReceivesWhileNoWorkerRests) {
    begin(true);
    for (int sent = 1; sent <= 20; ++sent) {
        send();
        ASSERT_TRUE(eventually([&] { return came == sent; }));
        EXPECT_EQ(handled_by.load(), receiver.get_id());
        parker.take();
        reception.rest(parker, Clock::now(), Clock::now() + 100us, 0us);  // which leaves the thread asleep
    }
}

// It leaves and comes back so often that the receiver thread leaves all to it; then it goes to work.
TEST_P(NativeReception, AMessageIsHandledWhenAWorkerThatAlwaysCameBackSoonDoesNot) {
    begin(true);
    int sent = 0;
    const auto send_and_wait = [&] {
        send();
        ++sent;
        return eventually([&] { return came == sent; });
    };
    for (int i = 0; i < rounds(20); ++i) {
        for (int rest = 0; rest < 20 * i; ++rest) {
            parker.take();
            reception.rest(parker, Clock::now(), Clock::now() + 20us, 20us);
        }
        ASSERT_TRUE(send_and_wait());
        ASSERT_TRUE(send_and_wait());
        EXPECT_EQ(handled_by.load(), receiver.get_id());
    }
}

TEST_P(NativeReception, AWorkerAtWorkTakesWhatHasComeThroughMemory) {
    begin(false);
    EXPECT_FALSE(reception.look_in_passing(Clock::now()));
    send();
    const bool in_memory = GetParam().ring_bytes != 0;
    EXPECT_EQ(reception.look_in_passing(Clock::now()), in_memory);
    EXPECT_EQ(came, in_memory ? 1 : 0);
    reception.rest(parker, Clock::now(), Clock::now() + 20ms, 0us);
    EXPECT_EQ(came, 1);
}

// While the worker looks in passing, the receiver thread leaves the messages to it. The worker then works on
// without looking.
TEST_P(NativeReception, AMessageIsHandledWhenAWorkerThatLookedInPassingDoesNot) {
    begin(true);
    int sent = 0;
    int by_worker = 0;
    for (int i = 0; i < rounds(20); ++i) {
        for (int message = 0; message < 50; ++message) {
            send();
            ++sent;
            ASSERT_TRUE(eventually([&] {
                reception.look_in_passing(Clock::now());
                return came == sent;
            }));
            if (handled_by.load() == std::this_thread::get_id()) ++by_worker;
        }
        for (int message = 0; message < 2; ++message) {
            send();
            ++sent;
            ASSERT_TRUE(eventually([&] { return came == sent; }));
            EXPECT_EQ(handled_by.load(), receiver.get_id());
        }
    }
    if (GetParam().ring_bytes == 0) {
        EXPECT_EQ(by_worker, 0);
    } else {
        EXPECT_GT(by_worker, 0);
    }
}

// Messages come before a thread begins to write, while it does, and afterwards, with a worker that rests in
// between or not. Through memory the receiver thread sleeps until all is written, and none is left then.
TEST_P(NativeReception, WhatComesDuringALongWriteIsHandledAfterIt) {
    begin(true);
    Random random(7);
    int sent = 0;
    for (int round = 0; round < rounds(300); ++round) {
        const auto send_some = [&] {
            for (std::uint64_t i = random.below(3); i > 0; --i, ++sent) send();
        };
        if (random.below(2) == 0) std::this_thread::sleep_for(200us);  // the receiver thread falls asleep
        send_some();
        {
            const Reception::Writing writing(reception, random.below(4) == 0 ? 1000 : 1 << 20);
            send_some();
            if (random.below(4) == 0) std::this_thread::sleep_for(100us);
            send_some();
        }
        if (random.below(3) == 0) {
            parker.take();
            reception.rest(parker, Clock::now(), Clock::now() + 50us, 20us);
        }
        ASSERT_TRUE(eventually([&] { return came == sent; })) << round;
    }
}

TEST_P(NativeReception, APeerInMemoryNeedNotTellOfWhatItWritesDuringALongWrite) {
    if (GetParam().ring_bytes == 0 || GetParam().how != Receive::block) return;
    begin(true);
    send();
    ASSERT_TRUE(eventually([&] { return came == 1; }));
    std::this_thread::sleep_for(20ms);  // until the receiver thread sleeps
    {
        const Reception::Writing writing(reception, 1 << 20);
        send();
        std::this_thread::sleep_for(20ms);
        EXPECT_EQ(came, 1);
    }
    EXPECT_TRUE(eventually([&] { return came == 2; }));
}

// The thread that has written may find the mutex taken by a worker that only asks whether it may look.
TEST_P(NativeReception, WhatComesAfterALongWriteIsHandledWhileAWorkerComesAndGoes) {
    core_is_free = false;
    begin(true);
    std::thread colleague([&] {
        while (!stopping) {
            const Deadline now = Clock::now();
            reception.receive_until(parker, now, now + 20us, 0ns, [] { return false; });
        }
    });
    for (int sent = 1; sent <= rounds(5000); ++sent) {
        std::this_thread::sleep_for(200us);  // the receiver thread falls asleep
        {
            const Reception::Writing writing(reception, 1 << 20);
            for (const Deadline end = Clock::now() + 2us; Clock::now() < end;) continue;
        }
        std::this_thread::sleep_for(20us);
        send();
        for (const Deadline late = soon(); came != sent && Clock::now() < late;) std::this_thread::yield();
        EXPECT_EQ(came, sent);
        if (came != sent) break;
    }
    stopping = true;
    colleague.join();
}

TEST_P(NativeReception, APeerInMemoryTellsAWorkerThatSleepsWhileAnotherOneWrites) {
    begin(true);
    std::atomic<bool> ended{false};
    std::thread colleague([&] {
        reception.rest(parker, Clock::now(), Deadline::max(), 0us);
        ended = true;
    });
    std::this_thread::sleep_for(20ms);  // until the colleague sleeps
    {
        const Reception::Writing writing(reception, 1 << 20);
        send();
        EXPECT_TRUE(eventually([&] { return came == 1 && ended; }, 5s));
    }
    unpark();
    colleague.join();
}

TEST_P(NativeReception, APermitEndsTheRestWhereverTheWorkerSleeps) {
    begin(true);
    for (int i = 0; i < rounds(500); ++i) {
        std::thread other([&] {
            if (i % 2 == 0) std::this_thread::sleep_for(100us);
            unpark();
        });
        reception.rest(parker, Clock::now(), Deadline::max(), 0us);
        other.join();
    }
}

TEST_P(NativeReception, ARestEndsAtItsDeadline) {
    begin(true);
    const Deadline until = Clock::now() + 3ms;
    reception.rest(parker, Clock::now(), until, 0us);
    EXPECT_GE(Clock::now(), until);
}

TEST_P(NativeReception, ASecondWorkerParks) {
    begin(false);
    Parker second;
    std::atomic<bool> rests{false};
    std::thread other([&] {
        rests = true;
        reception.rest(parker, Clock::now(), Deadline::max(), 0us);
    });
    ASSERT_TRUE(eventually([&] { return rests.load(); }));
    std::this_thread::sleep_for(10ms);
    reception.rest(second, Clock::now(), Clock::now() + 1ms, 0us);
    EXPECT_FALSE(second.unpark()) << "it has left, so no thread must wake it";
    send();
    other.join();
    EXPECT_NE(handled_by.load(), std::this_thread::get_id());
}

// The peer sends when the last message has been handled. The worker meanwhile rests, rests for so short a
// time that it often leaves when the message comes, is busy, or is busy and looks in passing. A third thread
// wakes one of both now and then: so of the two that sleep, now the one and now the other has come last, and
// is the one that the system wakes.
TEST_P(NativeReception, NoMessageWaitsWhileAThreadSleeps) {
    begin(true);
    unparks = 3;  // so that the worker often sleeps on while the other thread has read
    const int count = rounds(1500);
    const auto pause = [](Random& random) {
        std::this_thread::sleep_for(std::chrono::microseconds(random.below(60)));
    };
    std::thread sender([&] {
        Random random(1);
        for (int sent = 0; sent < count; ++sent) {
            send();
            const Deadline late = soon();
            while (came == sent && Clock::now() < late) std::this_thread::yield();
            if (came == sent) break;
            pause(random);
        }
    });
    std::thread third([&] {
        Random random(2);
        for (int seen = -1; came < count && !stopping; pause(random))
            if (const int now = came; std::exchange(seen, now) != now) reception.wake();
    });
    Random random(3);
    for (Deadline late = soon(); came < count && Clock::now() < late;) {
        const int before = came;
        const std::uint64_t way = random.below(4);
        const Deadline until = way == 0 ? late : Clock::now() + std::chrono::microseconds(random.below(60));
        if (way < 2) reception.rest(parker, Clock::now(), until, 0us);
        while (way >= 2 && Clock::now() < until) {
            if (way == 3) reception.look_in_passing(Clock::now());
            std::this_thread::yield();
        }
        if (came > before) late = soon();
    }
    EXPECT_EQ(came, count);
    stopping = true;
    sender.join();
    third.join();
}

// Each of these messages makes the peer in memory ring, while the worker is away, and the worker then finds
// the message by itself. Bells that no thread hears would fill their socket, and the last one would not be
// heard.
TEST_P(NativeReception, TheLastOfManyMessagesIsToldOf) {
    begin(false);
    for (int i = 0; i < 2000; ++i) {
        send();
        reception.rest(parker, Clock::now(), soon(), 0us);
    }
    std::thread later([this] {
        std::this_thread::sleep_for(20ms);
        send();
    });
    const Deadline late = soon();
    reception.rest(parker, Clock::now(), late, 0us);
    EXPECT_LT(Clock::now(), late);
    later.join();
    EXPECT_EQ(came, 2001);
}

// The receiver thread may be told of a message just when the worker begins to rest, and to look for as long
// as it rests.
TEST_P(NativeReception, WhatTheThreadHasBeenToldOfIsHandledWhileTheWorkerLooks) {
    auto [second_peer, second] = linked_pair(GetParam().ring_bytes);
    reception.add(*second);
    begin(true);
    std::atomic<int> rests{0};
    const int count = rounds(200);
    std::thread sender([&] {
        for (int i = 0; i < count; ++i) {
            while (rests == i && !stopping) std::this_thread::yield();
            if (second_peer->post(FrameKind::message, runtime::Bytes(8))) second_peer->flush();
        }
    });
    for (int i = 0; i < count; ++i) {
        std::this_thread::sleep_for(300us);  // so that the thread sleeps where the system wakes it
        ++rests;
        const Deadline late = soon();
        reception.rest(parker, Clock::now(), late, 0us);
        EXPECT_LT(Clock::now(), late);
        if (Clock::now() >= late) break;
    }
    stopping = true;
    sender.join();
    reception.wake();
    receiver.join();
}

TEST_P(NativeReception, MoreThanOneLookTakesIsReadToTheEnd) {
    begin(false);
    unparks = 1000;
    constexpr int count = 40;
    std::thread sender([this] {
        for (int i = 0; i < count; ++i) {
            send(frame_bytes_max);
            while (peer->is_blocked() && peer->flush() == Link::Flushed::blocked)
                std::this_thread::sleep_for(100us);
        }
    });
    for (const Deadline late = soon(); came < count && Clock::now() < late;)
        reception.rest(parker, Clock::now(), Clock::now() + 10ms, 0us);
    sender.join();
    EXPECT_EQ(came, count);
}

// One that looks asks before each look whether a core is free. All ask once after what has come.
TEST_P(NativeReceptionWithoutLooks, AsksForACoreOnceAMessage) {
    begin(true);
    constexpr int count = 20;
    for (int sent = 1; sent <= count; ++sent) {
        send();
        ASSERT_TRUE(eventually([&] { return came == sent; }));
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_LE(asked_for_core, 2 * count);
}

TEST_P(NativeReception, ThePeersEndIsSeenOnceBehindItsLastMessage) {
    begin(true);
    for (int i = 0; i < 3; ++i) send();
    peer.reset();
    EXPECT_TRUE(eventually([&] { return over == 1; }));
    EXPECT_EQ(came, 3);
    reception.rest(parker, Clock::now(), Clock::now() + 1ms, 0us);
    EXPECT_EQ(over, 1);
}

static std::string reception_name(const testing::TestParamInfo<ReceptionWay>& given) {
    const ReceptionWay& way = given.param;
    const std::string how = way.how == Receive::block  ? "Block"
                            : way.how == Receive::poll ? "Poll"
                                                       : "Automatic";
    return (way.ring_bytes == 0 ? "Socket" : "Memory" + std::to_string(way.ring_bytes)) + how +
           (way.looks ? "" : "WithoutLooks");
}

constexpr ReceptionWay receptions_without_looks[] = {{0, Receive::automatic, false},
                                                     {64 << 10, Receive::automatic, false}};

INSTANTIATE_TEST_SUITE_P(Ways, NativeReception,
                         testing::Values(ReceptionWay{0, Receive::block}, ReceptionWay{0, Receive::automatic},
                                         ReceptionWay{0, Receive::poll},
                                         ReceptionWay{64 << 10, Receive::block},
                                         ReceptionWay{64 << 10, Receive::automatic},
                                         ReceptionWay{64 << 10, Receive::poll},
                                         ReceptionWay{8 << 20, Receive::automatic}),
                         reception_name);
INSTANTIATE_TEST_SUITE_P(WithoutLooks, NativeReception, testing::ValuesIn(receptions_without_looks),
                         reception_name);
INSTANTIATE_TEST_SUITE_P(Ways, NativeReceptionWithoutLooks, testing::ValuesIn(receptions_without_looks),
                         reception_name);

}  // namespace heddle::native
