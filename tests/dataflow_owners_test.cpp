// Tests where the objects of dataflow groups are between runs: on the nodes that wrote them last. Also which
// bytes travel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/random.hpp"
#include "model/dataflow.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::dataflow {
namespace {

using Doubles = std::vector<double>;

constexpr NodeId nodes = 4;
constexpr std::size_t object_count = 40;

void grow(Thread& /*self*/, shared_rw<Doubles> numbers) {
    for (double& number : numbers.value()) number += 1;
}

void add_first(Thread& /*self*/, shared_r<Doubles> from, shared_rw<Doubles> to) {
    to.value().front() += from.read().front();
}

/// Object i has i + 1 numbers; it travels with its size and a sign that it has a value.
std::uint64_t bytes_of(std::size_t i) {
    return 1 + 4 + 8 * (i + 1);
}

class PlacedProgram final : public DataflowProgram {
public:
    using Body = std::function<void(Thread&)>;
    explicit PlacedProgram(Body body) : body_(std::move(body)) {}
    void main(Thread& self) override { body_(self); }
    runtime::Answer answer() const override { return {}; }

private:
    Body body_;
};

runtime::RunResult run(std::uint64_t seed, const PlacedProgram::Body& body) {
    inprocess::Options options;
    options.nodes = nodes;
    options.cores = 2;
    options.seed = seed;
    options.faults = {.delay_max = 200, .reorders = true, .wakes_percent = 10};
    inprocess::InprocessBackend backend(options);
    return runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<PlacedProgram>(body); })
        .run();
}

double value_of(const runtime::RunResult& result, const std::string& name) {
    for (const runtime::AnswerValue& value : result.answer)
        if (value.name == name) return value.value;
    return -1;
}

std::vector<WorkerId> draw_owners(Random& random) {
    std::vector<WorkerId> owners;
    for (std::size_t i = 0; i < object_count; ++i)
        owners.push_back({static_cast<NodeId>(random.below(nodes)), static_cast<CoreId>(random.below(2))});
    return owners;
}

/// Task i of the recording on owner i, in the order of the forks. Nothing is stolen, so no task takes data
/// along.
Placer place_at(const std::vector<WorkerId>& owners) {
    return [&owners](const Recording& recording) {
        GroupPlacing placing;
        for (TaskIndex task = 0; task < recording.graph().tasks(); ++task) {
            placing.of_task.push_back(owners[task % owners.size()]);
            placing.sequence.push_back(task);
        }
        placing.strict = true;
        return placing;
    };
}

std::vector<shared<Doubles>> declare(Thread& self) {
    std::vector<shared<Doubles>> objects;
    for (std::size_t i = 0; i < object_count; ++i) objects.emplace_back(self, Doubles(i + 1, 0.0));
    return objects;
}

TEST(DataflowOwners, ANewPlacementMovesExactlyTheObjectsWhoseOwnerChanged) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Random random(seed);
        const std::vector<WorkerId> first = draw_owners(random), second = draw_owners(random);
        std::uint64_t moved = 0;
        const runtime::RunResult result = run(seed, [&](Thread& self) {
            const auto objects = declare(self);
            Group group(self, place_at(first), [&](GroupRecorder&) {
                for (const auto& object : objects) self.fork<grow>(object);
            });
            group.run(2);
            group.run(2);
            EXPECT_EQ(group.moved(), 0);
            group.place(place_at(second));
            group.run(3);
            group.run();
            moved = group.moved();
            group.home();
            for (std::size_t i = 0; i < object_count; ++i) EXPECT_EQ(objects[i].read(), Doubles(i + 1, 8.0));
        });
        std::uint64_t expected = 0;
        std::uint64_t bytes = 0;
        for (std::size_t i = 0; i < object_count; ++i) {
            const bool changes = first[i].node != second[i].node;
            expected += changes ? 1 : 0;
            const int travels = (first[i].node != 0 ? 1 : 0) + (changes ? 1 : 0) + (second[i].node != 0);
            bytes += static_cast<std::uint64_t>(travels) * bytes_of(i);
        }
        EXPECT_EQ(moved, expected) << seed;
        EXPECT_EQ(value_of(result, "objects_moved"), static_cast<double>(expected)) << seed;
        EXPECT_EQ(result.total.data_bytes, bytes) << seed;
    }
}

TEST(DataflowOwners, AnObjectThatTheBodyReadsComesHomeAlone) {
    Random random(3);
    const std::vector<WorkerId> owners = draw_owners(random);
    std::size_t away = 0;
    while (owners[away].node == 0) ++away;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < object_count; ++i) bytes += owners[i].node == 0 ? 0 : 2 * bytes_of(i);
    bytes += 10 * bytes_of(away);  // the eleventh is the one at the end
    const runtime::RunResult result = run(1, [&](Thread& self) {
        const auto objects = declare(self);
        Group group(self, place_at(owners), [&](GroupRecorder&) {
            for (const auto& object : objects) self.fork<grow>(object);
        });
        for (int i = 1; i <= 11; ++i) {
            group.run();
            EXPECT_EQ(objects[away].read().front(), i);
        }
    });
    EXPECT_EQ(result.total.data_bytes, bytes);
}

TEST(DataflowOwners, WhatIsOnlyReadIsSentOnceToEachNode) {
    Random random(4);
    const std::vector<WorkerId> owners = draw_owners(random);
    std::uint64_t bytes = (nodes - 1) * bytes_of(0);
    for (std::size_t i = 0; i < object_count; ++i) bytes += owners[i].node == 0 ? 0 : 2 * bytes_of(i);
    const runtime::RunResult result = run(1, [&](Thread& self) {
        const shared<Doubles> constant(self, Doubles(1, 2.0));
        const auto objects = declare(self);
        Group group(self, place_at(owners), [&](GroupRecorder&) {
            for (const auto& object : objects) self.fork<add_first>(constant, object);
        });
        for (int i = 0; i < 3; ++i) group.run(2);
        for (const auto& object : objects) EXPECT_EQ(object.read().front(), 12.0);
    });
    EXPECT_EQ(result.total.data_bytes, bytes);
}

TEST(DataflowOwners, TwoGroupsOverTheSameObjectsLeaveThemWhereTheyAre) {
    Random random(5);
    const std::vector<WorkerId> owners = draw_owners(random);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < object_count; ++i) bytes += owners[i].node == 0 ? 0 : 2 * bytes_of(i);
    const runtime::RunResult result = run(1, [&](Thread& self) {
        const auto objects = declare(self);
        const auto body = [&](GroupRecorder&) {
            for (const auto& object : objects) self.fork<grow>(object);
        };
        Group one(self, place_at(owners), body);
        Group other(self, place_at(owners), body);
        for (int i = 0; i < 5; ++i) {
            one.start();
            other.start();  // which waits for the first
        }
        other.home();
        EXPECT_EQ(objects.back().read().front(), 10.0);
    });
    EXPECT_EQ(result.total.data_bytes, bytes);
    EXPECT_EQ(value_of(result, "objects_moved"), 0);
}

/// A group over an object that the task was given, and one of its own. 4 tasks are recorded and run.
void forks_group(Thread& self, shared_rpwp<Doubles> given) {
    const shared<Doubles> own(self, Doubles(1, 1.0));
    const WorkerGrid grid{self.worker().node().topology().nodes, self.worker().node().cores()};
    const Placer placer = [grid](const Recording& recording) {
        GroupPlacing placing;
        for (TaskIndex task = 0; task < recording.graph().tasks(); ++task) {
            placing.of_task.push_back(grid.worker((task + 1) % grid.workers()));
            placing.sequence.push_back(task);
        }
        return placing;
    };
    Group group(self, placer, [&](GroupRecorder&) {
        self.fork<grow>(given);
        self.fork<add_first>(given, own);
    });
    group.run(2);
    group.run();
    self.fork<add_first>(own, given);
}

struct AddDouble {
    void operator()(double& into, double more) const { into += more; }
};
void accumulate_one(Thread& /*self*/, shared_cw<double, AddDouble> sum) {
    sum.add(1.0);
}

/// Accumulates to what it was given, also while its group accumulates to it.
void adds_beside_its_group(Thread& self, shared_cw<double, AddDouble> sum) {
    sum.add(2.0);
    const std::vector<WorkerId> owners{{0, 0}, {nodes - 1, 1}, {1, 0}};
    Group group(self, place_at(owners), [&](GroupRecorder&) {
        for (int i = 0; i < 4; ++i) self.fork<accumulate_one>(sum);
    });
    for (int i = 0; i < 3; ++i) {
        group.start(2);
        sum.add(5.0);
        group.wait();
        sum.add(7.0);
    }
}

TEST(DataflowOwners, WhatTheBodyAccumulatesWhileItsGroupRunsIsNotLost) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        run(seed, [](Thread& self) {
            const shared<double> sum(self, 10.0);
            self.fork<adds_beside_its_group>(sum);
            self.sync();
            EXPECT_EQ(sum.read(), 10.0 + 2 + 3 * (2 * 4 + 5 + 7));
        });
    }
}

class DataflowOwnersWorlds : public testing::TestWithParam<testing_strands::World> {};

INSTANTIATE_TEST_SUITE_P(Worlds, DataflowOwnersWorlds, testing::ValuesIn(testing_strands::worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(DataflowOwnersWorlds, ATaskMakesAGroupOverObjectsThatItWasGiven) {
    GetParam().run(GetParam().one_node ? 1 : 3, 2, [](NodeId) {
        return std::make_unique<PlacedProgram>([](Thread& self) {
            const auto objects = declare(self);
            for (const auto& object : objects) self.fork<forks_group>(object);
            self.sync();
            // 3 after three iterations; the task's own is 1 + 1 + 2 + 3 then.
            for (const auto& object : objects) EXPECT_EQ(object.read().front(), 10.0);
        });
    });
}

}  // namespace
}  // namespace heddle::dataflow
