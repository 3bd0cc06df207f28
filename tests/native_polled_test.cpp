// Tests native nodes whose workers poll (schedule.modules: single): which worker receives, when a message
// waits, and that no worker waits for ever. Their conformance is tested in conformance_test.cpp, by the arm
// native_single.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <map>
#include <thread>
#include <vector>

#include "runtime/native/lookout.hpp"
#include "tests/conformance.hpp"
#include "tests/native_testing.hpp"
#include "tests/seeds.hpp"

namespace heddle::native {

namespace {

using namespace std::chrono_literals;
using conformance::Node;
using conformance::pack;
using conformance::park;
using conformance::pattern;
using conformance::Script;
using conformance::ScriptedNode;
using conformance::unpack;
using runtime::Context;

void run_natively(NodeId nodes, CoreId cores, const Script& script,
                  const NativeOptions& options = {.single_module = true}) {
    std::vector<std::unique_ptr<ScriptedNode>> programs;
    for (NodeId node = 0; node < nodes; ++node)
        programs.push_back(std::make_unique<ScriptedNode>(node, cores, script));
    conformance::run_native(
        nodes, cores, [&](NodeId node) -> runtime::NodeProgram& { return *programs[node]; }, options);
}

/// Node 0 sends to node 1, whose worker is busy. Returns whether the message was delivered to it while it
/// was, in a time that is much longer than a message takes.
bool delivered_to_a_busy_node(bool single) {
    std::atomic<bool> busy{false}, sent{false}, delivered{false};
    bool during_task = false;
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id == 0) {
            EXPECT_TRUE(eventually([&] { return busy.load(); }));
            worker.backend->send(worker, 1, pack(1));
            sent = true;
            return;
        }
        worker.backend->compute(worker, {}, [&] {
            busy = true;
            EXPECT_TRUE(eventually([&] { return sent.load(); }));
            if (single) {
                std::this_thread::sleep_for(100ms);
            } else {
                EXPECT_TRUE(eventually([&] { return delivered.load(); }));
            }
            during_task = delivered;
        });
        while (!delivered) park(worker, worker.backend->now(worker) + 1ms);
    };
    script.deliver = [&](Node&, NodeId, auto) { delivered = true; };
    run_natively(2, 1, script, {.single_module = single});
    EXPECT_TRUE(delivered);
    return during_task;
}

std::ptrdiff_t threads_of_this_process() {
    const std::filesystem::directory_iterator all("/proc/self/task");
    return std::distance(begin(all), end(all));
}

/// While both of two nodes run.
std::ptrdiff_t threads_of_a_run(bool single) {
    std::atomic<int> running{0};
    std::atomic<bool> counted{false};
    std::ptrdiff_t threads = 0;
    Script script;
    script.work = [&](Node& node, Context&) {
        ++running;
        EXPECT_TRUE(eventually([&] { return running == 2; }));
        if (node.id == 0) {
            threads = threads_of_this_process();
            counted = true;
        }
        EXPECT_TRUE(eventually([&] { return counted.load(); }));
    };
    run_natively(2, 1, script, {.single_module = single});
    return threads;
}

}  // namespace

TEST(NativePolled, AMessageWaitsForTheTaskOfASingleModuleAndNotForSeparateOnes) {
    EXPECT_TRUE(delivered_to_a_busy_node(false));
    EXPECT_FALSE(delivered_to_a_busy_node(true));
}

TEST(NativePolled, ASingleModuleHasNeitherSenderNorReceiverThread) {
    EXPECT_EQ(threads_of_a_run(false) - threads_of_a_run(true), 2 * 2);
}

TEST(NativePolled, ANodeAloneHasNothingToPoll) {
    EXPECT_FALSE(NativeBackend({.single_module = true}).topology().polled);
}

TEST(NativePolled, MpiHasSeparateModulesOnly) {
    EXPECT_NE(
        error_of([] { NativeBackend({.mpi = MpiOptions{}, .single_module = true}); }).find("not by MPI"),
        std::string::npos);
}

// The message comes when the worker that was the last to wait is busy: one that still waits delivers it.
TEST(NativePolled, WhoeverStillWaitsReceives) {
    constexpr int rounds = 300;
    std::atomic<int> busy{0}, delivered{0};
    std::atomic<bool> over{false};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id == 1) {
            if (worker.id.core == 1) return;
            for (int round = 1; round <= rounds; ++round) {
                while (busy < round) park(worker, worker.backend->now(worker) + 20us);
                worker.backend->send(worker, 0, pack(round));
            }
        } else if (worker.id.core == 0) {
            for (int round = 1; round <= rounds; ++round) {
                // The other stops receiving, this one begins and stops. Not `park`, which polls afterwards.
                for (int i = 0; i < 3; ++i) {
                    worker.backend->unpark(worker, 1);
                    worker.backend->park(worker, worker.backend->now(worker) + 50us);
                }
                busy = round;
                if (eventually([&] { return delivered == round; })) continue;
                ADD_FAILURE() << "no worker received message " << round;
                busy = rounds;
                break;
            }
            over = true;
            worker.backend->unpark(worker, 1);
        } else {
            while (!over) park(worker, never);
        }
    };
    script.deliver = [&](Node&, NodeId, std::span<const std::byte> message) {
        delivered = unpack<int>(message);
    };
    run_natively(2, 2, script);
    EXPECT_EQ(delivered, rounds);
}

TEST(NativePolled, NoWakeUpIsLostWhileMessagesCome) {
    constexpr int rounds = 2000;
    std::atomic<int> signals{0}, got{0};
    Script script;
    script.work = [&](Node& node, Context& worker) {
        if (node.id == 1) {
            for (int i = 0; i < rounds; ++i) worker.backend->send(worker, 0, pattern(100, 1));
        } else if (worker.id.core == 0) {
            while (signals.load(std::memory_order_relaxed) < 3 * rounds) park(worker, never);
        } else {
            for (int i = 0; i < rounds; ++i) {
                signals.fetch_add(1, std::memory_order_relaxed);
                worker.backend->unpark(worker, 0);
                if (i % 64 == 0) park(worker, worker.backend->now(worker) + 1us);
            }
        }
    };
    script.deliver = [&](Node&, NodeId, auto) { ++got; };
    run_natively(2, 4, script);
    EXPECT_EQ(signals, 3 * rounds);
    EXPECT_EQ(got, 4 * rounds);
}

// Every worker is held back nearly always, and every third message is answered by its handler.
TEST(NativePolled, BothSidesAtFullSpeedWithASmallWindow) {
    constexpr int count = 400;
    const std::array<std::size_t, 8> sizes{8, 100, 1000, 4096, 9000, 40'000, 70'000, 1'000'000};
    std::map<std::size_t, runtime::Bytes> patterns;
    for (const std::size_t size : sizes) patterns[size] = pattern(size, size);
    std::array<std::atomic<int>, 2> sent{}, got{}, wrong{};
    Script script;
    const auto send = [&](Node& node, Context& sender, std::size_t size) {
        ++sent[node.id];
        if (size % 3 == 1) {
            sender.backend->send(sender, 1 - node.id, patterns[8],
                                 {std::make_shared<runtime::Bytes>(patterns[size])});
        } else {
            sender.backend->send(sender, 1 - node.id, patterns[size]);
        }
    };
    const auto check = [&](Node& node, std::span<const std::byte> bytes) {
        const auto right = patterns.find(bytes.size());
        if (right == patterns.end() || !std::ranges::equal(bytes, right->second)) ++wrong[node.id];
    };
    script.work = [&](Node& node, Context& worker) {
        Random random = Random(3).split(node.id).split(worker.id.core);
        for (int i = 0; i < count; ++i) send(node, worker, sizes[random() % (i % 20 == 0 ? 8 : 7)]);
    };
    script.receive_body = [&](Node& node, const runtime::Body& body) { check(node, *body); };
    script.deliver = [&](Node& node, NodeId, std::span<const std::byte> message) {
        check(node, message);
        if (++got[node.id] % 3 == 0) send(node, node.receiver(), 1000);
    };
    run_natively(2, 2, script, {.window = 4096, .single_module = true});
    for (NodeId node = 0; node < 2; ++node) {
        EXPECT_EQ(wrong[node], 0);
        EXPECT_EQ(got[node], sent[1 - node]);
        EXPECT_GE(sent[node], 2 * count);
    }
}

// --- which worker receives
// -------------------------------------------------------------------------------------------------

TEST(NativeLookout, OneLooksAtATimeAndOneOfThoseWhoWaitAlwaysDoes) {
    std::atomic<int> inside{0}, looks{0};
    std::atomic<bool> over{false};
    Lookout lookout(
        [&](Deadline) {
            EXPECT_EQ(inside.fetch_add(1), 0);
            ++looks;
            std::this_thread::yield();
            inside.fetch_sub(1);
            return true;
        },
        [] {});
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            while (!over) {
                lookout.poll();
                const int before = looks;
                lookout.wait(soon(), i, [&] { return looks >= before + 20 || over; });
            }
        });
    }
    EXPECT_TRUE(eventually([&] { return looks > static_cast<int>(testing_seeds::seeds(20'000)); }));
    over = true;
    for (std::uint32_t i = 0; i < 4; ++i) lookout.wake(i);
    for (std::thread& thread : threads) thread.join();
}

namespace {

/// One thread does `first`, which receives, and is held there until another thread waits. Returns how often
/// messages were looked for until that other thread returns.
int looks_of_two(const std::function<void(Lookout& lookout, const std::atomic<bool>& other_waits)>& first) {
    std::atomic<int> looks{0};
    std::atomic<bool> other_waits{false};
    Lookout lookout(
        [&](Deadline) {
            if (++looks == 1) {
                EXPECT_TRUE(eventually([&] { return other_waits.load(); }));
            }
            return true;
        },
        [] {});
    std::thread thread([&] { first(lookout, other_waits); });
    EXPECT_TRUE(eventually([&] { return looks == 1; }));
    lookout.wait(soon(), 2, [&] {
        other_waits = true;
        return looks == 2;
    });
    thread.join();
    return looks;
}

}  // namespace

TEST(NativeLookout, WhoHasLookedByTheWayCallsAnother) {
    EXPECT_EQ(looks_of_two([](Lookout& lookout, const auto&) { lookout.poll(); }), 2);
}

TEST(NativeLookout, WhoHasWaitedCallsAnother) {
    EXPECT_EQ(looks_of_two([](Lookout& lookout, const std::atomic<bool>& other_waits) {
                  lookout.wait(soon(), 1, [&] { return other_waits.load(); });
              }),
              2);
}

}  // namespace heddle::native
