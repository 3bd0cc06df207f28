// Tests the arithmetic of a calibration on readings made by hand: samples, lines, intervals and noise.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/random.hpp"
#include "calibration/entries.hpp"
#include "calibration/readings.hpp"
#include "cli/calibration_file.hpp"

using namespace heddle;
using namespace heddle::calibration;
using ::testing::ElementsAre;

namespace {

double value_of(const Calibration& found, const std::string& key) {
    for (const Entry& entry : found.entries)
        if (entry.key == key) return entry.value;
    ADD_FAILURE() << key << " is missing";
    return 0;
}

}  // namespace

TEST(CalibrationReadings, WhatEachReadingTakesOnceCancelsOut) {
    const Readings readings = {{"a", 0, 10, 5 + 10 * 2},
                               {"a", 0, 100, 5 + 100 * 2},
                               {"a", 0, 100, 5 + 100 * 3},
                               {"a", 0, 10, 5 + 10 * 3},
                               {"b", 8, 4, 12},
                               {"b", 9, 4, 16}};
    const Samples samples = samples_of(readings);
    EXPECT_THAT(samples.at({"a", 0}), ElementsAre(2, 3));
    EXPECT_THAT(samples.at({"b", 8}), ElementsAre(3));
    EXPECT_THAT(samples.at({"b", 9}), ElementsAre(4));
    const Readings back = from_bytes(to_bytes(readings));
    ASSERT_EQ(back.size(), readings.size());
    EXPECT_EQ(back.back().quantity, "b");
    EXPECT_EQ(back.back().seconds, 16);
    EXPECT_EQ(median({3, 1, 2}), 2);
    EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(CalibrationEntries, MessagesAreDividedAmongTheirEndsAndTheWay) {
    // 100ns to enqueue, 200ns and 50ns a KiB to send, 300ns to receive, 2us of way at 2 GB/s.
    Samples samples;
    samples[{"enqueue", 16}] = {100e-9};
    for (const double bytes : {16.0, 1024.0, 65536.0}) {
        const double send = 300e-9 + 50e-9 * bytes / 1024;
        samples[{"send", bytes}] = {send};
        samples[{"receive", bytes}] = {300e-9};
        samples[{"round_trip", bytes}] = {2 * (send + 300e-9 + 2e-6 + bytes / 2e9)};
    }
    const Calibration network = calibrate(samples, Way::network);
    EXPECT_NEAR(value_of(network, "overheads.message_send"), 200e-9, 1e-12);
    EXPECT_NEAR(value_of(network, "overheads.message_send_kib"), 50e-9, 1e-12);
    EXPECT_NEAR(value_of(network, "overheads.message_receive_kib"), 0, 1e-12);
    EXPECT_NEAR(value_of(network, "network.latency"), 1e-6, 1e-11);  // a message passes two links
    EXPECT_NEAR(value_of(network, "network.bandwidth") / 2e9, 1, 1e-6);
    EXPECT_TRUE(network.remarks.empty());
    EXPECT_NEAR(value_of(calibrate(samples, Way::shared_memory), "shared_memory.latency"), 2e-6, 1e-11);
}

// Through shared memory one end reads while the other writes: the slower one is in the way, and each pays.
TEST(CalibrationEntries, EndsThatShareMemoryWorkAtTheSameTime) {
    // 100ns to enqueue, 200ns and 50ns a KiB to send, 300ns and 80ns a KiB to receive, 2us of way at 20 GB/s.
    Samples samples;
    samples[{"enqueue", 16}] = {100e-9};
    for (const double bytes : {16.0, 1024.0, 65536.0}) {
        samples[{"send", bytes}] = {300e-9 + 50e-9 * bytes / 1024};
        samples[{"receive", bytes}] = {300e-9 + 80e-9 * bytes / 1024};
        samples[{"round_trip", bytes}] = {2 * (600e-9 + 80e-9 * bytes / 1024 + 2e-6 + bytes / 20e9)};
    }
    const Calibration found = calibrate(samples, Way::shared_memory);
    EXPECT_NEAR(value_of(found, "overheads.message_send_kib"), 50e-9, 1e-12);
    EXPECT_NEAR(value_of(found, "overheads.message_receive_kib"), 80e-9, 1e-12);
    EXPECT_NEAR(value_of(found, "shared_memory.latency"), 2e-6, 1e-11);
    EXPECT_NEAR(value_of(found, "shared_memory.bandwidth") / 20e9, 1, 1e-6);
    EXPECT_TRUE(found.remarks.empty());
}

// What caches and overlapping do: no line is near to all sizes.
TEST(CalibrationEntries, BytesAreStatedBySizeWhereNoLineFits) {
    const std::map<double, double> bytes_take = {
        {16, 0}, {2048, 0.3e-6}, {65536, 12e-6}, {524288, 30e-6}, {4194304, 400e-6}};
    for (const Way way : {Way::shared_memory, Way::network}) {
        Samples samples;
        samples[{"enqueue", 16}] = {100e-9};
        for (const auto& [bytes, seconds] : bytes_take) {
            samples[{"round_trip", bytes}] = {2 * (500e-9 + seconds)};
            if (bytes > 65536) continue;
            samples[{"send", bytes}] = {100e-9 +
                                        2 * seconds};  // a burst may take longer than a message alone
            samples[{"receive", bytes}] = {100e-9 + seconds};
        }
        const Calibration found = calibrate(samples, way);
        for (const Trip& trip : found.trips) EXPECT_NEAR(trip.by_entries / trip.seen, 1, 0.02) << trip.bytes;
        double last = 0;
        for (const auto& [bytes, seconds] : bytes_take) {
            if (seconds == 0) continue;
            const double send = value_of(found, fmt::format("message_bytes.send@{}", bytes)),
                         receive = value_of(found, fmt::format("message_bytes.receive@{}", bytes));
            const double of_both = way == Way::network ? send + receive : std::max(send, receive);
            EXPECT_NEAR(of_both, seconds, 0.021 * seconds) << bytes;
            EXPECT_GE(send, receive);
            EXPECT_GT(send, last);
            last = send;
        }
    }
}

TEST(CalibrationEntries, EndsPayNoMoreThanAMessageTakes) {
    Samples samples;
    samples[{"enqueue", 16}] = {2e-6};
    for (const double bytes : {16.0, 65536.0}) {
        samples[{"send", bytes}] = {2e-6};
        samples[{"receive", bytes}] = {2e-6};
        samples[{"round_trip", bytes}] = {2 * (2e-6 + bytes / 2e9)};
    }
    const Calibration found = calibrate(samples, Way::shared_memory);
    EXPECT_EQ(found.remarks.size(), 1U);
    const double ends = value_of(found, "overheads.message_enqueue") +
                        value_of(found, "overheads.message_send") +
                        value_of(found, "overheads.message_receive");
    EXPECT_NEAR(ends + value_of(found, "shared_memory.latency"), 2e-6, 2e-8);
}

TEST(CalibrationEntries, TheIntervalIsThatOfTheMedian) {
    // The median of n values of a uniform distribution on [0, 2]: its standard deviation is near 1 / sqrt(n)
    // (order statistics; David, Nagaraja: "Order Statistics", section 2.5).
    Random random(3);
    int covered = 0;
    constexpr int trials = 200;
    for (int trial = 0; trial < trials; ++trial) {
        Samples samples;
        for (int i = 0; i < 101; ++i)
            samples[{"sync", 0}].push_back(static_cast<double>(random.below(2'000'001)) * 1e-6);
        for (const Entry& entry :
             calibrate(samples, Way::network, static_cast<std::uint64_t>(trial)).entries) {
            ASSERT_EQ(entry.key, "overheads.sync");
            EXPECT_NEAR(entry.value, 1, 0.5);
            EXPECT_EQ(entry.samples, 101U);
            covered += entry.low <= 1 && 1 <= entry.high ? 1 : 0;
        }
    }
    EXPECT_GE(covered, trials * 90 / 100);
    EXPECT_LT(covered, trials);  // an interval that covers always would be too wide
}

TEST(CalibrationNoise, IsWhatQuantaTakeLongerThanUndisturbedOnes) {
    Readings readings;
    for (int i = 0; i < 100; ++i) {
        readings.push_back({"quantum", 0, 1, 1});
        readings.push_back({"quantum", 1, 1, i < 50 ? 1.0 : 2.0});
    }
    EXPECT_NEAR(noise_of(readings).lost, 0.5, 1e-9);  // of the worse core
    EXPECT_EQ(noise_of({{"other", 0, 1, 1}}).lost, 0);
}

// As if node 0 had run on another machine.
TEST(CalibrationReadings, OfALaunchAreTakenFromAFileThatMustBeThere) {
    const std::string path = ::testing::TempDir() + "/readings." + std::to_string(::getpid()) + ".tmp";
    const runtime::Bytes bytes = to_bytes({{"round_trip", 8, 100, 0.5}});
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const Readings readings = cli::take_readings(path);
    ASSERT_EQ(readings.size(), 1U);
    EXPECT_EQ(readings[0].quantity, "round_trip");
    EXPECT_EQ(readings[0].seconds, 0.5);
    EXPECT_FALSE(std::filesystem::exists(path));
    try {
        (void)cli::take_readings(path);
        ADD_FAILURE() << "there are no readings";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("name this machine first in --hosts"));
    }
}
