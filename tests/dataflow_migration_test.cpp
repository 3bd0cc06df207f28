// Tests dataflow threads that can be serialized. They migrate between nodes with their state, and other nodes
// steal their work, natively, in simulation and in-process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "base/random.hpp"
#include "model/dataflow/serialization.hpp"
#include "runtime/comm/serialize.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::dataflow {
namespace {

using runtime::Reader;
using runtime::Worker;
using runtime::Writer;
using testing::StartsWith;
using testing_strands::error_of;
using testing_strands::worlds;

// --- a walk: a thread that goes from node to node, to the next one that its random numbers name

struct Walk {
    std::uint64_t steps = 0;
    std::uint64_t seed = 0;
    std::vector<std::uint64_t> visits;  ///< of each node
};

std::atomic<std::uint64_t> walks_ended{0};
std::atomic<std::uint64_t> walks_wrong{0};

NodeId next_node(std::uint64_t seed, std::uint64_t step, NodeId nodes) {
    return static_cast<NodeId>(Random(seed + step).below(nodes));
}

/// How often a walk of `steps` steps is where, without threads.
std::vector<std::uint64_t> visits_of(std::uint64_t seed, std::uint64_t steps, NodeId nodes) {
    std::vector<std::uint64_t> visits(nodes, 0);
    NodeId at = 0;
    for (std::uint64_t step = steps; step != 0; --step) {
        ++visits[at];
        at = next_node(seed, step, nodes);
    }
    return visits;
}

extern const Serialization walks;

void walk(Kaapi& self, void* argument) {
    std::unique_ptr<Walk> owned(static_cast<Walk*>(argument));
    const NodeId nodes = self.worker().node().topology().nodes;
    if (owned->steps == 0) {
        std::vector<std::uint64_t> expected = owned->visits;
        const std::uint64_t steps = std::accumulate(expected.begin(), expected.end(), std::uint64_t{0});
        expected = visits_of(owned->seed, steps, nodes);
        if (owned->visits != expected) ++walks_wrong;
        ++walks_ended;
        return;
    }
    ++owned->visits[self.worker().id.node];
    const NodeId to = next_node(owned->seed, owned->steps, nodes);
    --owned->steps;
    static_cast<void>(owned.release());  // saved
    self.migrate(to);
}

void save_walk(void* argument, Writer& to) {
    const std::unique_ptr<Walk> owned(static_cast<Walk*>(argument));
    to.put(owned->steps).put(owned->seed);
    runtime::Serialize<std::vector<std::uint64_t>>::write(to, owned->visits);
}

void* restore_walk(Reader& from, Attributes& /*attributes*/) {
    auto restored = std::make_unique<Walk>();
    restored->steps = from.get<std::uint64_t>();
    restored->seed = from.get<std::uint64_t>();
    restored->visits = runtime::Serialize<std::vector<std::uint64_t>>::read(from);
    return restored.release();
}

const Serialization walks("tests.walk", &walk, &save_walk, &restore_walk);

void start_walk(Worker& worker, std::uint64_t seed, std::uint64_t steps) {
    Attributes attributes;
    attributes.set_serialization(walks);
    KaapiId tid;
    create(worker, tid, attributes, &walk,
           new Walk{steps, seed, std::vector<std::uint64_t>(worker.node().topology().nodes, 0)});
}

class DataflowMigration : public testing_strands::Strands {
protected:
    void SetUp() override { walks_ended = walks_wrong = 0; }
};

INSTANTIATE_TEST_SUITE_P(Worlds, DataflowMigration, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(DataflowMigration, ThreadsKeepWhatTheyKnow) {
    constexpr std::uint64_t threads = 10, steps = 100;
    run(nodes(3), 2, [&](Worker& worker) {
        for (std::uint64_t i = 0; i < threads; ++i) start_walk(worker, i, steps);
    });
    EXPECT_EQ(walks_ended, threads);
    EXPECT_EQ(walks_wrong, 0U);
}

/// One thread, a thousand migrations over 64 nodes.
void walk_far(runtime::Backend& backend) {
    walks_ended = walks_wrong = 0;
    runtime::Execution(backend, {}, [](NodeId) {
        return std::make_unique<testing_strands::FirstTask>(
            [](Worker& worker) { start_walk(worker, 7, 1000); });
    }).run();
    EXPECT_EQ(walks_ended, 1U);
    EXPECT_EQ(walks_wrong, 0U);
}

TEST(DataflowMigrationOverManyNodes, AThreadMigratesAThousandTimes) {
    inprocess::Options options;
    options.nodes = 64;
    inprocess::InprocessBackend inprocess(options);
    walk_far(inprocess);
#ifdef HEDDLE_SIM
    Platform platform;
    platform.nodes = 64;
    sim::SimBackend sim(platform, sim::SimOptions{});
    walk_far(sim);
#endif
}

// --- errors

TEST_P(DataflowMigration, AThreadWithoutSerializationStays) {
    EXPECT_THAT(error_of([&] {
                    run(failing_nodes(2), failing_cores(), [](Worker& worker) {
                        KaapiId tid;
                        create(
                            worker, tid, {}, [](Kaapi& self, void*) { self.migrate(0); }, nullptr);
                    });
                }),
                StartsWith("a thread that should migrate to node 0 has no serialization; "));
}

TEST_P(DataflowMigration, AThreadGoesToNodesThatThereAre) {
    const NodeId count = failing_nodes(2);
    EXPECT_THAT(error_of([&] {
                    run(count, failing_cores(), [](Worker& worker) {
                        KaapiId tid;
                        Attributes attributes;
                        attributes.set_serialization(walks);
                        create(
                            worker, tid, attributes, [](Kaapi& self, void*) { self.migrate(9); }, nullptr);
                    });
                }),
                StartsWith("a thread should migrate to node 9, and the run has " + std::to_string(count) +
                           " nodes; "));
}

// --- work that other nodes steal: the numbers of an interval, each to be added once

struct Interval {
    runtime::SpinLock lock;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

std::atomic<std::uint64_t> added{0};
std::atomic<std::uint64_t> added_elsewhere{0};

bool steal_interval(Kaapi& victim, KaapiId& thief, const IdleWorkers& idle, void* user_arg);
extern const Serialization intervals;

Attributes attributes_of(Interval& interval) {
    Attributes attributes;
    attributes.set_serialization(intervals);
    attributes.set_steal_function(&steal_interval, &interval);
    return attributes;
}

void add_interval(Kaapi& self, void* argument) {
    const std::unique_ptr<Interval> interval(static_cast<Interval*>(argument));
    for (;;) {
        std::uint64_t mine = 0;
        {
            const runtime::SpinLock::Guard guard(interval->lock);
            if (interval->begin == interval->end) break;
            mine = interval->begin++;
        }
        self.worker().compute({1e6, 0}, [&] {
            added += mine;
            if (self.worker().id.node != 0) ++added_elsewhere;
        });
        self.offer();
        self.strand().yield();
    }
    self.close();
}

bool steal_interval(Kaapi& /*victim*/, KaapiId& thief, const IdleWorkers& idle, void* user_arg) {
    auto& interval = *static_cast<Interval*>(user_arg);
    EXPECT_GE(idle.count(), 1U);
    auto half = std::make_unique<Interval>();
    {
        const runtime::SpinLock::Guard guard(interval.lock);
        if (interval.end - interval.begin < 2) return false;
        half->end = interval.end;
        half->begin = interval.end = (interval.begin + interval.end) / 2;
    }
    Interval& part = *half.release();
    create(idle, thief, attributes_of(part), &add_interval, &part);
    return true;
}

void save_interval(void* argument, Writer& to) {
    const std::unique_ptr<Interval> interval(static_cast<Interval*>(argument));
    to.put(interval->begin).put(interval->end);
}

void* restore_interval(Reader& from, Attributes& attributes) {
    auto restored = std::make_unique<Interval>();
    restored->begin = from.get<std::uint64_t>();
    restored->end = from.get<std::uint64_t>();
    attributes = attributes_of(*restored);
    return restored.release();
}

const Serialization intervals("tests.interval", &add_interval, &save_interval, &restore_interval);

TEST_P(DataflowMigration, OtherNodesStealWhatTheStealFunctionGives) {
    added = added_elsewhere = 0;
    constexpr std::uint64_t count = 400;
    run(nodes(3), 2, [&](Worker& worker) {
        auto* const interval = new Interval;
        interval->end = count;
        KaapiId tid;
        create(worker, tid, attributes_of(*interval), &add_interval, interval);
    });
    EXPECT_EQ(added, count * (count - 1) / 2);
    if (GetParam().name == "sim") {
        EXPECT_GT(added_elsewhere, count / 4);
    }
}

}  // namespace
}  // namespace heddle::dataflow
