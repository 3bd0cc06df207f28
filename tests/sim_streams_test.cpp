// Tests a memory whose bandwidth depends on how many cores stream from it: by workers, and by strands that
// declare units of work. Each test states its formula.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/strands/strands.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

// B(1) to B(4), and B(k) = B(4) for more: two cores get more than one, and four less than two.
const std::vector<double> falling = {1e9, 1.6e9, 1.5e9, 1.2e9};

constexpr double few_picoseconds = 4e-12;

double of(std::size_t streams, const std::vector<double>& list = falling) {
    return list[std::min(streams, list.size()) - 1];
}

Platform machine(CoreId cores, const std::vector<double>& bandwidths = falling) {
    Platform platform = ideal(1, cores);
    platform.memory_bandwidth = MemoryBandwidth(bandwidths);
    return platform;
}

struct Stream {
    Time begin{};
    double bytes = 0;
};

/// When each of the streams has been served, a core each.
std::vector<double> ends_of(const Platform& platform, const std::vector<Stream>& streams) {
    std::vector<double> ends(streams.size());
    run(platform, [&](Script&, Context& context) {
        const std::size_t number = context.id.node * platform.cores + context.id.core;
        sleep_until(context, streams[number].begin);
        compute(context, {0, streams[number].bytes});
        ends[number] = to_seconds(now(context));
    });
    return ends;
}

// k cores copy b bytes each: b / (B(k) / k).
TEST(SimStreams, EachOfKStreamsGetsAKthOfTheirBandwidth) {
    constexpr double bytes = 1e6;
    for (const CoreId cores : {1U, 2U, 3U, 4U, 7U}) {
        for (const double end : ends_of(machine(cores), std::vector<Stream>(cores, {{}, bytes})))
            EXPECT_NEAR(end, bytes * cores / of(cores), few_picoseconds) << cores << " cores";
    }
}

// No core gets more than c: b / min(c, B(k) / k), which is c for one and two.
TEST(SimStreams, TheLimitOfACoreHoldsBesideTheList) {
    constexpr double bytes = 1e6;
    constexpr double limit = 0.7e9;
    for (const CoreId cores : {1U, 2U, 3U, 4U}) {
        Platform platform = machine(cores);
        platform.core_memory_bandwidth = limit;
        for (const double end : ends_of(platform, std::vector<Stream>(cores, {{}, bytes})))
            EXPECT_NEAR(end, bytes / std::min(limit, of(cores) / cores), few_picoseconds) << cores;
    }
}

// Streams of b, 2 b, 3 b and 4 b bytes begin together. While k are left, the next b bytes of each take
// k b / B(k).
TEST(SimStreams, EndsChangeTheBandwidthOfTheRest) {
    constexpr double bytes = 3e5;
    const auto ends = ends_of(machine(4), {{{}, bytes}, {{}, 2 * bytes}, {{}, 3 * bytes}, {{}, 4 * bytes}});
    double expected = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t left = 4 - i;
        expected += static_cast<double>(left) * bytes / of(left);
        EXPECT_NEAR(ends[i], expected, few_picoseconds) << i;
    }
}

// One stream of 3 MB; a second of 1 MB comes at 1 ms, and a third of 1 MB at 1.5 ms. By hand:
// until 1 ms the first gets 1 MB; until 1.5 ms both get 0.4 MB; then three get 0.5 MB a ms each, so the
// second ends 1.2 ms later, at 2.7 ms. The third has 0.4 MB left and two get 0.8 MB a ms each: 3.2 ms. The
// first has got 2.4 MB and streams the last 0.6 MB alone: 3.8 ms.
TEST(SimStreams, StreamsThatComeInTheMiddleChangeItToo) {
    const auto ends = ends_of(machine(3), {{{}, 3e6}, {us(1000), 1e6}, {us(1500), 1e6}});
    EXPECT_NEAR(ends[1], 2.7e-3, few_picoseconds);
    EXPECT_NEAR(ends[2], 3.2e-3, few_picoseconds);
    EXPECT_NEAR(ends[0], 3.8e-3, few_picoseconds);
}

// The cores of all nodes of a machine count, and none of another machine.
TEST(SimStreams, TheStreamsOfAMachineCount) {
    Platform platform = machine(1);
    platform.nodes = 4;
    platform.processes = 2;
    const auto ends = ends_of(platform, {{{}, 1e6}, {{}, 1e6}, {{}, 1e6}, {{}, 0}});
    for (const std::size_t number : {0U, 1U}) EXPECT_NEAR(ends[number], 2e6 / of(2), few_picoseconds);
    EXPECT_NEAR(ends[2], 1e6 / of(1), few_picoseconds);
}

std::vector<Stream> random_streams(std::uint64_t seed, std::size_t count) {
    Random dice(seed);
    std::vector<Stream> streams;
    for (std::size_t i = 0; i < count; ++i)
        streams.push_back({ns(static_cast<std::int64_t>(dice.below(20'000))), 10'000 * dice.uniform()});
    return streams;
}

// A list that always says the same is the number that it says, to the last bit of every time.
TEST(SimStreams, AListOfEqualValuesIsOneNumber) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const auto streams = random_streams(seed, 8);
        Platform platform = ideal(1, 8);
        platform.memory_bandwidth = 1.3e9;
        const auto expected = ends_of(platform, streams);
        for (const std::size_t length : {1U, 2U, 5U, 9U})
            EXPECT_EQ(ends_of(machine(8, std::vector(length, 1.3e9)), streams), expected) << length;
        EXPECT_NE(ends_of(machine(8), streams), expected);
        EXPECT_EQ(ends_of(machine(8), streams), ends_of(machine(8), streams));
    }
}

// The sum of what flows while k streams are present is B(k) times that time, for random streams: the bytes
// that have been served are those that came.
TEST(SimStreams, NoByteIsLost) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto streams = random_streams(seed, 6);
        const auto ends = ends_of(machine(6), streams);
        std::vector<double> times;
        for (std::size_t i = 0; i < streams.size(); ++i) {
            times.push_back(to_seconds(streams[i].begin));
            times.push_back(ends[i]);
        }
        std::sort(times.begin(), times.end());
        double served = 0;
        double asked = 0;
        for (const Stream& stream : streams) asked += stream.bytes;
        for (std::size_t t = 1; t < times.size(); ++t) {
            const double middle = (times[t - 1] + times[t]) / 2;
            std::size_t present = 0;
            for (std::size_t i = 0; i < streams.size(); ++i)
                present += to_seconds(streams[i].begin) < middle && middle < ends[i] ? 1 : 0;
            if (present > 0) served += of(present) * (times[t] - times[t - 1]);
        }
        EXPECT_NEAR(served, asked, 0.05) << seed;
    }
}

// --- strands

/// Runs `body` in a strand that is pinned to each of the first `count` workers.
class PinnedStrands final : public runtime::Program {
public:
    using Body = std::function<void(runtime::Strand& self, CoreId number)>;

    PinnedStrands(CoreId count, runtime::Work unit, Body body)
        : count_(count), unit_(unit), body_(std::move(body)) {}

    runtime::Work unit() const override { return unit_; }
    void begin(runtime::Worker& worker) override {
        if (worker.id.core != 0) return;
        for (CoreId core = 0; core < count_; ++core) {
            const auto body = [this, core](runtime::Strand& self) { body_(self, core); };
            runtime::Strand::start(worker, body, {"a stream", core});
        }
    }
    runtime::Answer answer() const override { return {}; }

private:
    CoreId count_;
    runtime::Work unit_;
    Body body_;
};

void run_strands(const Platform& platform, CoreId count, runtime::Work unit,
                 const PinnedStrands::Body& body) {
    SimBackend backend(platform);
    runtime::Schedule schedule;
    runtime::Execution execution(backend, schedule,
                                 [&](NodeId) { return std::make_unique<PinnedStrands>(count, unit, body); });
    execution.run();
}

// Strands on k of four workers each do p pieces of n units, f flops and b bytes a unit, at 1 Gf a core:
// p n max(f / 1e9, b k / B(k)). A declaration switches no strand: each is on its worker all the time.
TEST(SimStreams, StrandsThatDeclareUnitsShareTheMemory) {
    constexpr std::uint64_t units = 1000;
    constexpr int pieces = 5;
    for (const runtime::Work unit : {runtime::Work{4, 16}, runtime::Work{40, 16}}) {
        for (const CoreId count : {1U, 2U, 3U, 4U}) {
            std::vector<double> took(count);
            std::vector<CoreId> ran_on(count);
            run_strands(machine(4), count, unit, [&](runtime::Strand& self, CoreId number) {
                const Time begin = now(self.worker());
                for (int piece = 0; piece < pieces; ++piece) self.worker().work(units);
                took[number] = to_seconds(now(self.worker()) - begin);
                ran_on[number] = self.worker().id.core;
            });
            const double expected =
                pieces * units * std::max(unit.flops / 1e9, unit.bytes * count / of(count));
            for (CoreId number = 0; number < count; ++number) {
                EXPECT_NEAR(took[number], expected, pieces * few_picoseconds) << count << " strands";
                EXPECT_EQ(ran_on[number], number);
            }
        }
    }
}

// Two strands of one worker that yield between their pieces never stream at the same time: with those of
// another worker they are two streams, 2 b / B(2) a piece. `compute` runs its code once, on the strand's
// stack.
TEST(SimStreams, StrandsOfOneWorkerAreOneStream) {
    constexpr double bytes = 1e5;
    constexpr int pieces = 4;
    int ran = 0;
    double end = 0;
    SimBackend backend(machine(2));
    runtime::Schedule schedule;
    class Four final : public runtime::Program {
    public:
        explicit Four(std::function<void(runtime::Strand&)> body) : body_(std::move(body)) {}
        void begin(runtime::Worker& worker) override {
            if (worker.id.core != 0) return;
            for (CoreId number = 0; number < 4; ++number)
                runtime::Strand::start(worker, body_, {"a stream", number % 2});
        }
        runtime::Answer answer() const override { return {}; }

    private:
        std::function<void(runtime::Strand&)> body_;
    };
    const auto body = [&](runtime::Strand& self) {
        for (int piece = 0; piece < pieces; ++piece) {
            const char* const on_stack = reinterpret_cast<const char*>(&piece);
            self.worker().compute({0, bytes}, [&] {
                const char here = 0;
                ran += std::abs(&here - on_stack) < 16'384 ? 1 : 0;
            });
            end = std::max(end, to_seconds(now(self.worker())));
            self.yield();
        }
    };
    runtime::Execution execution(backend, schedule, [&](NodeId) { return std::make_unique<Four>(body); });
    execution.run();
    EXPECT_EQ(ran, 4 * pieces);
    EXPECT_NEAR(end, 2 * pieces * 2 * bytes / of(2), 2 * pieces * few_picoseconds);
}

}  // namespace
}  // namespace heddle::sim::testing
