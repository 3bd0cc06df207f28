// Tests groups (recorded graphs of dataflow tasks) that each node records itself. They answer as the
// sequential program does. If nodes record different graphs, the run ends with an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/random.hpp"
#include "model/dataflow.hpp"
#include "tests/faulty_machine.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::dataflow {
namespace {

using Numbers = std::vector<std::uint64_t>;

constexpr std::size_t count = 12;

void mix(Thread& /*self*/, std::uint64_t factor, shared_r<Numbers> from, shared_rw<Numbers> to) {
    for (std::size_t i = 0; i < to.value().size(); ++i)
        to.value()[i] = to.value()[i] * factor + from.read()[i];
}

void replace(Thread& /*self*/, std::uint64_t term, shared_r<Numbers> from, shared_w<Numbers> to) {
    Numbers sum = from.read();
    for (std::uint64_t& number : sum) number += term;
    to.write(sum);
}

/// One fork of the program: of `mix`, or of `replace`.
struct Call {
    bool mixes;
    std::uint64_t number;
    std::size_t from;
    std::size_t to;
};
using CallList = std::vector<Call>;

CallList draw_calls(std::uint64_t seed) {
    Random random(seed);
    CallList calls;
    for (std::uint64_t i = 0; i < 20; ++i) {
        const std::uint64_t to = random.below(count);
        calls.push_back({random.below(3) != 0, random(), (to + 1 + random.below(count - 1)) % count, to});
    }
    return calls;
}

Numbers first_value(std::size_t i) {
    return {i, 2 * i, 3 * i};
}

/// Two groups of drawn tasks; each runs three, two and two iterations, the last ones at another placing.
struct Drawn {
    std::uint64_t seed = 1;
    /// Changes what one node records.
    std::function<void(NodeId node, CallList& calls)> spoil = [](NodeId, CallList&) {};
    std::function<double(NodeId node)> bytes = [](NodeId) { return 28.0; };
    std::function<std::uint64_t(NodeId node)> placing_seed = [](NodeId) { return std::uint64_t{0}; };
    std::function<std::uint64_t(NodeId node)> groups = [](NodeId) { return std::uint64_t{2}; };
    /// Work of a node before it records.
    std::function<double(NodeId node)> flops = [](NodeId) { return 0.0; };
};

std::vector<Numbers> play(const Drawn& program) {
    std::vector<Numbers> objects;
    for (std::size_t i = 0; i < count; ++i) objects.push_back(first_value(i));
    for (std::uint64_t group = 0; group < 2; ++group) {
        for (int iteration = 0; iteration < 7; ++iteration) {
            if (iteration == 3 && program.seed % 3 == 0) objects[0] = first_value(5);
            for (const Call& call : draw_calls(program.seed + group)) {
                for (std::size_t i = 0; i < 3; ++i) {
                    const std::uint64_t from = objects[call.from][i];
                    std::uint64_t& to = objects[call.to][i];
                    to = call.mixes ? to * call.number + from : from + call.number;
                }
            }
        }
    }
    return objects;
}

class Recorders final : public DataflowProgram {
public:
    Recorders(const Drawn& program, std::vector<Numbers>& found) : program_(program), found_(found) {}

    bool records_elsewhere() const override { return true; }
    void main(Thread& self) override {
        for (const auto& object : run(self)) found_.push_back(object.read());
    }
    void elsewhere(Thread& self) override { run(self); }
    runtime::Answer answer() const override { return {}; }

private:
    std::vector<shared<Numbers>> run(Thread& self) const {
        const NodeId here = self.worker().node().id();
        std::vector<shared<Numbers>> objects;
        for (std::size_t i = 0; i < count; ++i) {
            objects.emplace_back(self);
            if (here == 0) objects.back().write(first_value(i));
        }
        self.worker().compute({program_.flops(here), 0}, {});
        Random random(program_.seed + program_.placing_seed(here));
        const Placer placer = [&](const Recording& recording) {
            const runtime::Node& node = self.worker().node();
            GroupPlacing placing;
            for (TaskIndex task = 0; task < recording.graph().tasks(); ++task) {
                placing.of_task.push_back({static_cast<NodeId>(random.below(node.topology().nodes)),
                                           static_cast<CoreId>(random.below(node.cores()))});
                placing.sequence.push_back(task);
            }
            placing.strict = random.below(2) == 0;
            return placing;
        };
        for (std::uint64_t groups = 0; groups < program_.groups(here); ++groups) {
            CallList calls = draw_calls(program_.seed + groups);
            program_.spoil(here, calls);
            const auto record = [&](GroupRecorder& recorder) {
                for (const auto& object : objects) recorder.bytes(object, program_.bytes(here));
                for (const Call& call : calls) {
                    if (call.mixes) {
                        self.fork<mix>(call.number, objects[call.from], objects[call.to]);
                    } else {
                        self.fork<replace>(call.number, objects[call.from], objects[call.to]);
                    }
                }
            };
            Group group(self, placer, record, Recorded::everywhere);
            group.run(3);
            // Another node does not know that, and begins with the new value nonetheless.
            if (here == 0 && program_.seed % 3 == 0) objects[0].write(first_value(5));
            group.run(2);
            group.place(placer);
            group.run(2);
        }
        return objects;
    }

    Drawn program_;
    std::vector<Numbers>& found_;
};

TEST(DataflowEverywhere, IsSequentialAtManyInterleavings) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        const testing_faults::FaultyMachine machine = testing_faults::draw_machine(seed);
        Drawn program;
        program.seed = seed;
        std::vector<Numbers> found;
        inprocess::InprocessBackend backend(machine.options);
        const auto make = [&](NodeId) { return std::make_unique<Recorders>(program, found); };
        runtime::Execution(backend, machine.schedule, make).run();
        ASSERT_EQ(found, play(program)) << "seed " << seed;
    }
}

class DataflowEverywhereWorlds : public testing::TestWithParam<testing_strands::World> {
protected:
    static std::string error_of(const Drawn& program) {
        std::vector<Numbers> found;
        return testing_strands::error_of([&] {
            GetParam().run(3, 2, [&](NodeId) { return std::make_unique<Recorders>(program, found); });
        });
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, DataflowEverywhereWorlds, testing::ValuesIn(testing_strands::worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(DataflowEverywhereWorlds, IsSequential) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Drawn program;
        program.seed = seed;
        std::vector<Numbers> found;
        GetParam().run(GetParam().one_node ? 1 : 3, 2,
                       [&](NodeId) { return std::make_unique<Recorders>(program, found); });
        ASSERT_EQ(found, play(program)) << "seed " << seed;
    }
}

TEST_P(DataflowEverywhereWorlds, ValuesThatComeBeforeTheirGroupWait) {
    for (NodeId late = 0; late < 3; ++late) {
        Drawn program;
        program.seed = 2;
        program.flops = [late](NodeId node) { return node == late ? 3e7 : 0; };
        std::vector<Numbers> found;
        GetParam().run(GetParam().one_node ? 1 : 3, 2,
                       [&](NodeId) { return std::make_unique<Recorders>(program, found); });
        ASSERT_EQ(found, play(program)) << "node " << late;
    }
}

TEST_P(DataflowEverywhereWorlds, NodesThatRecordDifferentGraphsEndTheRun) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    using testing::HasSubstr;
    Drawn other_task;
    other_task.spoil = [](NodeId node, CallList& calls) {
        if (node == 2) calls[7].mixes = !calls[7].mixes;
    };
    EXPECT_THAT(error_of(other_task),
                testing::AllOf(HasSubstr("node 2 records another group than node 0"), HasSubstr("task 7: "),
                               HasSubstr("replace of work 1"), HasSubstr("mix of work 1")));
    Drawn other_argument;
    other_argument.spoil = [](NodeId node, CallList& calls) {
        if (node == 1) ++calls[3].number;
    };
    EXPECT_THAT(error_of(other_argument), testing::AllOf(HasSubstr("node 1 records"), HasSubstr("task 3: ")));
    Drawn fewer;
    fewer.spoil = [](NodeId node, CallList& calls) {
        if (node == 2) calls.pop_back();
    };
    EXPECT_THAT(error_of(fewer), HasSubstr("node 2"));
    Drawn other_bytes;
    other_bytes.bytes = [](NodeId node) { return node == 1 ? 29.0 : 28.0; };
    EXPECT_THAT(error_of(other_bytes), testing::AllOf(HasSubstr("28 bytes"), HasSubstr("29 bytes")));
    Drawn other_placing;
    other_placing.placing_seed = [](NodeId node) { return node == 2 ? 1U : 0U; };
    EXPECT_THAT(error_of(other_placing), testing::AllOf(HasSubstr("node 2 records"), HasSubstr("on worker")));
}

TEST_P(DataflowEverywhereWorlds, ANodeThatRecordsFewerGroupsEndsTheRun) {
    SKIP_IF_A_FAILURE_ENDS_THE_PROCESS();
    Drawn fewer;
    fewer.groups = [](NodeId node) { return node == 1 ? 1U : 2U; };
    EXPECT_THAT(error_of(fewer), testing::HasSubstr("node 0 records group 2, and node 1 has recorded 1"));
}

void only(Thread& /*self*/, shared_w<Numbers> to) {
    to.write(Numbers(3));
}

void makes_group(Thread& self, shared_wp<Numbers> to) {
    const Placer placer = [](const Recording&) { return GroupPlacing{{{0, 0}}, {0}}; };
    Group group(
        self, placer, [&](GroupRecorder&) { self.fork<only>(to); }, Recorded::everywhere);
    group.run();
}

class Nested final : public DataflowProgram {
public:
    void main(Thread& self) override {
        const shared<Numbers> object(self);
        self.fork<makes_group>(object);
        self.sync();
    }
    runtime::Answer answer() const override { return {}; }
};

TEST(DataflowEverywhere, ATaskMakesNoGroupThatAllNodesRecord) {
    EXPECT_THAT(testing_strands::error_of([] {
                    inprocess::InprocessBackend backend({});
                    runtime::Execution(backend, {}, [](NodeId) { return std::make_unique<Nested>(); }).run();
                }),
                testing::HasSubstr("a task makes a group that every node is to record"));
}

}  // namespace
}  // namespace heddle::dataflow
