// Tests mistakes of programs with groups (recorded graphs of dataflow tasks): each ends the run with a
// message that names it, and none leaves a wrong value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <stdexcept>

#include "model/dataflow.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_group_errors {
namespace {

using namespace dataflow;
using testing::HasSubstr;
using Body = std::function<void(Thread&)>;

class Bodies final : public DataflowProgram {
public:
    Bodies(const Body& first, const Body& other) : first_(first), other_(other) {}
    void main(Thread& self) override { first_(self); }
    bool records_elsewhere() const override { return static_cast<bool>(other_); }
    void elsewhere(Thread& self) override { other_(self); }
    runtime::Answer answer() const override { return {}; }

private:
    const Body& first_;
    const Body& other_;
};

const std::string no_error = "no error";

/// What ended the run.
std::string error_of(NodeId nodes, std::uint64_t seed, const Body& first, const Body& other = {}) {
    return testing_strands::error_of([&] {
        inprocess::Options options;
        options.nodes = nodes;
        options.cores = 2;
        options.seed = seed;
        inprocess::InprocessBackend backend(options);
        const auto make = [&](NodeId) { return std::make_unique<Bodies>(first, other); };
        runtime::Execution(backend, {}, make).run();
    });
}

/// Task i on node i, and again from the first node on.
Placer deal(NodeId nodes, bool strict) {
    return [nodes, strict](const Recording& recording) {
        GroupPlacing placing;
        for (TaskIndex task = 0; task < recording.graph().tasks(); ++task) {
            placing.of_task.push_back({static_cast<NodeId>(task % nodes), 0});
            placing.sequence.push_back(task);
        }
        placing.strict = strict;
        return placing;
    };
}

// --- tasks that do not write what they have to write

struct Add {
    void operator()(double& into, double more) const { into += more; }
};

void leave(Thread& /*self*/, shared_w<double> /*object*/) {}

/// Writes from its second call on.
void write_later(Thread& /*self*/, shared_rw<int> calls, shared_w<double> object) {
    if (calls.value()++ != 0) object = 100.0;
}

void contribute(Thread& /*self*/, shared_cw<double, Add> object) {
    object.add(1.0);
}

void change(Thread& /*self*/, shared_rw<double> object) {
    object.write(object.written() ? object.read() + 1 : 1.0);
}

void pass_on(Thread& self, shared_rpwp<double> object) {
    self.fork<change>(object);
}

using Forks = std::function<void(Thread& self, const shared<double>& object, const shared<int>& calls)>;

void expect_unwritten(const Forks& forks) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        for (const NodeId nodes : {1U, 2U, 3U}) {
            const std::string error = error_of(nodes, seed, [&](Thread& self) {
                const shared<double> object(self, 5.0);
                const shared<int> calls(self, 0);
                Group group(self, deal(nodes, seed % 2 == 0),
                            [&](GroupRecorder&) { forks(self, object, calls); });
                if (seed % 4 == 0) group.measure();
                group.run(3);
            });
            ASSERT_THAT(error, HasSubstr("has not written an object")) << nodes << " nodes, seed " << seed;
        }
    }
}

TEST(DataflowGroupErrors, ATaskThatWritesNothingIsFoundOutBeforeAnAccumulation) {
    expect_unwritten([](Thread& self, const auto& object, const auto&) {
        self.fork<leave>(object);
        self.fork<contribute>(object);
        self.fork<contribute>(object);
    });
}

TEST(DataflowGroupErrors, ATaskThatWritesNothingIsFoundOutBeforeAChange) {
    expect_unwritten([](Thread& self, const auto& object, const auto&) {
        self.fork<leave>(object);
        self.fork<change>(object);
    });
    expect_unwritten([](Thread& self, const auto& object, const auto&) {
        self.fork<leave>(object);
        self.fork<pass_on>(object);
    });
}

TEST(DataflowGroupErrors, ATaskThatWritesNothingIsFoundOutInTheNextIteration) {
    expect_unwritten([](Thread& self, const auto& object, const auto& calls) {
        self.fork<change>(object);
        self.fork<write_later>(calls, object);
    });
}

void write_ten(Thread& /*self*/, shared_w<double> object) {
    object = 10.0;
}

TEST(DataflowGroupErrors, WhatIsWrittenIsChangedByTheNextTask) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        for (const NodeId nodes : {1U, 2U, 3U}) {
            EXPECT_EQ(error_of(nodes, seed,
                               [&](Thread& self) {
                                   const shared<double> object(self);
                                   Group group(self, deal(nodes, seed % 2 == 0), [&](GroupRecorder&) {
                                       self.fork<change>(object);
                                       self.fork<write_ten>(object);
                                       self.fork<change>(object);
                                       self.fork<contribute>(object);
                                       self.fork<pass_on>(object);
                                   });
                                   if (seed % 4 == 0) group.measure();
                                   group.run(3);
                                   EXPECT_EQ(object.read(), 13.0);
                               }),
                      no_error);
        }
    }
}

// --- nodes that run a group differently often

/// Two objects, of node 0 and of node 1, which do not need each other.
Body runs(std::uint32_t iterations) {
    return [iterations](Thread& self) {
        const shared<double> here(self), there(self);
        const auto record = [&](GroupRecorder& recorder) {
            recorder.bytes(here, 8);
            recorder.bytes(there, 8);
            self.fork<change>(here);
            self.fork<change>(there);
        };
        if (self.worker().node().id() == 0) {
            here.write(0.0);
            there.write(0.0);
        }
        Group group(self, deal(2, true), record, Recorded::everywhere);
        group.run(iterations);
        group.run(2);
        if (self.worker().node().id() != 0) return;
        EXPECT_EQ(here.read(), iterations + 2.0);
        EXPECT_EQ(there.read(), iterations + 2.0);
    };
}

TEST(DataflowGroupErrors, ANodeThatRunsAGroupDifferentlyOftenEndsTheRun) {
    EXPECT_EQ(error_of(2, 1, runs(5), runs(5)), no_error);
    EXPECT_THAT(error_of(2, 1, runs(5), runs(3)),
                HasSubstr("node 1 runs a group for 3 iterations, and node 0 for 5"));
    EXPECT_THAT(error_of(2, 1, runs(3), runs(5)),
                HasSubstr("node 1 runs a group for 5 iterations, and node 0 for 3"));
}

void add(Thread& /*self*/, shared_r<double> from, shared_rw<double> to) {
    to.value() += from.read();
}

/// Each of the two objects needs the other one's value in each iteration, so no node ends alone.
Body runs_together(std::uint32_t iterations) {
    return [iterations](Thread& self) {
        const shared<double> here(self), there(self);
        if (self.worker().node().id() == 0) {
            here.write(0.0);
            there.write(1.0);
        }
        const auto record = [&](GroupRecorder& recorder) {
            recorder.bytes(here, 8);
            recorder.bytes(there, 8);
            self.fork<add>(there, here);
            self.fork<add>(here, there);
        };
        Group group(self, deal(2, true), record, Recorded::everywhere);
        if (iterations != 0) group.run(iterations);
    };
}

TEST(DataflowGroupErrors, ANodeThatWaitsForOneThatRunsAGroupLessOftenEndsTheRun) {
    EXPECT_EQ(error_of(2, 1, runs_together(4), runs_together(4)), no_error);
    EXPECT_EQ(error_of(2, 1, runs_together(0), runs_together(0)), no_error);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        EXPECT_THAT(error_of(2, seed, runs_together(5), runs_together(3)),
                    HasSubstr("node 1 runs a group for 3 iterations, and node 0 for 5"));
        EXPECT_THAT(error_of(2, seed, runs_together(3), runs_together(5)),
                    HasSubstr("node 1 runs a group for 5 iterations, and node 0 for 3"));
        EXPECT_THAT(error_of(2, seed, runs_together(3), runs_together(0)),
                    HasSubstr("node 1 runs a group for 0 iterations, and node 0 for 3"));
        EXPECT_THAT(error_of(2, seed, runs_together(0), runs_together(3)),
                    HasSubstr("node 1 runs a group for 3 iterations, and node 0 for 0"));
    }
}

// --- placings that are none

TEST(DataflowGroupErrors, APlacingThatIsRefusedLeavesTheOneBefore) {
    const Body body = [](Thread& self) {
        const shared<double> object(self, 1.0);
        Group group(self, deal(2, true), [&](GroupRecorder&) {
            for (int i = 0; i < 4; ++i) self.fork<change>(object);
        });
        group.run();
        const Placer of_one_task = [](const Recording& /*recording*/) {
            return GroupPlacing{.of_task = {{0, 0}}, .sequence = {0}};
        };
        EXPECT_THROW(group.place(of_one_task), Error);
        EXPECT_EQ(group.placing().of_task.size(), 4U);
        group.measure();
        group.run();
        EXPECT_EQ(object.read(), 9.0);
        for (TaskIndex task = 0; task < 4; ++task)
            EXPECT_EQ(group.recording().measured()[task].worker, (WorkerId{task % 2, 0}));
    };
    EXPECT_EQ(error_of(2, 1, body), no_error);
}

// --- groups that an exception unwinds

/// `then` gets an object whose group was unwound, while it ran or between its runs.
std::string error_after(bool while_it_runs,
                        const std::function<void(Thread& self, const shared<double>& object)>& then) {
    return error_of(2, 1, [&](Thread& self) {
        const shared<double> other(self, 1.0), object(self, 2.0);
        try {
            Group group(self, deal(2, true), [&](GroupRecorder&) {
                self.fork<change>(other);
                self.fork<change>(object);
            });
            group.start(3);
            if (!while_it_runs) group.wait();
            throw std::runtime_error("the program's own");
        } catch (const std::runtime_error&) {
        }
        then(self, object);
    });
}

TEST(DataflowGroupErrors, AnObjectOfAGroupThatWasUnwoundWhileItRanHasNoValue) {
    const char* const what = "whose group was unwound by an exception while it ran";
    EXPECT_THAT(error_after(true, [](Thread&, const auto& object) { object.read(); }), HasSubstr(what));
    EXPECT_THAT(error_after(true, [](Thread& self, const auto& object) { self.fork<change>(object); }),
                HasSubstr(what));
    EXPECT_THAT(error_after(true,
                            [](Thread& self, const auto& object) {
                                Group group(self, deal(2, true),
                                            [&](GroupRecorder&) { self.fork<change>(object); });
                                group.run();
                            }),
                HasSubstr(what));
    EXPECT_EQ(error_after(true,
                          [](Thread&, const auto& object) {
                              object.write(7.0);
                              EXPECT_EQ(object.read(), 7.0);
                          }),
              no_error);
    EXPECT_EQ(error_after(false, [](Thread&, const auto& object) { EXPECT_EQ(object.read(), 5.0); }),
              no_error);
}

// --- objects that a recording declares and does not use

/// The object has the value 1.0, to which each iteration adds 1.
void expect_it_comes_home(Thread& self, const shared<double>& object) {
    Group group(self, deal(2, true), [&](GroupRecorder&) { self.fork<change>(object); });
    group.run(3);
    EXPECT_EQ(object.read(), 4.0);
}

TEST(DataflowGroupErrors, WhatAnEarlierRecordingDeclaresIsNoObjectOfALaterOne) {
    const Body body = [](Thread& self) {
        const shared<double> other(self, 1.0);
        std::optional<shared<double>> declared;
        Group earlier(self, deal(2, true), [&](GroupRecorder&) {
            declared.emplace(self, 1.0);
            self.fork<change>(other);
        });
        expect_it_comes_home(self, *declared);
    };
    EXPECT_EQ(error_of(2, 1, body), no_error);
}

TEST(DataflowGroupErrors, WhatARecordingThatFailsDeclaresIsNoObjectOfALaterOne) {
    const Body body = [](Thread& self) {
        const shared<double> other(self, 1.0);
        std::optional<shared<double>> declared;
        const auto fails = [&](GroupRecorder&) {
            declared.emplace(self, 1.0);
            self.fork<change>(*declared);
            throw std::runtime_error("the program's own");
        };
        EXPECT_THROW(Group(self, deal(2, true), fails), std::runtime_error);
        expect_it_comes_home(self, *declared);
    };
    EXPECT_EQ(error_of(2, 1, body), no_error);
}

// --- groups that an exception has unwound, and their addresses

void copy(Thread& /*self*/, shared_r<double> from, shared_w<double> to) {
    to = from.read();
}

/// Its objects have the addresses of those of the task before, whose group was unwound.
void copy_and_unwind(Thread& self, double value, shared_rw<int> right) {
    const shared<double> from(self, value), to(self);
    double seen = 0;
    try {
        const Placer on_node_1 = [](const Recording& /*recording*/) {
            return GroupPlacing{.of_task = {{1, 0}}, .sequence = {0}};
        };
        Group group(self, on_node_1, [&](GroupRecorder&) { self.fork<copy>(from, to); });
        group.run();
        seen = to.read();
        throw std::runtime_error("the program's own");
    } catch (const std::runtime_error&) {
    }
    right.value() += seen == value ? 1 : 0;
}

// Node 1 still has the value of the earlier object.
TEST(DataflowGroupErrors, AnObjectIsNotTakenForOneOfAGroupThatWasUnwound) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Body body = [](Thread& self) {
            const shared<int> right(self, 0);
            for (int i = 1; i <= 10; ++i) self.fork<copy_and_unwind>(i, right);
            self.sync();
            EXPECT_EQ(right.read(), 10);
        };
        EXPECT_EQ(error_of(2, seed, body), no_error);
    }
}

}  // namespace
}  // namespace heddle::testing_group_errors
