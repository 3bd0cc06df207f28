// Groups of threads: a recorded graph that is placed at random and run several times leaves every object as
// the sequential program does, in every world.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dataflow_random.hpp"
#include "tests/faulty_machine.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_dataflow {
namespace {

/// Each task on a drawn worker, in a drawn order that the graph allows.
GroupPlacing place_anywhere(const Recording& recording, WorkerGrid grid, std::uint64_t seed) {
    Random random(seed);
    const TaskGraph& graph = recording.graph();
    GroupPlacing placing;
    placing.strict = random.below(2) == 0;
    std::vector<std::size_t> waits(graph.tasks());
    std::vector<TaskIndex> ready;
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        placing.of_task.push_back(grid.worker(random.below(grid.workers())));
        waits[task] = graph.predecessors(task).size();
        if (waits[task] == 0) ready.push_back(task);
    }
    while (!ready.empty()) {
        const std::size_t next = random.below(ready.size());
        const TaskIndex task = ready[next];
        ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(next));
        placing.sequence.push_back(task);
        for (const TaskGraph::Link& after : graph.successors(task))
            if (--waits[after.task] == 0) ready.push_back(after.task);
    }
    return placing;
}

struct Iterated {
    std::uint64_t seed;
    std::uint32_t iterations;
    int tasks;
    Shape shape;
};

/// One iteration of the program: tasks with drawn modes and objects. All but `wp`, which need not write.
template <class World, class Object>
void iterate(World& world, const Iterated& program, const std::vector<Object>& objects) {
    Random random = Random(program.seed).split(5);
    constexpr std::array allowed{Mode::r, Mode::w, Mode::rw, Mode::cw, Mode::rp, Mode::rpwp, Mode::cwp};
    for (int i = 0; i < program.tasks; ++i) {
        const Call call{random(), random.below(program.shape.depth), program.shape.size_max,
                        program.shape.forks_max, true};
        const std::array<Mode, 2> modes{allowed[random.below(allowed.size())],
                                        allowed[random.below(allowed.size())]};
        world.fork(call, modes,
                   {objects[random.below(objects.size())], objects[random.below(objects.size())]});
    }
}

template <class World, class Object>
void declare_all(World& world, const Iterated& program, std::vector<Object>& objects) {
    Random random(program.seed);
    for (std::uint64_t i = 0; i < program.shape.objects_main; ++i)
        objects.push_back(world.declare(draw_value(random, program.shape.size_max, 0)));
}

std::vector<Value> play_iterated(const Iterated& program) {
    Plain world;
    std::vector<Value*> objects;
    declare_all(world, program, objects);
    for (std::uint32_t i = 0; i < program.iterations; ++i) iterate(world, program, objects);
    std::vector<Value> values;
    for (const Value* const object : objects) values.push_back(*object);
    return values;
}

class GroupPlayer final : public DataflowProgram {
public:
    GroupPlayer(const Iterated& program, std::vector<Value>& found) : program_(program), found_(found) {}

    void main(Thread& self) override {
        Forking world{self, {}};
        std::vector<Access*> objects;
        declare_all(world, program_, objects);
        const WorkerGrid grid{self.worker().node().topology().nodes, self.worker().node().cores()};
        std::uint64_t placings = program_.seed;
        const auto place = [&](const Recording& recording) {
            return place_anywhere(recording, grid, placings++);
        };
        Group group(self, place, [&](GroupRecorder&) { iterate(world, program_, objects); });
        // In two parts, the second with another placing.
        const std::uint32_t part = program_.iterations / 3;
        group.run(part);
        group.place(place);
        group.run(program_.iterations - part);
        for (Access* const object : objects) found_.push_back(world.read_own(object));
    }
    runtime::Answer answer() const override { return {}; }

private:
    Iterated program_;
    std::vector<Value>& found_;
};

Iterated draw_program(std::uint64_t seed) {
    Random random = Random(seed).split(7);
    Iterated program;
    program.seed = seed;
    program.iterations = static_cast<std::uint32_t>(1 + random.below(6));
    program.tasks = static_cast<int>(1 + random.below(20));
    program.shape.depth = 1 + random.below(3);
    program.shape.objects_main = 1 + random.below(6);
    program.shape.size_max = random.below(4) == 0 ? 4000 : 20;
    return program;
}

TEST(DataflowGroup, IsSequentialAtManyInterleavings) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const testing_faults::FaultyMachine machine = testing_faults::draw_machine(seed);
        const Iterated program = draw_program(seed);
        std::vector<Value> found;
        inprocess::InprocessBackend backend(machine.options);
        const auto make = [&](NodeId) { return std::make_unique<GroupPlayer>(program, found); };
        runtime::Execution(backend, machine.schedule, make).run();
        ASSERT_EQ(found, play_iterated(program)) << "seed " << seed;
    }
}

class DataflowGroupWorlds : public testing::TestWithParam<testing_strands::World> {};

INSTANTIATE_TEST_SUITE_P(Worlds, DataflowGroupWorlds, testing::ValuesIn(testing_strands::worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(DataflowGroupWorlds, AreSequential) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Iterated program = draw_program(seed);
        std::vector<Value> found;
        GetParam().run(GetParam().one_node ? 1 : 3, 2,
                       [&](NodeId) { return std::make_unique<GroupPlayer>(program, found); });
        ASSERT_EQ(found, play_iterated(program)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace heddle::testing_dataflow
