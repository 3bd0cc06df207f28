// Tests what it costs in simulation if a thief searches a dataflow thread. It pays for each access that it
// examines, and only one thief searches a thread at a time.
#include <gtest/gtest.h>

#include "model/dataflow.hpp"
#include "runtime/run/execution.hpp"
#include "sim/sim_backend.hpp"

namespace heddle::dataflow {
namespace {

using namespace std::chrono_literals;

void write_one(Thread& self, shared_w<int> object) {
    self.work(1000);
    object = 1;
}

/// Forks tasks of a millisecond, and works for another millisecond while thieves take them.
class Forker final : public DataflowProgram {
public:
    explicit Forker(std::size_t tasks, std::uint64_t microseconds = 1000)
        : tasks_(tasks), microseconds_(microseconds) {}
    runtime::Work unit() const override { return {1000, 0}; }  // a microsecond
    void main(Thread& self) override {
        for (std::size_t i = 0; i < tasks_; ++i) {
            const shared<int> object(self);
            self.fork<write_one>(object);
        }
        self.work(microseconds_);
    }
    runtime::Answer answer() const override { return {}; }

private:
    std::size_t tasks_;
    std::uint64_t microseconds_;
};

double readiness_steps(const runtime::RunResult& result) {
    for (const runtime::AnswerValue& value : result.answer)
        if (value.name == "readiness_steps") return value.value;
    return -1;
}

/// On two cores of that speed.
runtime::RunResult run(double core_speed, const runtime::ProgramFactory& make) {
    Platform platform;
    platform.cores = 2;
    platform.core_speed = core_speed;
    platform.overheads = {};
    platform.overheads.steal_attempt = 1ns;
    sim::SimBackend backend(platform, {});
    return runtime::Execution(backend, {}, make).run();
}

Time makespan(CoreId cores, Time readiness) {
    Platform platform;
    platform.cores = cores;
    platform.core_speed = 1e9;
    platform.overheads = {};
    platform.overheads.steal_attempt = 1ns;  // so that a search takes time
    platform.overheads.readiness = readiness;
    sim::SimBackend backend(platform, {});
    const auto make = [&](NodeId) { return std::make_unique<Forker>(cores - 1); };
    return runtime::Execution(backend, {}, make).run().makespan;
}

// k thieves look at 1, 2, ..., k accesses, and the last one begins when the others have looked. A thief first
// looks within some microseconds.
TEST(SimulatedLooks, AreOneAfterTheOther) {
    for (const CoreId thieves : {1U, 2U, 3U, 4U}) {
        const auto cores = static_cast<CoreId>(thieves + 1);
        const Time looks = thieves * (thieves + 1) / 2 * 100us;
        EXPECT_GE(makespan(cores, 100us), 1ms + looks) << thieves;
        EXPECT_LT(makespan(cores, 100us), 1ms + looks + 50us) << thieves;
        EXPECT_LT(makespan(cores, 0us), 1ms + 50us) << thieves;
    }
}

// Its owner works in its body meanwhile, so all tasks that have ended are before the next one. A look that
// begins with them goes through 1024 at most.
TEST(SimulatedLooks, GoOnWhereTheLastOneEnded) {
    constexpr std::size_t tasks = 2000;
    const runtime::RunResult result =
        run(1e12, [&](NodeId) { return std::make_unique<Forker>(tasks, 10'000'000); });
    EXPECT_EQ(result.nodes.front().steals_within_node, tasks);
    EXPECT_LT(readiness_steps(result), 2 * tasks);
}

/// Forks so many tasks, the last one after a while. Then it works for long.
class ForkerOfMany final : public DataflowProgram {
public:
    explicit ForkerOfMany(std::size_t tasks) : tasks_(tasks) {}
    runtime::Work unit() const override { return {1000, 0}; }
    void main(Thread& self) override {
        for (std::size_t i = 0; i < tasks_; ++i) {
            if (i + 1 == tasks_) self.work(100'000);
            const shared<int> object(self);
            self.fork<write_one>(object);
        }
        self.work(10'000'000'000);
    }
    runtime::Answer answer() const override { return {}; }

private:
    std::size_t tasks_;
};

// A look with notes of 65,536 objects does not go on. The next one goes through all that have ended, and may
// then have notes of twice as many.
TEST(SimulatedLooks, GoOnOverManyObjects) {
    constexpr std::size_t tasks = 200'000;
    const runtime::RunResult result =
        run(1e12, [&](NodeId) { return std::make_unique<ForkerOfMany>(tasks); });
    EXPECT_EQ(result.nodes.front().steals_within_node, tasks);
    EXPECT_GT(readiness_steps(result), tasks + 150'000);
    EXPECT_LT(readiness_steps(result), 2 * tasks);
}

/// Forks a task after the other, each when a thief has run the one before.
class SlowForker final : public DataflowProgram {
public:
    runtime::Work unit() const override { return {1000, 0}; }
    void main(Thread& self) override {
        for (std::size_t i = 0; i < 200; ++i) {
            const shared<int> object(self);
            self.fork<write_one>(object);
            self.work(2000);
        }
    }
    runtime::Answer answer() const override { return {}; }
};

// A task that has ended leaves the frame at the next fork. So each look is at one.
TEST(SimulatedLooks, AreNotAtTasksThatHaveEndedBeforeAFork) {
    const runtime::RunResult result = run(1e9, [&](NodeId) { return std::make_unique<SlowForker>(); });
    EXPECT_EQ(result.nodes.front().steals_within_node, 200);
    EXPECT_LE(readiness_steps(result), 600);
}

void first_of_two(Thread& self, shared_w<int> object) {
    self.work(50);
    object = 1;
}

void long_one(Thread& self, shared_r<int> /*object*/, shared_w<int> result) {
    self.work(1'000'000);
    result = 1;
}

/// A short task, and two long ones that need its value.
class ForkerOfTwo final : public DataflowProgram {
public:
    runtime::Work unit() const override { return {1000, 0}; }
    void main(Thread& self) override {
        const shared<int> object(self);
        const shared<int> one(self);
        const shared<int> two(self);
        self.fork<first_of_two>(object);
        self.fork<long_one>(object, one);
        self.fork<long_one>(object, two);
    }
    runtime::Answer answer() const override { return {}; }
};

// The look while the short task runs takes 5 accesses of 10 us and finds nothing. So the owner offers nothing
// for 200 us, within which it begins a long one. The thief takes the other one after these.
TEST(SimulatedLooks, ThatFindNothingAreRepeatedDuringALongBody) {
    Platform platform;
    platform.cores = 2;
    platform.core_speed = 1e9;
    platform.overheads = {};
    platform.overheads.steal_attempt = 1ns;
    platform.overheads.readiness = 10us;
    sim::SimBackend backend(platform, {});
    const auto make = [](NodeId) { return std::make_unique<ForkerOfTwo>(); };
    const runtime::RunResult result = runtime::Execution(backend, {}, make).run();
    EXPECT_EQ(result.nodes.front().steals_within_node, 1);
    EXPECT_GE(result.makespan, 1s + 200us);
    EXPECT_LT(result.makespan, 1s + 500us);
}

void work_for(Thread& self, std::uint64_t microseconds, shared_w<int> object) {
    self.work(microseconds);
    object = 1;
}

/// Forks a task, which the thief has for so long, and then 10,000 tasks of 50 us. Then it works.
class ForkerUnasked final : public DataflowProgram {
public:
    ForkerUnasked(Time thief_busy, Time works) : thief_busy_(thief_busy), works_(works) {}
    runtime::Work unit() const override { return {1000, 0}; }
    void main(Thread& self) override {
        fork(self, thief_busy_);
        self.work(1000);
        for (int i = 0; i < 10'000; ++i) fork(self, 50us);
        self.work(microseconds(works_));
    }
    runtime::Answer answer() const override { return {}; }

private:
    static std::uint64_t microseconds(Time time) { return static_cast<std::uint64_t>(time / 1us); }
    static void fork(Thread& self, Time works) {
        const shared<int> object(self);
        self.fork<work_for>(microseconds(works), object);
    }

    Time thief_busy_;
    Time works_;
};

// No worker has asked while it forked. The tasks take 0.5 s.
TEST(SimulatedThreads, AreOpenToThievesDuringALongBodyThatHasForkedMuch) {
    const runtime::RunResult result =
        run(1e9, [](NodeId) { return std::make_unique<ForkerUnasked>(20ms, 1s); });
    EXPECT_EQ(result.nodes.front().steals_within_node, 10'001);
    EXPECT_GE(result.makespan, 1s + 1ms);
    EXPECT_LT(result.makespan, 1s + 2ms);
}

// Its owner has run 4000 tasks when the thief asks. Both share the others: 0.2 s + 0.3 s / 2.
TEST(SimulatedThreads, OpenForAThiefThatAsksWhenTheyHaveBecomePrivate) {
    const runtime::RunResult result =
        run(1e9, [](NodeId) { return std::make_unique<ForkerUnasked>(200ms, 0s); });
    EXPECT_GT(result.nodes.front().steals_within_node, 2900);
    EXPECT_LT(result.makespan, 352ms);
}

}  // namespace
}  // namespace heddle::dataflow
