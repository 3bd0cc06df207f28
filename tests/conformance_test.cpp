// Runs the same tests of the contract in runtime/backend.hpp on every backend.
#include "tests/conformance.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>

namespace heddle::conformance {

using namespace std::chrono_literals;

INSTANTIATE_TEST_SUITE_P(Worlds, Conformance, testing::ValuesIn(arms()),
                         [](const auto& arm) { return arm.param.name; });

// --- workers
// -------------------------------------------------------------------------------------------------------

TEST_P(Conformance, EveryWorkerWorksOnce) {
    std::array<std::array<std::atomic<int>, 2>, 3> worked{};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        EXPECT_EQ(worker.id.node, node.id);
        EXPECT_EQ(&node.worker(worker.id.core), &worker);
        ++worked[node.id][worker.id.core];
    };
    run(3, 2, script);
    for (const auto& node : worked)
        for (const auto& worker : node) EXPECT_EQ(worker, 1);
}

TEST_P(Conformance, ContextsKnowTheirPlaceAndTheWorld) {
    std::atomic<int> looked{0};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        ASSERT_NE(worker.backend, nullptr);
        EXPECT_EQ(node.receiver().backend, worker.backend);
        EXPECT_EQ(node.receiver().id, (WorkerId{node.id, 3}));
        const runtime::Topology& topology = worker.backend->topology();
        EXPECT_EQ(topology.nodes, 2u);
        EXPECT_EQ(topology.cores, 3u);
        EXPECT_EQ(topology.group.size(), 2u);
        if (topology.gates_open) {
            EXPECT_EQ(worker.costs->fork, Time::zero());
            EXPECT_EQ(worker.costs->message_enqueue, Time::zero());
        }
        ++looked;
    };
    run(2, 3, script);
    EXPECT_EQ(looked, 6);
}

TEST_P(Conformance, ComputeRunsItsCodeOnce) {
    int ran = 0;
    Script script;
    script.work = [&](Node&, Context& worker) {
        const Time before = worker.backend->now(worker);
        for (int i = 0; i < 10; ++i)
            worker.backend->compute(worker, {.flops = 1e3, .bytes = 1e3}, [&] { ++ran; });
        worker.backend->compute(worker, {}, [&] { ++ran; });
        EXPECT_GE(worker.backend->now(worker), before);
    };
    run(1, 1, script);
    EXPECT_EQ(ran, 11);
}

// --- time
// ------------------------------------------------------------------------------------------------------------

/// How long, only the worlds themselves know; but a million flops take no less than a thousand.
TEST_P(Conformance, DeclaredWorkWithoutCodeTakesItsTime) {
    Time short_time{}, long_time{};
    Script script;
    script.work = [&](Node&, Context& worker) {
        const runtime::Backend& world = *worker.backend;
        worker.backend->compute(worker, {.flops = 1e3}, {});
        const Time start = world.now(worker);
        worker.backend->compute(worker, {.flops = 1e3}, {});
        const Time middle = world.now(worker);
        worker.backend->compute(worker, {.flops = 1e8}, {});
        short_time = middle - start;
        long_time = world.now(worker) - middle;
    };
    run(1, 1, script);
    EXPECT_GE(long_time, short_time);
}

TEST_P(Conformance, TimeNeverGoesBack) {
    Script script;
    script.work = [&](Node&, Context& worker) {
        Time last{};
        for (int i = 0; i < 1000; ++i) {
            if (i % 100 == 0) park(worker, last + 10us);
            const Time recent = worker.backend->recent(worker);
            if (i % 100 == 0) {
                EXPECT_GT(recent, last) << "a park tells what time it is";
            }
            const Time about = worker.backend->about(worker);
            const Time now = worker.backend->now(worker);
            EXPECT_GE(recent, last);
            EXPECT_GE(about, recent);
            EXPECT_GE(now, about);
            last = now;
        }
        EXPECT_GT(last, Time::zero());
        EXPECT_GE(worker.backend->elapsed(), Time::zero());
    };
    run(2, 2, script);
}

TEST_P(Conformance, WhatIsSeenAfterAnUnparkIsLaterThanTheUnpark) {
    Time sent{};
    Time seen{};
    std::atomic<bool> unparked{false};
    Script script;
    script.work = [&](Node&, Context& worker) {
        if (worker.id.core == 0) {
            sent = worker.backend->now(worker);
            unparked = true;
            worker.backend->unpark(worker, 1);
        } else {
            while (!unparked) park(worker, never);
            seen = worker.backend->now(worker);
        }
    };
    run(1, 2, script);
    EXPECT_GE(seen, sent);
}

// --- park and unpark
// -------------------------------------------------------------------------------------------------

TEST_P(Conformance, AnUnparkBeforeAParkIsNotLost) {
    int returned = 0;
    Script script;
    script.work = [&](Node&, Context& worker) {
        for (int i = 0; i < 100; ++i) {
            worker.backend->unpark(worker, 0);
            park(worker, never);
            ++returned;
        }
    };
    run(1, 1, script);
    EXPECT_EQ(returned, 100);
}

TEST_P(Conformance, SeveralUnparksCountAsOne) {
    int early = 0;
    Script script;
    script.work = [&](Node&, Context& worker) {
        for (int i = 0; i < 50; ++i) worker.backend->unpark(worker, 0);
        park(worker, never);
        for (int i = 0; i < 20; ++i) {
            const Time deadline = worker.backend->now(worker) + 1ms;
            park(worker, deadline);
            early += worker.backend->now(worker) < deadline;
        }
    };
    run(1, 1, script);
    EXPECT_LT(early, 10) << "a park may return for no reason, but not as a habit";
}

TEST_P(Conformance, AParkEndsAtItsDeadline) {
    int parks = 0;
    Script script;
    script.work = [&](Node&, Context& worker) {
        for (const Time wait : {Time(1ns), Time(10us), Time(5ms)}) {
            const Time deadline = worker.backend->now(worker) + wait;
            while (worker.backend->now(worker) < deadline) {
                park(worker, deadline);
                ASSERT_LT(++parks, 50);
            }
        }
        park(worker, Time::zero());  // has passed
    };
    run(1, 1, script);
    EXPECT_GE(parks, 1);
}

TEST_P(Conformance, NoWakeUpIsLostAmongManyWakers) {
    constexpr int rounds = 2000;
    std::atomic<int> signals{0};
    Script script;
    script.work = [&](Node&, Context& worker) {
        if (worker.id.core == 0) {
            while (signals.load(std::memory_order_relaxed) < 3 * rounds) park(worker, never);
            return;
        }
        for (int i = 0; i < rounds; ++i) {
            signals.fetch_add(1, std::memory_order_relaxed);
            worker.backend->unpark(worker, 0);
            if (i % 64 == 0) park(worker, worker.backend->now(worker) + 1us);
        }
    };
    run(1, 4, script);
    EXPECT_EQ(signals, 3 * rounds);
}

TEST_P(Conformance, WritesBeforeAnUnparkAreSeenAfterThePark) {
    constexpr int rounds = 2000;
    std::array<int, 2> plain{};  // no atomics: the park and unpark alone order these
    std::atomic<CoreId> turn{0};
    Script script;
    script.work = [&](Node&, Context& worker) {
        const CoreId me = worker.id.core;
        const CoreId other = 1 - me;
        for (int i = 0; i < rounds; ++i) {
            // Parks even where it is its turn already: it is the park that brings the other's writes.
            if (i > 0 || me == 1) do
                    park(worker, never);
                while (turn.load(std::memory_order_relaxed) != me);
            EXPECT_EQ(plain[other], me == 0 ? i : i + 1);
            plain[me] = i + 1;
            turn.store(other, std::memory_order_relaxed);
            worker.backend->unpark(worker, other);
        }
    };
    run(1, 2, script);
    EXPECT_EQ(plain[0], rounds);
    EXPECT_EQ(plain[1], rounds);
}

// --- messages
// --------------------------------------------------------------------------------------------------------

TEST_P(Conformance, WhatBlocksRunsOnceAndIsFollowedByItsEndOnce) {
    constexpr int calls = 20;
    std::atomic<int> code{0};
    std::atomic<int> ends{0};
    std::atomic<int> wrong{0};
    Script script;
    script.work = [&](Node&, Context& worker) {
        if (worker.id.core != 0) return;
        for (int i = 0; i < calls; ++i) {
            worker.backend->io(
                worker, 10, [&] { ++code; },
                [&](Context& context) {
                    if (context.id.node != worker.id.node) ++wrong;
                    ++ends;
                    context.backend->unpark(context, 0);
                });
        }
        while (ends != calls) park(worker, never);
    };
    run(1, 2, script);
    EXPECT_EQ(code, calls);
    EXPECT_EQ(ends, calls);
    EXPECT_EQ(wrong, 0);
}

TEST_P(Conformance, MessagesOfAllSizesArriveOnceAndIntact) {
    const std::vector<std::size_t> sizes{0,    1,    7,     64,     4095,    4096,
                                         8191, 8192, 65536, 262144, 1048576, 3000001};
    std::map<std::size_t, int> arrived;
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id != 0) return;
        for (int copy = 0; copy < 3; ++copy)
            for (const std::size_t size : sizes) worker.backend->send(worker, 1, pattern(size, size));
    };
    script.deliver = [&](Node& node, NodeId from, std::span<const std::byte> message) {
        EXPECT_EQ(node.id, 1u);
        EXPECT_EQ(from, 0u);
        EXPECT_TRUE(std::ranges::equal(message, pattern(message.size(), message.size())))
            << message.size() << " bytes";
        ++arrived[message.size()];
    };
    run(2, 1, script);
    EXPECT_EQ(arrived.size(), sizes.size());
    for (const auto& [size, times] : arrived) EXPECT_EQ(times, 3) << size << " bytes";
}

// Those of messages that are done with, wherever they were delivered.
TEST_P(Conformance, BuffersAreEmpty) {
    constexpr int rounds = 300;
    int received = 0;
    Script script;
    script.work = [&](Node& node, Context& worker) {
        for (int i = 0; node.id == 0 && i < rounds; ++i) {
            Bytes buffer = worker.backend->buffer(worker);
            EXPECT_TRUE(buffer.empty());
            buffer = pattern(static_cast<std::size_t>(i), 1);
            worker.backend->send(worker, 1, std::move(buffer));
            if (i % 10 == 0) park(worker, worker.backend->now(worker) + 20us);
        }
    };
    script.deliver = [&](Node& node, NodeId, std::span<const std::byte> message) {
        ++received;
        EXPECT_TRUE(std::ranges::equal(message, pattern(message.size(), 1)));
        EXPECT_TRUE(node.receiver().backend->buffer(node.receiver()).empty());
    };
    run(2, 1, script);
    EXPECT_EQ(received, rounds);
}

TEST_P(Conformance, PaddingTravelsAndIsNotDelivered) {
    // More than fits a frame of the native world's, several times over.
    const std::vector<std::uint64_t> paddings{0, 1, 4096, 1U << 20, 5'000'001};
    std::vector<std::uint64_t> seen;
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id != 0) return;
        for (const std::uint64_t padding : paddings)
            worker.backend->send(worker, 1, pack(padding), {.padding = padding});
    };
    script.deliver = [&](Node&, NodeId, std::span<const std::byte> message) {
        ASSERT_EQ(message.size(), sizeof(std::uint64_t));
        seen.push_back(unpack<std::uint64_t>(message));
    };
    run(2, 1, script);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, paddings);
}

// Bodies smaller and larger than any buffer of the native world's, among other messages; each is the
// receiver's alone, whatever the sender goes on doing with its own.
TEST_P(Conformance, BodiesTravelWithTheirMessages) {
    const std::vector<std::size_t> sizes{0, 1, 4096, 100'000, 262'144, 3'000'001};
    std::vector<std::size_t> seen;
    runtime::Body last;
    std::vector<runtime::Body> sent;
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id != 0) return;
        for (const std::size_t size : sizes) {
            const Bytes bytes = pattern(size, size);
            sent.push_back(std::make_shared<Bytes>(bytes));
            worker.backend->send(worker, 1, pack(size), {.body = sent.back()});
            worker.backend->send(worker, 1, pack(~std::size_t{0}));
        }
    };
    script.receive_body = [&](Node&, runtime::Body body) { last = std::move(body); };
    script.deliver = [&](Node&, NodeId, std::span<const std::byte> message) {
        const auto size = unpack<std::size_t>(message);
        const runtime::Body body = std::exchange(last, nullptr);
        if (size == ~std::size_t{0}) {
            EXPECT_EQ(body, nullptr) << "the body of another message";
            return;
        }
        ASSERT_NE(body, nullptr);
        EXPECT_EQ(body.use_count(), 1);
        EXPECT_EQ(*body, Bytes(pattern(size, size)));
        seen.push_back(size);
    };
    run(2, 1, script);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, sizes);
    for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(*sent[i], Bytes(pattern(sizes[i], sizes[i])));
}

TEST_P(Conformance, MessagesFromOneContextArriveInOrder) {
    struct Numbered {
        std::uint32_t core;
        std::uint32_t number;
    };
    constexpr std::uint32_t count = 2000;
    std::array<std::uint32_t, 2> next{};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id != 1) return;
        for (std::uint32_t i = 0; i < count; ++i)
            worker.backend->send(worker, 0, pack(Numbered{worker.id.core, i}));
    };
    script.deliver = [&](Node&, NodeId, std::span<const std::byte> message) {
        const auto [core, number] = unpack<Numbered>(message);
        ASSERT_LT(core, 2u);
        EXPECT_EQ(number, next[core]++);
    };
    run(2, 2, script);
    EXPECT_EQ(next[0], count);
    EXPECT_EQ(next[1], count);
}

TEST_P(Conformance, WhatWasSentBeforeTheEndIsDelivered) {
    std::atomic<int> delivered{0};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        for (int i = 0; i < 200; ++i) worker.backend->send(worker, (node.id + 1) % 3, pattern(1000, 1));
    };
    script.deliver = [&](Node&, NodeId, auto) { ++delivered; };
    run(3, 2, script);
    EXPECT_EQ(delivered, 3 * 2 * 200);
}

TEST_P(Conformance, ANodeHandlesOneMessageAtATime) {
    std::array<std::atomic<int>, 4> inside{};
    std::array<int, 4> handled{};  // plain: deliveries on a node are ordered
    Script script;
    script.work = [&](Node& node, Context& worker) {
        for (int i = 0; i < 300; ++i)
            for (NodeId to = 0; to < 2; ++to)
                if (to != node.id) worker.backend->send(worker, to, pattern(16, 1));
    };
    script.deliver = [&](Node& node, NodeId, auto) {
        EXPECT_EQ(inside[node.id].fetch_add(1), 0);
        ++handled[node.id];
        inside[node.id].fetch_sub(1);
    };
    run(4, 2, script);
    EXPECT_EQ(handled[0], 3 * 2 * 300);
    EXPECT_EQ(handled[1], 3 * 2 * 300);
}

TEST_P(Conformance, HandlersMaySendAndUnpark) {
    constexpr int last = 999;  // node 0 gets the odd ones
    std::atomic<int> seen{-1};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id != 0) return;
        worker.backend->send(worker, 1, pack(0));
        while (seen < last) park(worker, never);
    };
    script.deliver = [&](Node& node, NodeId from, std::span<const std::byte> message) {
        const int number = unpack<int>(message);
        EXPECT_EQ(number, seen.exchange(number) + 1);
        Context& me = node.receiver();
        if (number < last) {
            me.backend->send(me, from, pack(number + 1));
        } else {
            me.backend->unpark(me, 0);
        }
    };
    run(2, 1, script);
    EXPECT_EQ(seen, last);
}

TEST_P(Conformance, WhatHandlersSendAfterTheWorkersEndIsDelivered) {
    constexpr int hops = 100;
    int last = 0;
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id == 0) worker.backend->send(worker, 1, pack(1));
    };
    script.deliver = [&](Node& node, NodeId, std::span<const std::byte> message) {
        last = unpack<int>(message);
        Context& me = node.receiver();
        if (last < hops) me.backend->send(me, (node.id + 1) % 3, pack(last + 1));
    };
    run(3, 1, script);
    EXPECT_EQ(last, hops);
}

TEST_P(Conformance, ATokenRunsRoundARingOfEight) {
    constexpr int hops = 8 * 5;
    std::array<std::atomic<int>, 8> token{};
    int seen = 0;
    Script script;
    script.work = [&](Node& node, Context& worker) {
        const auto pass_on = [&](int number) {
            worker.backend->send(worker, (node.id + 1) % 8, pack(number));
        };
        if (node.id == 0) pass_on(1);
        for (int turn = 0; turn < 5; ++turn) {
            while (token[node.id] == 0) park(worker, never);
            const int number = token[node.id].exchange(0);
            if (number < hops)
                pass_on(number + 1);
            else
                seen = number;
        }
    };
    script.deliver = [&](Node& node, NodeId from, std::span<const std::byte> message) {
        EXPECT_EQ(from, (node.id + 7) % 8);
        token[node.id] = unpack<int>(message);
        node.receiver().backend->unpark(node.receiver(), 0);
    };
    run(8, 1, script);
    EXPECT_EQ(seen, hops);
}

TEST_P(Conformance, EightNodesTalkAllToAll) {
    constexpr int each = 20;
    std::array<std::array<int, 8>, 8> got{};  // plain: [node] is written by its deliveries only
    std::array<std::atomic<int>, 8> total{};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        for (int i = 0; i < each; ++i)
            for (NodeId to = 0; to < 8; ++to)
                if (to != node.id) worker.backend->send(worker, to, pattern(500, node.id));
        while (total[node.id] < 7 * 2 * each) park(worker, never);
        worker.backend->unpark(worker, 1 - worker.id.core);
    };
    script.deliver = [&](Node& node, NodeId from, std::span<const std::byte> message) {
        EXPECT_TRUE(std::ranges::equal(message, pattern(500, from)));
        ++got[node.id][from];
        ++total[node.id];
        node.receiver().backend->unpark(node.receiver(), 0);
    };
    run(8, 2, script);
    for (NodeId to = 0; to < 8; ++to)
        for (NodeId from = 0; from < 8; ++from) EXPECT_EQ(got[to][from], from == to ? 0 : 2 * each);
}

}  // namespace heddle::conformance
