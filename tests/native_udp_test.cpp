// Tests the state machine that makes a stream of datagrams, without sockets. Between its two ends is a
// network in virtual time, which loses, repeats, delays and changes datagrams by a seed.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "runtime/native/udp_connection.hpp"
#include "tests/lossy_datagrams.hpp"

namespace heddle::native {

using namespace std::chrono_literals;

namespace {

struct Keys {
    DirectionKey there{};
    DirectionKey back{};
};

Keys keys_of(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Keys keys;
    for (auto* key : {&keys.there, &keys.back})
        for (unsigned char& byte : *key) byte = static_cast<unsigned char>(random());
    return keys;
}

std::byte byte_of(std::uint64_t seed, std::uint64_t place) {
    return static_cast<std::byte>((seed * 31 + place) * 0x9e37'79b9'7f4a'7c15 >> 56);
}

/// One end, what it has to send, and how far it has come.
struct End {
    End(const DirectionKey& send, const DirectionKey& receive, std::size_t datagram_bytes)
        : connection(send, receive, datagram_bytes) {}

    UdpConnection connection;
    std::uint64_t seed = 0;  ///< of the bytes that it sends
    std::uint64_t to_send = 0;
    std::uint64_t written = 0;
    std::uint64_t read = 0;
    std::uint64_t emitted = 0;  ///< datagrams

    bool write_some(std::size_t most) {
        std::vector<std::byte> bytes(std::min<std::uint64_t>(most, to_send - written));
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte_of(seed, written + i);
        const std::size_t count = connection.write(bytes);
        written += count;
        return count > 0;
    }

    /// Checks each byte against what `other` sends.
    void read_some(std::size_t most, const End& other) {
        std::vector<std::byte> room(most);
        const std::size_t count = connection.read(room);
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(room[i], byte_of(other.seed, read + i));
        read += count;
    }
};

/// Two ends, and what is under way between them.
class Network {
public:
    Network(std::uint64_t seed, const Faults& faults, std::size_t datagram_bytes = 1472)
        : random_(seed),
          faults_(faults),
          keys_(keys_of(seed)),
          ends{End(keys_.there, keys_.back, datagram_bytes), End(keys_.back, keys_.there, datagram_bytes)} {
        ends[0].seed = 2 * seed;
        ends[1].seed = 2 * seed + 1;
    }

    Deadline now{};
    std::mt19937_64& random() { return random_; }

    void emit(std::size_t from) {
        ends[from].connection.emit(now, [&](std::span<const std::byte> bytes) {
            ++ends[from].emitted;
            recorded.emplace_back(1 - from, Datagram(bytes.begin(), bytes.end()));
            if (happens(faults_.lost)) return;
            Datagram copy(bytes.begin(), bytes.end());
            if (happens(faults_.changed)) change(copy, random_);
            for (int copies = happens(faults_.doubled) ? 2 : 1; copies > 0; --copies) {
                auto delay = 100us;
                if (happens(faults_.reordered)) delay += std::chrono::microseconds(random_() % 1000);
                under_way_.emplace(now + delay, std::pair(1 - from, copy));
            }
        });
        if (recorded.size() > 1000) recorded.clear();
    }

    /// The next arrival or alarm. False: nothing will ever happen again.
    bool step() {
        Deadline next = std::min(ends[0].connection.alarm(), ends[1].connection.alarm());
        if (!under_way_.empty()) next = std::min(next, under_way_.begin()->first);
        if (next == Deadline::max()) return false;
        now = std::max(now, next);
        while (!under_way_.empty() && under_way_.begin()->first <= now) {
            auto [to, datagram] = std::move(under_way_.extract(under_way_.begin()).mapped());
            ends[to].connection.take(now, datagram);
        }
        emit(0);
        emit(1);
        return true;
    }

    bool happens(unsigned percent) { return random_() % 100 < percent; }

private:
    std::mt19937_64 random_;
    Faults faults_;
    Keys keys_;
    std::multimap<Deadline, std::pair<std::size_t, Datagram>> under_way_;

public:
    std::array<End, 2> ends;
    std::vector<std::pair<std::size_t, Datagram>> recorded;  ///< to which end, and what
};

/// Both ends write and read in random pieces until all has come and is acknowledged. Returns the time.
Deadline::duration exchange(Network& network, const std::function<void()>& between = {}) {
    auto& [a, b] = network.ends;
    const auto all_done = [&] {
        return a.read == b.to_send && b.read == a.to_send && a.connection.all_acknowledged() &&
               b.connection.all_acknowledged();
    };
    const Deadline start = network.now;
    while (!all_done()) {
        for (std::size_t i = 0; i < 2; ++i) {
            End& end = network.ends[i];
            if (end.written < end.to_send && network.happens(50)) end.write_some(network.random()() % 40'000);
            // A reader that pauses closes the window.
            if (network.happens(20)) end.read_some(1 + network.random()() % 100'000, network.ends[1 - i]);
            network.emit(i);
        }
        if (between) between();
        if (!network.step()) network.now += 100us;
        if (network.now - start > 600s) {
            ADD_FAILURE() << "stalled: " << a.read << " of " << b.to_send << " and " << b.read << " of "
                          << a.to_send;
            break;
        }
    }
    return network.now - start;
}

/// The first end writes and the second reads nothing, until no byte moves any more.
void close_window(Network& network) {
    End& sender = network.ends[0];
    sender.to_send = 8'000'000;
    for (int idle = 0; idle < 100; ++idle) {
        if (sender.write_some(20'000)) idle = 0;
        network.emit(0);
        if (!network.step()) break;
    }
    ASSERT_LT(sender.written, sender.to_send) << "the window never closed";
}

}  // namespace

TEST(NativeUdp, AHundredLossyNetworksDeliverEveryByteOnceAndInOrder) {
    for (std::uint64_t seed = 0; seed < 100 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        Network network(seed, Faults{}, seed % 3 == 0 ? UdpConnection::datagram_bytes_min : 1472);
        network.ends[0].to_send = 100'000 + network.random()() % 200'000;
        network.ends[1].to_send = network.random()() % 200'000;
        exchange(network);
    }
}

TEST(NativeUdp, ANetworkThatLosesHalfStillDelivers) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        Network network(seed, {.lost = 50, .doubled = 30, .reordered = 50, .changed = 5});
        network.ends[0].to_send = 50'000;
        network.ends[1].to_send = 50'000;
        exchange(network);
    }
}

// 1.5 MB/s is a segment a round trip of 1 ms; slow start must do much better.
TEST(NativeUdp, WithoutLossTheWindowGrowsAndNothingIsSentTwice) {
    Network network(1, {.lost = 0, .doubled = 0, .reordered = 0, .changed = 0});
    network.ends[0].to_send = 5'000'000;
    const auto time = exchange(network);
    const double chunks = 5e6 / (1472 - static_cast<double>(segment_overhead));
    EXPECT_LT(static_cast<double>(network.ends[0].emitted), 1.5 * chunks);
    EXPECT_LT(std::chrono::duration<double>(time).count(), 1.0);
}

TEST(NativeUdp, OneLossIsRepairedLongBeforeTheTimeout) {
    Network network(1, {.lost = 0, .doubled = 0, .reordered = 0, .changed = 0});
    End& sender = network.ends[0];
    // Known round trips first.
    sender.to_send = 2'000'000;
    exchange(network);
    sender.to_send += 20 * 1400;
    while (sender.written < sender.to_send) sender.write_some(1400);
    bool first = true;
    std::vector<Datagram> burst;
    sender.connection.emit(network.now, [&](std::span<const std::byte> bytes) {
        if (!std::exchange(first, false)) burst.emplace_back(bytes.begin(), bytes.end());
    });
    ASSERT_GE(burst.size(), 4u);
    for (Datagram& datagram : burst) network.ends[1].connection.take(network.now, datagram);
    std::size_t answers = 0;
    network.ends[1].connection.emit(network.now, [&](std::span<const std::byte> bytes) {
        Datagram answer(bytes.begin(), bytes.end());
        EXPECT_TRUE(sender.connection.take(network.now, answer));
        ++answers;
    });
    EXPECT_EQ(answers, 1u);
    std::size_t repeated = 0;
    sender.connection.emit(network.now, [&](std::span<const std::byte> bytes) {
        Datagram datagram(bytes.begin(), bytes.end());
        network.ends[1].connection.take(network.now, datagram);
        ++repeated;
    });
    EXPECT_GE(repeated, 1u);
    network.ends[1].read_some(100'000, sender);
    EXPECT_EQ(network.ends[1].read, sender.to_send);
}

TEST(NativeUdp, AnIdleConnectionAwaitsNothing) {
    Network network(3, {});
    network.ends[0].to_send = 10'000;
    exchange(network);
    while (network.step()) continue;
    EXPECT_EQ(network.ends[0].connection.alarm(), Deadline::max());
    EXPECT_EQ(network.ends[1].connection.alarm(), Deadline::max());
}

// The receiver reads nothing for a long time; then the news that it has room again is lost.
TEST(NativeUdp, AClosedWindowOpensAgainAlthoughTheNewsIsLost) {
    Network network(4, {.lost = 0, .doubled = 0, .reordered = 0, .changed = 0});
    End& sender = network.ends[0];
    End& receiver = network.ends[1];
    close_window(network);
    receiver.read_some(8'000'000, sender);
    receiver.connection.emit(network.now, [](auto) {});  // lost
    exchange(network);
}

// Half of the window is worth a datagram. What is read in tenths of the window adds up to it.
TEST(NativeUdp, AReaderInPiecesTellsThatThereIsRoomAgain) {
    constexpr std::size_t datagram_bytes = 1472;
    constexpr std::size_t tenth = UdpReceiver::window_chunks / 10 * (datagram_bytes - segment_overhead);
    Network network(4, {.lost = 0, .doubled = 0, .reordered = 0, .changed = 0}, datagram_bytes);
    End& sender = network.ends[0];
    End& receiver = network.ends[1];
    close_window(network);
    std::vector<Datagram> told;
    for (int piece = 0; piece < 6; ++piece) {
        receiver.read_some(tenth, sender);
        receiver.connection.emit(network.now, [&](std::span<const std::byte> bytes) {
            told.emplace_back(bytes.begin(), bytes.end());
        });
    }
    ASSERT_EQ(told.size(), 1u);
    EXPECT_TRUE(sender.connection.take(network.now, told[0]));
    const std::uint64_t before = sender.emitted;
    network.emit(0);
    EXPECT_GT(sender.emitted, before);
}

TEST(NativeUdp, ForgedReplayedAndReflectedDatagramsChangeNothing) {
    Network network(5, Faults{});
    network.ends[0].to_send = 300'000;
    network.ends[1].to_send = 300'000;
    std::mt19937_64 random(7);
    std::size_t accepted = 0;
    std::size_t tried = 0;
    exchange(network, [&] {
        for (int i = 0; i < 20; ++i) {
            Datagram datagram(random() % 1500);
            for (std::byte& byte : datagram) byte = static_cast<std::byte>(random());
            if (!network.recorded.empty() && i >= 5) {
                const auto& [to, recorded] = network.recorded[random() % network.recorded.size()];
                datagram = recorded;
                if (i < 15) change(datagram, random);
                if (i >= 15) {  // reflected: to the end that it came from
                    accepted += network.ends[1 - to].connection.take(network.now, datagram) ? 1 : 0;
                    ++tried;
                    continue;
                }
            }
            ++tried;
            accepted += network.ends[random() % 2].connection.take(network.now, datagram) ? 1 : 0;
        }
    });
    EXPECT_GT(tried, 1000u);
    EXPECT_EQ(accepted, 0u);
}

TEST(NativeUdp, ADatagramIsTakenOnce) {
    Network network(6, Faults{});
    UdpConnection& sender = network.ends[0].connection;
    UdpConnection& receiver = network.ends[1].connection;
    const std::vector<std::byte> bytes(1000, std::byte{1});
    ASSERT_EQ(sender.write(bytes), bytes.size());
    Datagram datagram;
    sender.emit(network.now, [&](auto sent) { datagram.assign(sent.begin(), sent.end()); });
    EXPECT_TRUE(receiver.take(network.now, datagram));
    EXPECT_FALSE(receiver.take(network.now, datagram));
}

TEST(NativeUdp, TheReplayWindowKnowsWhatItHasSeen) {
    ReplayWindow window;
    std::mt19937_64 random(1);
    std::vector<bool> seen(50'000);
    std::uint64_t largest = 0;
    for (int i = 0; i < 200'000; ++i) {
        const std::uint64_t number = std::min<std::uint64_t>(largest + random() % 100, seen.size() - 1) -
                                     std::min<std::uint64_t>(random() % 5000, largest);
        const bool too_old = largest + 1 > number + ReplayWindow::size;
        ASSERT_EQ(window.is_new(number), !too_old && !seen[number]) << number << " after " << largest;
        if (!window.is_new(number)) continue;
        window.note(number);
        seen[number] = true;
        largest = std::max(largest, number);
    }
    window.note(largest + 1'000'000);
    EXPECT_FALSE(window.is_new(largest));
    EXPECT_TRUE(window.is_new(largest + 999'999));
}

}  // namespace heddle::native
