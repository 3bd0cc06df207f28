// Tests the rings through which two processes exchange bytes, here between two threads. Bytes arrive in order
// and whole, no wake-up is lost, and impossible positions are refused.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <semaphore>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "runtime/native/ring.hpp"

namespace heddle::native {

namespace {

struct Ring {
    explicit Ring(std::size_t size) : bytes(size) {}
    RingControl control;
    std::vector<std::byte> bytes;
    RingWriter writer{control, bytes};
    RingReader reader{control, bytes};
};

std::vector<std::byte> numbered(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i);
    return bytes;
}

/// The byte at `position` of a stream whose period no ring and no step divides.
std::byte byte_at(std::uint64_t position) {
    return static_cast<std::byte>(position % 251);
}

}  // namespace

TEST(NativeRing, BytesArriveInOrderAcrossTheEndOfTheRing) {
    Ring ring(64);
    const auto sent = numbered(200);
    std::vector<std::byte> came;
    for (std::size_t at = 0; at < sent.size();) {
        const std::size_t count =
            ring.writer.put(std::span(sent).subspan(at, std::min<std::size_t>(40, sent.size() - at)));
        EXPECT_GT(count, 0u);
        at += count;
        EXPECT_FALSE(ring.writer.publish());  // the reader has not asked
        std::array<std::byte, 7> room;
        while (const std::size_t taken = ring.reader.take(room))
            came.insert(came.end(), room.begin(), room.begin() + taken);
        EXPECT_FALSE(ring.reader.publish());
    }
    EXPECT_EQ(came, sent);
}

TEST(NativeRing, TheReaderSeesNothingBeforeItIsPublished) {
    Ring ring(64);
    EXPECT_EQ(ring.writer.put(numbered(10)), 10u);
    EXPECT_EQ(ring.writer.unpublished(), 10u);
    EXPECT_FALSE(ring.reader.has_come());
    ring.writer.publish();
    EXPECT_EQ(ring.writer.unpublished(), 0u);
    EXPECT_TRUE(ring.reader.has_come());
}

TEST(NativeRing, AFullRingTakesNoMore) {
    Ring ring(64);
    EXPECT_EQ(ring.writer.put(numbered(100)), 64u);
    EXPECT_EQ(ring.writer.put(numbered(1)), 0u);
    ring.writer.publish();
    EXPECT_FALSE(ring.writer.ask_for_room());
    EXPECT_FALSE(ring.writer.room_has_come());
    // The writer is woken once, when half of the ring is free.
    std::array<std::byte, 20> room;
    EXPECT_EQ(ring.reader.take(room), 20u);
    EXPECT_FALSE(ring.reader.publish());
    EXPECT_EQ(ring.reader.take(room), 20u);
    EXPECT_TRUE(ring.reader.publish());
    EXPECT_TRUE(ring.writer.room_has_come());
    EXPECT_EQ(ring.reader.take(room), 20u);
    EXPECT_FALSE(ring.reader.publish());
    EXPECT_EQ(ring.writer.put(numbered(100)), 60u);
}

TEST(NativeRing, AReaderIsWokenOnceIfItHasAsked) {
    Ring ring(64);
    EXPECT_TRUE(ring.reader.ask_for_bytes());
    EXPECT_EQ(ring.writer.put(numbered(1)), 1u);
    EXPECT_TRUE(ring.writer.publish());
    EXPECT_EQ(ring.writer.put(numbered(1)), 1u);
    EXPECT_FALSE(ring.writer.publish());
    EXPECT_FALSE(ring.reader.ask_for_bytes());  // some have come
}

// Both threads sleep whenever they may, on a ring that is nearly always full or empty. A lost wake-up would
// leave both asleep.
TEST(NativeRing, NoWakeUpIsLostBetweenTwoThreads) {
    constexpr std::uint64_t total = 4 << 20;
    Ring ring(256);
    std::binary_semaphore bytes_bell{0}, room_bell{0};
    std::thread writer([&] {
        Random random(1);
        std::vector<std::byte> message(600);
        for (std::uint64_t sent = 0; sent < total;) {
            const std::size_t size = std::min<std::uint64_t>(1 + random() % message.size(), total - sent);
            for (std::size_t i = 0; i < size; ++i) message[i] = byte_at(sent + i);
            std::span<const std::byte> left(message.data(), size);
            while (!left.empty()) {
                const std::size_t count = ring.writer.put(left);
                left = left.subspan(count);
                if (count > 0 && ring.writer.publish()) bytes_bell.release();
                if (count == 0 && !ring.writer.ask_for_room()) room_bell.acquire();
            }
            sent += size;
        }
    });
    Random random(2);
    std::vector<std::byte> room(700);
    std::uint64_t came = 0;
    std::uint64_t wrong = 0;
    while (came < total) {
        const std::size_t count = ring.reader.take(std::span(room).first(1 + random() % room.size()));
        for (std::size_t i = 0; i < count; ++i) wrong += room[i] == byte_at(came + i) ? 0 : 1;
        came += count;
        if (count > 0 && ring.reader.publish()) room_bell.release();
        if (count == 0 && ring.reader.ask_for_bytes()) bytes_bell.acquire();
    }
    writer.join();
    EXPECT_EQ(came, total);
    EXPECT_EQ(wrong, 0u);
}

TEST(NativeRing, APositionThatCannotBeIsRefusedByTheReader) {
    for (const std::uint64_t position : {std::uint64_t{65}, ~std::uint64_t{0}}) {
        Ring ring(64);
        ring.control.written = position;
        std::array<std::byte, 100> room;
        EXPECT_EQ(ring.reader.take(room), 0u);
        EXPECT_TRUE(ring.reader.is_corrupt());
    }
}

TEST(NativeRing, APositionThatCannotBeIsRefusedByTheWriter) {
    for (const std::uint64_t position : {std::uint64_t{65}, ~std::uint64_t{0}}) {
        Ring ring(64);
        EXPECT_EQ(ring.writer.put(numbered(64)), 64u);
        ring.writer.publish();
        ring.control.read = position;
        EXPECT_EQ(ring.writer.put(numbered(1)), 0u);
        EXPECT_TRUE(ring.writer.is_corrupt());
    }
}

}  // namespace heddle::native
