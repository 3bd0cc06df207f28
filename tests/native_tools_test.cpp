// Tests small parts of the native backend: parking, the ticker, the clock, the machine, a dead
// host, the probe of a pair of hosts.
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "host/cpu_quota.hpp"
#include "host/machine.hpp"
#include "host/ticker.hpp"
#include "host/wall_clock.hpp"
#include "runtime/native/interfaces.hpp"
#include "runtime/native/pair_probe.hpp"
#include "runtime/native/parker.hpp"
#include "tests/conformance.hpp"
#include "tests/native_testing.hpp"

namespace heddle::native {

using namespace std::chrono_literals;
using conformance::Node;
using conformance::Script;
using conformance::ScriptedNode;
using runtime::Context;
using testing::HasSubstr;

namespace {

std::string run_alone(const NativeOptions& options, const Script& script) {
    ScriptedNode node(0, options.cores, script);
    return error_of(
        [&] { NativeBackend(options).run([&](NodeId) -> runtime::NodeProgram& { return node; }); });
}

}  // namespace

TEST(NativeParker, NoWakeUpIsLostWhetherTheOwnerSpinsOrSleeps) {
    for (const std::chrono::nanoseconds spin : {0ns, 1000ns, 100000ns}) {
        Parker here;
        Parker there;
        std::thread other([&] {
            for (int i = 0; i < 5000; ++i) {
                there.park(Deadline::max(), spin);
                here.unpark();
            }
        });
        for (int i = 0; i < 5000; ++i) {
            there.unpark();
            here.park(Deadline::max(), spin);
        }
        other.join();
    }
}

TEST(NativeParker, WakesAtTheDeadlineAndNotBefore) {
    Parker parker;
    for (const std::chrono::nanoseconds spin : {0ns, 100000ns}) {
        const Deadline deadline = Clock::now() + 2ms;
        parker.park(deadline, spin);
        EXPECT_GE(Clock::now(), deadline);
    }
}

TEST(NativeTicker, TicksUntilDestroyed) {
    std::atomic<int> ticks{0};
    {
        const host::Ticker ticker(1ms, 1ms, [&] { ++ticks; });
        EXPECT_TRUE(eventually([&] { return ticks >= 3; }));
    }
    const int at_the_end = ticks;
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(ticks, at_the_end);
}

TEST(NativeTicker, StopsWithoutWaitingForItsTime) {
    const double before = host::wall_seconds();
    {
        const host::Ticker ticker(std::chrono::hours(1), std::chrono::hours(1),
                                  [] { FAIL() << "too early"; });
    }
    EXPECT_LT(host::wall_seconds() - before, 60);
}

TEST(NativeClock, GoesForward) {
    const double before = host::wall_seconds();
    std::this_thread::sleep_for(2ms);
    EXPECT_GE(host::wall_seconds() - before, 0.002);
}

TEST(NativeMemory, ThePeakCountsWhatWasTouched) {
    {
        std::vector<char> block(128 << 20);
        std::memset(block.data(), 1, block.size());
        EXPECT_EQ(block[block.size() / 2], 1);
    }
    EXPECT_GE(host::peak_memory_bytes(), 128U << 20);  // given back, but it was held
}

TEST(NativeMachine, HasCoresAndAName) {
    EXPECT_GE(host::machine_cores(), 1u);
    EXPECT_LE(host::machine_cores(), std::thread::hardware_concurrency());
    EXPECT_FALSE(host::host_name().empty());
}

// As with `srun --cpus-per-task`, or with a rank bound to each core.
TEST(NativeMachine, ProcessesShareTheCoresThatTheyMayUse) {
    const auto set = [](std::initializer_list<unsigned> processors) {
        host::ProcessorSet made;
        for (const unsigned processor : processors) made.set(processor);
        return made;
    };
    const auto share = [](const std::vector<host::ProcessorSet>& sets, std::size_t process) {
        const auto found = host::core_share(sets, process);
        return found ? std::pair(found->rank, found->count) : std::pair(99U, 99U);
    };
    EXPECT_EQ(share({set({0, 1}), set({2, 3})}, 1), std::pair(0U, 1U)) << "cores of its own";
    EXPECT_EQ(share({set({0, 1}), set({0, 1})}, 1), std::pair(1U, 2U)) << "the same cores";
    EXPECT_EQ(share({set({0}), set({1}), set({0}), set({1})}, 3), std::pair(1U, 2U));
    EXPECT_EQ(share({set({0, 1}), set({1, 2})}, 1), std::pair(99U, 99U)) << "some of the same";
    EXPECT_EQ(share({set({}), set({1, 2})}, 1), std::pair(99U, 99U)) << "unknown";
    EXPECT_EQ(host::usable_processor_set().count(), host::usable_processors().size());
}

// As `heddle doctor --hosts '[::1],localhost'`.
TEST(NativePairProbe, ReachesAHostByIpv4AndByIpv6) {
    const std::string token(ProbeServer::token_bytes, 'x');
    const ProbeServer server(token);
    std::vector<std::string> hosts{"127.0.0.1"};
    const auto is_ipv6 = [](const Interface& entry) { return entry.address == "::1"; };
    if (std::ranges::any_of(interfaces(), is_ipv6)) hosts.emplace_back("[::1]");
    for (const std::string& host : hosts) {
        PairFacts facts;
        EXPECT_EQ(error_of([&] { facts = probe_pair(host + ":" + server.port(), token, soon()); }), "");
        EXPECT_GT(facts.bandwidth, 0) << host;
        EXPECT_GT(facts.mtu, 0) << host;
    }
}

/// Files as the kernel shows control groups.
class ControlGroups : public testing::Test {
protected:
    ControlGroups() { std::filesystem::create_directories(mounted_); }
    ~ControlGroups() override { std::filesystem::remove_all(mounted_); }
    void write(const std::string& file, const std::string& text) const {
        std::filesystem::create_directories((mounted_ / file).parent_path());
        std::ofstream(mounted_ / file) << text;
    }
    std::filesystem::path mounted_ =
        std::filesystem::temp_directory_path() / ("heddle_groups_" + std::to_string(getpid()));
};

TEST_F(ControlGroups, TheLeastQuotaOnTheWayUpCounts) {
    EXPECT_EQ(host::cpu_quota("0::/a/b\n", mounted_), std::nullopt);
    write("a/b/cpu.max", "max 100000\n");
    EXPECT_EQ(host::cpu_quota("0::/a/b\n", mounted_), std::nullopt);
    write("a/cpu.max", "150000 100000\n");
    EXPECT_EQ(host::cpu_quota("0::/a/b\n", mounted_), 1.5);
    write("a/b/cpu.max", "400000 100000\n");
    EXPECT_EQ(host::cpu_quota("0::/a/b\n", mounted_), 1.5);
    EXPECT_EQ(host::cpu_quota("0::/c\n", mounted_), std::nullopt);
}

TEST_F(ControlGroups, InAContainerTheQuotaIsAtTheTop) {
    write("cpu.max", "200000 100000\n");
    EXPECT_EQ(host::cpu_quota("0::/docker/outside\n", mounted_), 2);
    EXPECT_EQ(host::cpu_quota("0::/\n", mounted_), 2);
}

TEST_F(ControlGroups, TheOlderVersionHasTwoFiles) {
    const std::string membership = "5:devices:/\n4:cpu,cpuacct:/job\n3:cpuset:/x\n0::/\n";
    write("cpu/job/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(host::cpu_quota(membership, mounted_), std::nullopt);
    write("cpu/job/cpu.cfs_quota_us", "-1\n");
    EXPECT_EQ(host::cpu_quota(membership, mounted_), std::nullopt);
    write("cpu/job/cpu.cfs_quota_us", "300000\n");
    EXPECT_EQ(host::cpu_quota(membership, mounted_), 3);
}

TEST_F(ControlGroups, WhatMakesNoSenseIsNoLimit) {
    write("cpu.max", "0 0\n");
    for (const char* membership : {"", "nonsense\n", "0:\n", "0::\n", "1:cpu\n"})
        EXPECT_EQ(host::cpu_quota(membership, mounted_), std::nullopt) << membership;
}

TEST(NativeMachine, BindingConfinesTheThreadAndNoOther) {
    std::thread([] {
        ASSERT_TRUE(host::bind_to_core(0));
        cpu_set_t mine;
        ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
        EXPECT_EQ(CPU_COUNT(&mine), 1);
        EXPECT_FALSE(host::bind_to_core(1'000'000));
    }).join();
    cpu_set_t here;
    ASSERT_EQ(sched_getaffinity(0, sizeof here, &here), 0);
    EXPECT_GE(CPU_COUNT(&here), static_cast<int>(host::machine_cores()));
}

TEST(NativeBackendOptions, ANodeWithoutWorkersIsAnError) {
    EXPECT_THAT(error_of([] { NativeBackend({.cores = 0}); }), HasSubstr("at least one worker"));
}

TEST(NativeBackendOptions, StacksThatTheSystemRefusesAreAnError) {
    Script script;
    script.work = [](Node&, Context&) { ADD_FAILURE() << "worked"; };
    EXPECT_THAT(run_alone({.cores = 2, .stack_bytes = 1ULL << 60}, script), HasSubstr("stacks of"));
}

TEST(NativeBackendOptions, StacksAreAsDeepAsAsked) {
    int touched = 0;
    Script script;
    script.work = [&](Node&, Context&) {
        volatile char deep[24 << 20];  // more than the usual 8 MiB
        for (std::size_t i = 0; i < sizeof deep; i += 4096) deep[i] = 1;
        touched = deep[4096 * 100];
    };
    EXPECT_EQ(run_alone({.cores = 1, .stack_bytes = 32U << 20}, script), "");
    EXPECT_EQ(touched, 1);
}

TEST(NativeBackendOptions, TheErrorOfAnOnlyWorkerReachesTheCaller) {
    Script script;
    script.work = [](Node&, Context&) { throw Error("the bucket has a hole"); };
    EXPECT_THAT(run_alone({.cores = 1}, script), HasSubstr("the bucket has a hole"));
}

TEST(NativeBackendOptions, MoreWorkersThanCoresShareThem) {
    std::atomic<int> worked{0};
    Script script;
    script.work = [&](Node&, Context&) { ++worked; };
    const CoreId many = host::machine_cores() + 5;
    EXPECT_EQ(run_alone({.cores = many}, script), "");
    EXPECT_EQ(worked, static_cast<int>(many));
}

}  // namespace heddle::native
