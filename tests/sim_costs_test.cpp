// Tests costs that a simulated worker pays beside its arithmetic. Copies go through the memory bus, the
// worker sends messages itself, and a polling receiver keeps a core. Each test states its formula.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "runtime/core/worker.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/run/program.hpp"
#include "tests/sim_nodes.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

/// Runs `body` as the first task of every worker, and returns when each of them has done it.
template <class Body>
std::vector<Time> ends_of_workers(const Platform& platform, const Body& body) {
    class Once final : public runtime::Program {
    public:
        Once(const Body& body, std::vector<Time>& ends) : body_(body), ends_(ends) {}
        void begin(runtime::Worker& worker) override {
            body_(worker);
            ends_.push_back(now(worker));
        }
        runtime::Answer answer() const override { return {}; }

    private:
        const Body& body_;
        std::vector<Time>& ends_;
    };
    std::vector<Time> ends;
    SimBackend backend(platform);
    runtime::Schedule schedule;
    runtime::Execution execution(backend, schedule,
                                 [&](NodeId) { return std::make_unique<Once>(body, ends); });
    execution.run();
    std::sort(ends.begin(), ends.end());
    return ends;
}

// --- copies

// k workers copy b bytes each, which moves 2 b: 2 b / min(c, B / k), with c = 15 GB/s of a core and B = 40
// GB/s of the memory. Two are twice as fast as one, four are not four times as fast.
TEST(SimCosts, CopiesShareTheMemoryUnderTheLimitOfACore) {
    for (const CoreId workers : {1U, 2U, 4U}) {
        Platform platform = ideal(1, workers);
        platform.memory_bandwidth = 40e9;
        platform.core_memory_bandwidth = 15e9;
        const double expected = 2 * 6.4e6 / std::min(15e9, 40e9 / workers);
        const auto ends = ends_of_workers(
            platform, [](runtime::Worker& worker) { worker.copy(runtime::Copy::contiguous(6'400'000)); });
        ASSERT_EQ(ends.size(), workers);
        for (const Time end : ends) EXPECT_NEAR(to_seconds(end), expected, 1e-11) << workers;
    }
}

// A strided copy of n numbers of 8 bytes, 256 apart, reads n lines of L bytes and writes 8 n: (L + 8) n / B.
TEST(SimCosts, AStridedCopyPaysForItsLines) {
    for (const std::uint64_t line : {64U, 128U}) {
        Platform platform = ideal(1);
        platform.cache.line = line;
        const auto strided = ends_of_workers(
            platform, [](runtime::Worker& worker) { worker.copy(runtime::Copy::strided(1600, 8, 8, 256)); });
        EXPECT_EQ(strided.front(), ns(static_cast<std::int64_t>(1600 * (line + 8))));
        const auto contiguous = ends_of_workers(platform, [](runtime::Worker& worker) {
            worker.copy(runtime::Copy::contiguous(std::uint64_t{1600} * 8));
        });
        EXPECT_EQ(contiguous.front(), ns(1600 * 16));
    }
}

// A copy that is done takes as long as one that is declared.
TEST(SimCosts, ACopyThatIsDoneMovesItsBytes) {
    std::vector<char> from(6400, 'x'), to(6400, ' ');
    const auto ends = ends_of_workers(ideal(1), [&](runtime::Worker& worker) {
        worker.copy(runtime::Copy::contiguous(6400), to.data(), from.data());
    });
    EXPECT_EQ(ends.front(), ns(12800));
    EXPECT_EQ(to, from);
}

// --- workers that send for themselves

/// When k workers of node 0, which send a message of `bytes` each to node 1 at time zero, have gone on, and
/// when the messages arrive.
struct Sent {
    std::vector<Time> went_on, arrived;
};
Sent sent_by(CoreId workers, std::uint64_t bytes, const Platform& platform, bool themselves) {
    Sent sent;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node != 0 || context.id.core >= workers) return;
            send(context, 1, bytes);
            sent.went_on.push_back(now(context));
        },
        [&](Script&, Context& context, NodeId, auto) { sent.arrived.push_back(now(context)); },
        {.messages_compete_for_cores = false, .workers_send = themselves});
    return sent;
}

// Sending costs o + b s of the processor, s a byte. k workers that send for themselves pay at the same time:
// all have sent at o + b s. A sender module sends one message after the other: the i-th at i (o + b s).
TEST(SimCosts, SendersPayForTheirOwnMessagesAtTheSameTime) {
    constexpr CoreId workers = 4;
    Platform platform = ideal(2, workers);
    platform.network.bandwidth = 1e12;
    platform.network.contention = Network::Contention::none;
    platform.overheads.message_send = ns(400);
    platform.overheads.message_send_kib = ns(100);
    const Time cost = ns(400 + 8 * 100), way = us(2) + Time(8192);
    const Sent own = sent_by(workers, 8192, platform, true);
    EXPECT_EQ(own.went_on, std::vector<Time>(workers, cost));
    EXPECT_EQ(own.arrived, std::vector<Time>(workers, cost + way));
    const Sent module = sent_by(workers, 8192, platform, false);
    EXPECT_EQ(module.went_on, std::vector<Time>(workers, Time::zero()));
    EXPECT_EQ(module.arrived, (std::vector{cost + way, 2 * cost + way, 3 * cost + way, 4 * cost + way}));
}

// A card takes messages in the order of departure, though the large one is sent first.
TEST(SimCosts, ASmallMessageOfAnotherWorkerDepartsFirst) {
    Platform platform = ideal(2, 2);
    platform.network.gap = us(10);
    platform.overheads.message_send = ns(100);
    platform.overheads.message_send_kib = ns(1000);
    std::map<std::size_t, Time> arrived;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0 && context.id.core == 0) send(context, 1, 2048);
            if (context.id.node == 0 && context.id.core == 1) {
                compute(context, busy(ns(50)));
                send(context, 1, 0);
            }
        },
        [&](Script&, Context& context, NodeId, auto message) { arrived[message.size()] = now(context); },
        {.workers_send = true});
    EXPECT_EQ(arrived[0], ns(150) + us(2));
    EXPECT_EQ(arrived[2048], ns(10150) + us(2) + ns(2048));
}

TEST(SimCosts, ProgramsOfWorkersThatSendAreTheSameInAllOrders) {
    for (const NodeId processes : {1U, 4U}) {
        Platform platform;
        platform.nodes = 16;
        platform.cores = 2;
        platform.processes = processes;
        platform.overheads.message_send_kib = ns(200);
        for (const StatedWorkload& program :
             {StatedWorkload{"uts", {{"depth", "6"}}},
              StatedWorkload{"cholesky", {{"tiles", "6"}, {"tile_size", "32"}}, "etf"}}) {
            const auto once = [&](SimOptions options) {
                options.workers_send = true;
                return all_of(simulate(program, platform, {}, options));
            };
            const auto first = once({});
            EXPECT_EQ(first, once({})) << program.name;
            EXPECT_EQ(first, once({.reverse_nodes = true})) << program.name;
            EXPECT_EQ(first, once({.plain_windows = true})) << program.name;
        }
    }
}

// --- a receiver that polls

/// When `busy_cores` of a node's cores have done 12 us of work each.
std::vector<Time> polled(CoreId cores, CoreId busy_cores, bool polls,
                         const runtime::Work& work = busy(us(12))) {
    std::vector<Time> ends;
    run(ideal(1, cores),
        [&](Script&, Context& context) {
            if (context.id.core >= busy_cores) return;
            compute(context, work);
            ends.push_back(now(context));
        },
        {}, {.receiver_polls = polls});
    return ends;
}

// k workers on c cores of which one is the receiver's: k t / (c - 1), t at least. It halves a node of two
// cores.
TEST(SimCosts, APollingReceiverOccupiesACore) {
    EXPECT_EQ(polled(2, 2, false), (std::vector{us(12), us(12)}));
    EXPECT_EQ(polled(2, 2, true), (std::vector{us(24), us(24)}));
    EXPECT_EQ(polled(2, 1, true), (std::vector{us(12)}));
    EXPECT_EQ(polled(4, 4, true), (std::vector(4, us(16))));
    EXPECT_EQ(polled(4, 3, true), (std::vector(3, us(12))));
    EXPECT_EQ(polled(1, 1, true), (std::vector{us(24)}));  // it shares the only core
}

// A worker that ends leaves its part to the other worker: of work 6 and 12 us on one core, 12 us for both
// first parts and 6 us for the rest.
TEST(SimCosts, WorkersThatAreDoneLeaveTheirPartToTheOthers) {
    std::map<CoreId, Time> ends;
    run(ideal(1, 2),
        [&](Script&, Context& context) {
            compute(context, busy(us(context.id.core == 0 ? 6 : 12)));
            ends[context.id.core] = now(context);
        },
        {}, {.receiver_polls = true});
    EXPECT_EQ(ends[0], us(12));
    EXPECT_EQ(ends[1], us(18));
}

// Flops and bytes end at the later of both: 12 us of flops on half a core, 20 us or 30 us of bytes for each
// of two.
TEST(SimCosts, FlopsOnSharedCoresAndBytesOverlap) {
    EXPECT_EQ(polled(2, 2, true, {12000, 10000}), (std::vector{us(24), us(24)}));
    EXPECT_EQ(polled(2, 2, true, {12000, 15000}), (std::vector{us(30), us(30)}));
}

// Messages need no worker's core: the receiver has one.
TEST(SimCosts, APollingReceiverTakesNoMoreThanItsCore) {
    Platform platform = ideal(2, 2);
    platform.overheads.message_receive = us(1);
    std::vector<Time> ends;
    run(platform,
        [&](Script&, Context& context) {
            if (context.id.node == 1) {
                if (context.id.core == 0)
                    for (int i = 0; i < 5; ++i) send(context, 0, 0);
                return;
            }
            compute(context, busy(us(10)));
            ends.push_back(now(context));
        },
        {}, {.receiver_polls = true});
    EXPECT_EQ(ends, (std::vector{us(20), us(20)}));
}

TEST(SimCosts, ProgramsOnNodesThatPollAreTheSameInAllOrders) {
    expect_same_in_all_orders({"uts", {{"depth", "6"}, {"unit_cost", "10kf"}}}, changing_machines(), {},
                              {.receiver_polls = true});
}

}  // namespace
}  // namespace heddle::sim::testing
