// Tests groups of dataflow threads: a recorded graph that is placed at random and run several times. Every
// object ends as the sequential program leaves it, natively, in simulation and in-process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dataflow_random.hpp"
#include "tests/faulty_machine.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_dataflow {
namespace {

using Workers = std::vector<WorkerId>;

Workers all_workers(const Thread& self) {
    const WorkerGrid grid{self.worker().node().topology().nodes, self.worker().node().cores()};
    Workers workers;
    for (std::size_t i = 0; i < grid.workers(); ++i) workers.push_back(grid.worker(i));
    return workers;
}

/// Each task on a drawn worker, in a drawn order that the graph allows.
GroupPlacing place_anywhere(const Recording& recording, const Workers& workers, std::uint64_t seed) {
    Random random(seed);
    const TaskGraph& graph = recording.graph();
    GroupPlacing placing;
    placing.strict = random.below(2) == 0;
    std::vector<std::size_t> waits(graph.tasks());
    std::vector<TaskIndex> ready;
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        placing.of_task.push_back(workers[random.below(workers.size())]);
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

/// One iteration of the program: tasks with drawn modes and objects, of which some are the iteration's own.
/// All modes but `wp`, which need not write.
template <class World, class Object>
void iterate(World& world, const Iterated& program, std::vector<Object> objects) {
    Random random = Random(program.seed).split(5);
    for (std::uint64_t own = random.below(3); own != 0; --own)
        objects.push_back(world.declare(draw_value(random, program.shape.size_max, 0)));
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
        const Workers workers = all_workers(self);
        std::uint64_t placings = program_.seed;
        const auto place = [&](const Recording& recording) {
            return place_anywhere(recording, workers, placings++);
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

// --- objects that the body declares

using Numbers = std::vector<long>;
struct AddNumber {
    void operator()(long& into, long more) const { into += more; }
};
void count_one(Thread& /*self*/, shared_cw<long, AddNumber> sum) {
    sum.add(1);
}
void double_it(Thread& /*self*/, shared_rw<long> number) {
    number.write(number.written() ? 2 * number.read() : 1);
}
void write_seven(Thread& /*self*/, shared_w<long> number) {
    number = 7;
}
void append(Thread& /*self*/, shared_r<long> number, shared_rw<Numbers> all) {
    all.value().push_back(number.read());
}

/// A body with objects of its own: with a value, without one, read only, and written before it is read.
void use_own_objects(Thread& self, const shared<Numbers>& all) {
    const shared<long> sum(self, 3), first_sum(self), doubled(self, 5), first(self), constant(self, 2),
        written(self, 1);
    for (int i = 0; i < 4; ++i) self.fork<count_one>(sum);
    for (int i = 0; i < 3; ++i) self.fork<count_one>(first_sum);
    self.fork<append>(doubled, all);
    self.fork<double_it>(doubled);
    self.fork<double_it>(first);
    self.fork<double_it>(first);
    self.fork<write_seven>(written);
    for (const auto& object : {sum, first_sum, doubled, first, constant, written})
        self.fork<append>(object, all);
}

class OwnObjects final : public DataflowProgram {
public:
    OwnObjects(std::uint64_t seed, Numbers& found) : seed_(seed), found_(found) {}
    void main(Thread& self) override {
        const shared<Numbers> all(self, Numbers());
        const Workers workers = all_workers(self);
        std::uint64_t placings = seed_;
        const auto place = [&](const Recording& recording) {
            return place_anywhere(recording, workers, placings++);
        };
        Group group(self, place, [&](GroupRecorder&) { use_own_objects(self, all); });
        group.run(2);
        group.run();
        group.place(place);
        group.run(2);
        found_ = all.read();
    }
    runtime::Answer answer() const override { return {}; }

private:
    std::uint64_t seed_;
    Numbers& found_;
};

TEST_P(DataflowGroupWorlds, WhatTheBodyDeclaresBeginsEachIterationWithItsFirstValue) {
    Numbers expected;
    for (int i = 0; i < 5; ++i) expected.insert(expected.end(), {5, 7, 3, 10, 2, 2, 7});
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Numbers found;
        GetParam().run(GetParam().one_node ? 1 : 3, 2,
                       [&](NodeId) { return std::make_unique<OwnObjects>(seed, found); });
        ASSERT_EQ(found, expected) << "seed " << seed;
    }
}

// --- side by side

/// Two or three programs of their own objects, each a group. They start one after the other, on workers of
/// their own or on all, and are waited for in a drawn order, twice.
class SidePlayer final : public DataflowProgram {
public:
    SidePlayer(const std::vector<Iterated>& programs, std::vector<std::vector<Value>>& found)
        : programs_(programs), found_(found) {}

    void main(Thread& self) override {
        Forking world{self, {}};
        Random random = Random(programs_.front().seed).split(11);
        const bool disjoint = random.below(2) == 0;
        const std::size_t count = programs_.size();
        std::vector<std::vector<Access*>> objects(count);
        std::vector<std::unique_ptr<Group>> groups;
        for (std::size_t i = 0; i < count; ++i) {
            declare_all(world, programs_[i], objects[i]);
            Workers workers = all_workers(self);
            if (disjoint && workers.size() >= count) {
                std::erase_if(workers, [&](const WorkerId& worker) {
                    return (worker.node * self.worker().node().cores() + worker.core) % count != i;
                });
            }
            const auto place = [&](const Recording& recording) {
                return place_anywhere(recording, workers, programs_[i].seed);
            };
            groups.push_back(std::make_unique<Group>(
                self, place, [&](GroupRecorder&) { iterate(world, programs_[i], objects[i]); }));
        }
        for (int run = 0; run < 2; ++run) {
            std::vector<std::size_t> waited;
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint32_t part = programs_[i].iterations / 2;
                groups[i]->start(run == 0 ? part : programs_[i].iterations - part);
                waited.insert(waited.begin() + static_cast<std::ptrdiff_t>(random.below(i + 1)), i);
            }
            for (const std::size_t i : waited) groups[i]->wait();
        }
        for (std::size_t i = 0; i < count; ++i) {
            found_.emplace_back();
            for (Access* const object : objects[i]) found_.back().push_back(world.read_own(object));
        }
    }
    runtime::Answer answer() const override { return {}; }

private:
    std::vector<Iterated> programs_;
    std::vector<std::vector<Value>>& found_;
};

struct Side {
    std::vector<Iterated> programs;
    std::vector<std::vector<Value>> expected;
};

Side draw_side(std::uint64_t seed) {
    Side side;
    for (std::uint64_t i = 0; i < 2 + seed % 2; ++i) {
        side.programs.push_back(draw_program(seed + 1000 * i));
        side.expected.push_back(play_iterated(side.programs.back()));
    }
    return side;
}

TEST(DataflowGroup, SeveralSideBySideAreSequentialAtManyInterleavings) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        const testing_faults::FaultyMachine machine = testing_faults::draw_machine(seed);
        const Side side = draw_side(seed);
        std::vector<std::vector<Value>> found;
        inprocess::InprocessBackend backend(machine.options);
        const auto make = [&](NodeId) { return std::make_unique<SidePlayer>(side.programs, found); };
        runtime::Execution(backend, machine.schedule, make).run();
        ASSERT_EQ(found, side.expected) << "seed " << seed;
    }
}

TEST_P(DataflowGroupWorlds, SeveralSideBySideAreSequential) {
    for (std::uint64_t seed = 1; seed <= 15; ++seed) {
        const Side side = draw_side(seed);
        std::vector<std::vector<Value>> found;
        GetParam().run(GetParam().one_node ? 1 : 3, 2,
                       [&](NodeId) { return std::make_unique<SidePlayer>(side.programs, found); });
        ASSERT_EQ(found, side.expected) << "seed " << seed;
    }
}

// --- whatever comes between runs

/// The values that the body reads between, and at the end.
using Seen = std::vector<std::uint32_t>;

/// What the body does, step by step: World has `start`, `wait`, `place`, `home` and `end` of two groups over
/// the same objects, beside what a world has.
template <class World, class Object>
Seen mix(World& world, std::uint64_t seed, std::vector<Object>& objects) {
    Random random = Random(seed).split(13);
    const Iterated program = draw_program(seed);
    declare_all(world, program, objects);
    Seen seen;
    const auto any = [&]() -> Object& { return objects[random.below(objects.size())]; };
    for (std::uint64_t left = 4 + random.below(12); left != 0; --left) {
        const std::uint64_t group = random.below(2);
        switch (random.below(9)) {
            case 0:
            case 1:
                world.start(group, 1 + random.below(3));
                break;
            case 2:
                world.wait(group);
                break;
            case 3:
                world.sync();
                seen.push_back(digest(world.read_own(any())));
                break;
            case 4: {
                world.sync();
                Value value = draw_value(random, program.shape.size_max, 0);
                world.write_own(any(), std::move(value));
                break;
            }
            case 5: {
                const Call call{random(), random.below(2), program.shape.size_max, 3};
                const std::array<Mode, 2> modes{static_cast<Mode>(random.below(8)),
                                                static_cast<Mode>(random.below(8))};
                Object& first = any();
                world.fork(call, modes, {first, any()});
                break;
            }
            case 6:
                world.place(group);
                break;
            case 7:
                world.end(group);
                break;
            default:
                world.home(group);
        }
    }
    world.finish();
    for (Object& object : objects) seen.push_back(digest(world.read_own(object)));
    return seen;
}

/// The two groups' bodies use different tasks of the drawn program.
Iterated program_of(std::uint64_t seed, std::uint64_t group) {
    Iterated program = draw_program(seed);
    program.seed = seed + 7000 * group;
    program.tasks = 1 + program.tasks / 2;
    return program;
}

struct PlainMix : Plain {
    explicit PlainMix(std::uint64_t drawn) : seed(drawn) {}
    std::uint64_t seed;
    std::vector<Value*> all;

    void start(std::uint64_t group, std::uint64_t iterations) {
        for (; iterations != 0; --iterations) iterate(*this, program_of(seed, group), all);
    }
    void wait(std::uint64_t /*group*/) {}
    void place(std::uint64_t /*group*/) {}
    void home(std::uint64_t /*group*/) {}
    void end(std::uint64_t /*group*/) {}
    void finish() {}
    void write_own(Object object, Value value) { *object = std::move(value); }
};

struct ForkingMix : Forking {
    ForkingMix(Thread& thread, std::uint64_t drawn, std::vector<Access*>& given)
        : Forking{thread, {}}, seed(drawn), all(given), workers(all_workers(thread)) {}
    std::uint64_t seed;
    std::vector<Access*>& all;
    Workers workers;
    std::uint64_t placings = 0;
    std::array<std::unique_ptr<Group>, 2> groups;

    GroupPlacing placing(const Recording& recording) {
        return place_anywhere(recording, workers, seed + placings++);
    }
    Group& group_of(std::uint64_t group) {
        if (!groups[group])
            groups[group] = std::make_unique<Group>(
                self, [&](const Recording& recording) { return placing(recording); },
                [&](GroupRecorder&) { iterate<Forking>(*this, program_of(seed, group), all); });
        return *groups[group];
    }
    void start(std::uint64_t group, std::uint64_t iterations) {
        group_of(group).wait();
        if (iterations == 2) group_of(group).measure();
        group_of(group).start(static_cast<std::uint32_t>(iterations));
    }
    void wait(std::uint64_t group) { group_of(group).wait(); }
    void place(std::uint64_t group) {
        group_of(group).place([&](const Recording& recording) { return placing(recording); });
    }
    void home(std::uint64_t group) { group_of(group).home(); }
    void end(std::uint64_t group) { groups[group].reset(); }  // its next use records it again
    void finish() {
        sync();
        groups[seed % 2].reset();  // the other one ends after the last read
    }
    void write_own(Object object, Value value) {
        std::find_if(declared.begin(), declared.end(), [&](const auto& one) {
            return one.first == object;
        })->second.write(std::move(value));
    }
};

class MixPlayer final : public DataflowProgram {
public:
    MixPlayer(std::uint64_t seed, Seen& seen) : seed_(seed), seen_(seen) {}
    void main(Thread& self) override {
        std::vector<Access*> objects;
        ForkingMix world(self, seed_, objects);
        seen_ = mix(world, seed_, objects);
    }
    runtime::Answer answer() const override { return {}; }

private:
    std::uint64_t seed_;
    Seen& seen_;
};

Seen play_mix(std::uint64_t seed) {
    PlainMix world(seed);
    return mix(world, seed, world.all);
}

TEST(DataflowGroup, ObjectsHaveTheirValuesWhereverTheyAreUsedAtManyInterleavings) {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        const testing_faults::FaultyMachine machine = testing_faults::draw_machine(seed);
        Seen seen;
        inprocess::InprocessBackend backend(machine.options);
        const auto make = [&](NodeId) { return std::make_unique<MixPlayer>(seed, seen); };
        runtime::Execution(backend, machine.schedule, make).run();
        ASSERT_EQ(seen, play_mix(seed)) << "seed " << seed;
    }
}

TEST_P(DataflowGroupWorlds, ObjectsHaveTheirValuesWhereverTheyAreUsed) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Seen seen;
        GetParam().run(GetParam().one_node ? 1 : 3, 2,
                       [&](NodeId) { return std::make_unique<MixPlayer>(seed, seen); });
        ASSERT_EQ(seen, play_mix(seed)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace heddle::testing_dataflow
