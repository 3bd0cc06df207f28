// Tests two native nodes that send to each other as fast as they can, while their receivers are sometimes
// slow. Workers and handlers send messages of all sizes up to 64 MiB. The test checks every byte and the
// memory used. It runs for HEDDLE_STRESS_SECONDS (default: 5).
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "host/wall_clock.hpp"
#include "tests/conformance.hpp"

namespace heddle::native {

namespace {

using conformance::Node;
using conformance::Script;
using conformance::ScriptedNode;
using runtime::Bytes;
using runtime::Context;

constexpr std::uint64_t window = 8U << 20;
constexpr std::size_t largest = 64U << 20;
constexpr CoreId cores = 2;

double seconds() {
    const char* text = std::getenv("HEDDLE_STRESS_SECONDS");
    return text ? std::atof(text) : 5;
}

/// Eight bytes at a time, cheap to make and to check; the last may be cut off.
std::uint64_t word(std::uint64_t seed, std::size_t i) {
    return (seed + i) * 0x9e37'79b9'7f4a'7c15;
}

/// `size` bytes that follow from the seed, which comes first.
Bytes made(std::uint64_t seed, std::size_t size) {
    Bytes bytes(std::max(size, sizeof seed));
    std::memcpy(bytes.data(), &seed, sizeof seed);
    for (std::size_t at = sizeof seed; at < bytes.size(); at += sizeof seed) {
        const std::uint64_t value = word(seed, at);
        std::memcpy(bytes.data() + at, &value, std::min(sizeof value, bytes.size() - at));
    }
    return bytes;
}

bool intact(std::span<const std::byte> bytes) {
    std::uint64_t seed = 0;
    if (bytes.size() < sizeof seed) return false;
    std::memcpy(&seed, bytes.data(), sizeof seed);
    for (std::size_t at = sizeof seed; at < bytes.size(); at += sizeof seed) {
        const std::uint64_t value = word(seed, at);
        if (std::memcmp(bytes.data() + at, &value, std::min(sizeof value, bytes.size() - at)) != 0)
            return false;
    }
    return true;
}

/// Mostly small, now and then large, seldom huge.
std::size_t some_size(Random& random) {
    const std::uint64_t dice = random() % 20'000;
    if (dice == 0) return largest - random() % 1000;
    if (dice < 20) return random() % (4U << 20);
    if (dice < 400) return random() % (100U << 10);
    return random() % 300;
}

struct Side {
    std::atomic<std::uint64_t> sent{0}, got{0}, corrupt{0}, bytes{0};
    Random handlers{0};
};

void send_some(Side& side, Context& sender, NodeId to, Random& random) {
    ++side.sent;
    const std::size_t size = some_size(random);
    if (size < 1000 || random() % 2 == 0) {
        sender.backend->send(sender, to, made(random(), size));
    } else {
        sender.backend->send(sender, to, made(random(), 16), {std::make_shared<Bytes>(made(random(), size))});
    }
}

}  // namespace

class NativeStress : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Modules, NativeStress, testing::Bool(),
                         [](const auto& single) { return single.param ? "single" : "separate"; });

TEST_P(NativeStress, BothSidesAtFullSpeedWithSlowReceivers) {
    Side sides[2];
    sides[1].handlers = Random(1);
    Script script;
    script.work = [&](Node& node, Context& worker) {
        Random random = Random(7).split(node.id).split(worker.id.core);
        const Time end = from_seconds(seconds());
        while (worker.backend->now(worker) < end) send_some(sides[node.id], worker, 1 - node.id, random);
    };
    const auto check = [&](Node& node, std::span<const std::byte> bytes) {
        Side& side = sides[node.id];
        side.bytes += bytes.size();
        if (!intact(bytes)) ++side.corrupt;
    };
    script.receive_body = [&](Node& node, const runtime::Body& body) { check(node, *body); };
    script.deliver = [&](Node& node, NodeId from, std::span<const std::byte> message) {
        Side& side = sides[node.id];
        check(node, message);
        ++side.got;
        // Slow in turn: one second node 0, one second node 1.
        const auto now =
            static_cast<std::uint64_t>(to_seconds(node.receiver().backend->now(node.receiver())));
        if (now % 2 == node.id && side.got % 100 == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        // One in three gets another message back, so that what handlers send dies out.
        if (side.handlers() % 3 == 0) send_some(side, node.receiver(), from, side.handlers);
    };
    std::vector<std::unique_ptr<ScriptedNode>> nodes;
    for (NodeId node = 0; node < 2; ++node)
        nodes.push_back(std::make_unique<ScriptedNode>(node, cores, script));
    const Key key = make_key();
    const Rendezvous rendezvous(2, key);
    const std::uint64_t before = host::peak_memory_bytes();
    std::vector<std::thread> threads;
    for (NodeId rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
            NativeOptions options{.cores = cores};
            options.window = window;
            options.single_module = GetParam();
            options.membership = Membership{rank, 2, key, rendezvous.address(), rank, 2};
            NativeBackend(options).run([&](NodeId node) -> runtime::NodeProgram& { return *nodes[node]; });
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (NodeId node = 0; node < 2; ++node) {
        EXPECT_EQ(sides[node].corrupt, 0U);
        EXPECT_EQ(sides[node].got, sides[1 - node].sent);
        EXPECT_GT(sides[node].got, 0U);
    }
    // Of each node: the window, one message that is larger and was alone under way, those that its two
    // workers and its handler make meanwhile, and one that it receives.
    const std::uint64_t bound = 2 * (window + (1 + cores + 1 + 1) * largest) + (64U << 20);
    const std::uint64_t peak = host::peak_memory_bytes() - before;
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they take more than the program does
    EXPECT_LT(peak, bound);
#endif
    std::printf("%llu and %llu messages, %.1f GB, peak %.0f MB, bound %.0f MB\n",
                static_cast<unsigned long long>(sides[0].got), static_cast<unsigned long long>(sides[1].got),
                static_cast<double>(sides[0].bytes + sides[1].bytes) / 1e9, static_cast<double>(peak) / 1e6,
                static_cast<double>(bound) / 1e6);
}

}  // namespace heddle::native
