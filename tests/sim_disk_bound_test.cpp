// Tests the lower bound on a makespan that disks give: no simulated run is shorter, however its tasks and
// strands read and whenever it ends, and a run that only reads meets it.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/random.hpp"
#include "model/fork_join.hpp"
#include "results/lower_bound.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/sources/io.hpp"
#include "sim/sim_backend.hpp"
#include "tests/seeds.hpp"
#include "tests/strand_testing.hpp"

namespace heddle {
namespace {

using runtime::Worker;
using testing_strands::OnEachNode;

/// A run of `make`'s programs, as its record has it.
results::Record record_of(const Platform& platform, const runtime::Schedule& schedule,
                          const runtime::ProgramFactory& make) {
    sim::SimBackend backend(platform);
    results::Record record;
    record.experiment.backend = configs::Backend::sim;
    record.experiment.platform = platform;
    record.topology = backend.topology();
    record.result = runtime::Execution(backend, schedule, make).run();
    return record;
}

/// 0 of a run that takes no time: its bound is none.
double ratio(const results::Record& record) {
    if (record.result.makespan == Time::zero()) return results::lower_bound_seconds(record).value_or(0);
    return results::lower_bound_seconds(record).value_or(0) / to_seconds(record.result.makespan);
}

// Each disk serves so many calls of l + b / B = 1.1 ms one after the other, and little else is done.
TEST(SimDiskBound, RunsThatOnlyReadMeetIt) {
    constexpr int strands = 8, calls = 10;
    for (const NodeId processes : {1U, 2U}) {
        Platform platform;
        platform.nodes = 4;
        platform.cores = 2;
        platform.processes = processes;
        platform.disk = {1e9, std::chrono::microseconds(100)};
        const auto record = record_of(platform, {}, [&](NodeId) {
            return std::make_unique<OnEachNode>([](Worker& worker) {
                for (int i = 0; i < strands; ++i) {
                    runtime::Strand::start(worker, [](runtime::Strand& self) {
                        for (int call = 0; call < calls; ++call) runtime::io(self, 1e6, [] {});
                    });
                }
            });
        });
        EXPECT_NEAR(*results::lower_bound_seconds(record), strands * calls * processes * 1.1e-3, 1e-12);
        EXPECT_GT(ratio(record), 0.99);
        EXPECT_LE(ratio(record), 1);
    }
}

/// A tree of tasks that work and start strands that read, of which one may end the run.
struct Reader {
    static std::uint64_t run(model::Strand strand, std::uint64_t seed, std::uint32_t depth) {
        Random random(seed);
        Worker& worker = strand.worker();
        if (random.below(100) == 0) worker.node().end_run(worker, worker.outbox());
        const std::uint32_t children = depth == 0 ? 0 : static_cast<std::uint32_t>(random.below(4));
        for (std::uint32_t i = 0; i < children; ++i) strand.fork<Reader>(seed * 31 + i, depth - 1);
        if (const auto calls = random.below(3); calls != 0) {
            const auto bytes = static_cast<double>(random.below(100'000));
            runtime::Strand::start(worker, [calls, bytes](runtime::Strand& self) {
                for (std::uint64_t i = 0; i < calls; ++i) runtime::io(self, bytes, [] {});
            });
        }
        strand.work(random.below(20'000));
        std::uint64_t tasks = 1;
        for (std::uint32_t i = 0; i < children; ++i) tasks += strand.join<Reader>();
        return tasks;
    }
};

class ReaderProgram final : public model::ForkJoinProgram {
public:
    explicit ReaderProgram(std::uint64_t seed) : seed_(seed) {}
    runtime::Work unit() const override { return {1, 0}; }
    void root(model::Strand strand) override {
        for (std::uint64_t tree = 0; tree < 4; ++tree) strand.fork<Reader>(seed_ * 4 + tree, 5U);
        for (int tree = 0; tree < 4; ++tree) strand.join<Reader>();
    }
    runtime::Answer answer() const override { return {}; }

private:
    std::uint64_t seed_;
};

Platform drawn_platform(Random& random) {
    Platform platform;
    platform.processes = static_cast<NodeId>(1 + random.below(3));
    platform.nodes = platform.processes * static_cast<NodeId>(1 + random.below(3));
    platform.cores = static_cast<CoreId>(1 + random.below(3));
    platform.disk.bandwidth = 1e8 * static_cast<double>(1 + random.below(20));
    platform.disk.latency = std::chrono::microseconds(random.below(50));
    if (random.below(2) == 0) platform.overheads = Overheads{};
    if (random.below(4) == 0) {
        platform.events = {{std::chrono::microseconds(20), 0, {}, true, {}, {}},
                           {std::chrono::microseconds(90), 0, {}, false, {}, {}}};
    }
    return platform;
}

TEST(SimDiskBound, NoRunIsShorter) {
    double closest = 0;
    int by_disk = 0;
    const auto runs = testing_seeds::seeds(1000);
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
        Random random(seed);
        const Platform platform = drawn_platform(random);
        runtime::Schedule schedule;
        schedule.seed = seed;
        schedule.stealing.victim = seed % 2 == 0 ? "local_first" : "hierarchical";
        const auto record =
            record_of(platform, schedule, [&](NodeId) { return std::make_unique<ReaderProgram>(seed); });
        auto without = record;
        without.result.total.disk_calls = 0;
        without.result.total.disk_bytes = 0;
        ASSERT_LE(ratio(record), 1) << "seed " << seed;
        by_disk += ratio(record) > ratio(without) ? 1 : 0;
        closest = std::max(closest, ratio(record));
    }
    EXPECT_GT(by_disk, static_cast<int>(runs) / 4);
    EXPECT_GT(closest, 0.9);
}

}  // namespace
}  // namespace heddle
