// Tests dataflow programs natively, in simulation and in-process: their answers are those of the sequential
// program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <ctime>
#include <deque>

#include "model/dataflow.hpp"
#include "runtime/native/native_backend.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::dataflow {
namespace {

using testing_strands::World;
using testing_strands::worlds;

void sum(Thread& /*self*/, shared_r<long> res1, shared_r<long> res2, shared_w<long> res) {
    res = res1 + res2;
}

void fibonacci(Thread& self, int n, shared_w<long> res) {
    if (n < 2) {
        res = n;
    } else {
        shared<long> res1(self);
        shared<long> res2(self);
        self.fork<fibonacci>(n - 1, res1);
        self.fork<fibonacci>(n - 2, res2);
        self.fork<sum>(res1, res2, res);
    }
}

class MainTask final : public DataflowProgram {
public:
    using Body = std::function<void(Thread&)>;
    explicit MainTask(Body body, std::uint64_t window = 0) : body_(std::move(body)), window_(window) {}
    void main(Thread& self) override { body_(self); }
    std::uint64_t window() const override { return window_; }
    runtime::Answer answer() const override { return {}; }

private:
    Body body_;
    std::uint64_t window_;
};

class Dataflow : public testing::TestWithParam<World> {
protected:
    void run(NodeId nodes, CoreId cores, const MainTask::Body& body) {
        GetParam().run(nodes, cores, [&](NodeId) { return std::make_unique<MainTask>(body); });
    }
};

INSTANTIATE_TEST_SUITE_P(Worlds, Dataflow, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(Dataflow, FibonacciOfFigure1) {
    for (const NodeId nodes : {1, 3}) {
        for (const CoreId cores : {1, 2, 3}) {
            long found = 0;
            run(GetParam().one_node ? 1 : nodes, cores, [&](Thread& self) {
                shared<long> res(self);
                self.fork<fibonacci>(16, res);
                self.sync();
                found = res.read();
            });
            EXPECT_EQ(found, 987);
        }
    }
}

// --- one thing at a time

static_assert(Task<sum>::bytes <= 160, "a closure with three accesses");

struct Plus {
    void operator()(long& into, long from) const { into += from; }
};

void add(Thread& self, long value, shared_cw<long, Plus> to) {
    to.add(value);
    if (value > 1) self.fork<add>(value - 1, to);
}

void set(Thread& /*self*/, long value, shared_w<long> to) {
    to = value;
}

void increase(Thread& /*self*/, shared_rw<long> value) {
    ++value.value();
}

TEST_P(Dataflow, AccumulatesFromTasksOfTasks) {
    long found = 0;
    run(GetParam().one_node ? 1 : 2, 2, [&](Thread& self) {
        shared<long> total(self);
        for (long i = 1; i <= 40; ++i) self.fork<add>(i, total);
        self.sync();
        found = total.read();
    });
    EXPECT_EQ(found, 11480);
}

TEST_P(Dataflow, KeepsTheOrderOfWritesAndReads) {
    long found = 0;
    run(GetParam().one_node ? 1 : 3, 3, [&](Thread& self) {
        shared<long> value(self, 1);
        shared<long> twice(self);
        for (long i = 0; i < 100; ++i) {
            self.fork<sum>(value, value, twice);
            self.fork<sum>(twice, value, value);  // value is given twice: it is changed
            self.fork<increase>(value);
            if (i % 10 == 0) self.fork<set>(i, value);
        }
        self.sync();
        found = value.read();
    });
    long value = 1;
    for (long i = 0; i < 100; ++i) {
        value = 2 * value + value + 1;
        if (i % 10 == 0) value = i;
    }
    EXPECT_EQ(found, value);
}

void next_of(Thread& /*self*/, shared_r<long> value, shared_rw<long> sum) {
    sum.value() = static_cast<long>(static_cast<unsigned long>(sum.read()) * 3 +
                                    static_cast<unsigned long>(value.read()));
}

TEST_P(Dataflow, AWindowBoundsTheMemoryOfABodyThatForksWithoutEnd) {
    constexpr long forks = 20'000;
    constexpr std::uint64_t window = 1000;
    std::size_t bytes = 0;
    long found = 0;
    GetParam().run(1, 2, [&](NodeId) {
        return std::make_unique<MainTask>(
            [&](Thread& self) {
                shared<long> one(self, 1);
                shared<long> sum(self, 0);
                for (long i = 0; i < forks; ++i) {
                    self.fork<next_of>(one, sum);
                    bytes = std::max(bytes, self.stack_bytes());
                }
                self.sync();
                found = sum.read();
            },
            window);
    });
    long expected = 0;
    for (long i = 0; i < forks; ++i)
        expected = static_cast<long>(static_cast<unsigned long>(expected) * 3 + 1);
    EXPECT_EQ(found, expected);
    EXPECT_LE(bytes, 2 * window * 160);
}

void set_one(Thread& /*self*/, shared_w<long> object) {
    object = 1;
}

// More workers than cores: so the owner is often interrupted within a fork, and the task has ended before the
// fork has.
TEST(DataflowForks, ATaskMayEndBeforeItsForkHas) {
    for (int run = 0; run < 20; ++run) {
        long found = 0;
        native::NativeOptions options;
        options.cores = 8;
        native::NativeBackend backend(options);
        const auto make = [&](NodeId) {
            return std::make_unique<MainTask>([&](Thread& self) {
                std::deque<shared<long>> all;
                for (long i = 0; i < 5000; ++i) {
                    all.emplace_back(self);
                    self.fork<set_one>(all.back());
                    for (volatile int pause = 0; pause < 1000;) pause = pause + 1;  // thieves look meanwhile
                }
                self.sync();
                for (const auto& object : all) found += object.read();
            });
        };
        runtime::Execution(backend, {}, make).run();
        ASSERT_EQ(found, 5000);
    }
}

TEST(DataflowWindow, IsASettingOfTheSchedule) {
    constexpr long forks = 20'000;
    std::size_t bytes = 0;
    for (const std::uint64_t window : {0, 1000}) {
        bytes = 0;
        inprocess::InprocessBackend backend({});
        runtime::Schedule schedule;
        schedule.fork_window = window;
        runtime::Execution(backend, schedule, [&](NodeId) {
            return std::make_unique<MainTask>([&](Thread& self) {
                shared<long> one(self, 1);
                shared<long> sum(self, 0);
                for (long i = 0; i < forks; ++i) self.fork<next_of>(one, sum);
                bytes = self.stack_bytes();
            });
        }).run();
        if (window == 0) {
            EXPECT_GT(bytes, forks * 100);
        } else {
            EXPECT_LE(bytes, 2 * window * 160);
        }
    }
}

/// What the process computes while one worker forks and runs tasks in one body.
double seconds_of(long forks, std::uint64_t window) {
    const std::clock_t begin = std::clock();
    native::NativeOptions options;
    options.cores = 1;
    native::NativeBackend backend(options);
    const auto make = [&](NodeId) {
        return std::make_unique<MainTask>(
            [&](Thread& self) {
                shared<long> one(self, 1);
                shared<long> sum(self, 0);
                for (long i = 0; i < forks; ++i) self.fork<next_of>(one, sum);
            },
            window);
    };
    runtime::Execution(backend, {}, make).run();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// The tasks were counted one by one at each new block of the stack: seconds.
TEST(DataflowWindow, OneThatIsNeverFullCostsNothing) {
    constexpr long forks = 400'000;
    EXPECT_LE(seconds_of(forks, 1'000'000), 5 * seconds_of(forks, 0) + 0.2);
}

bool next_has_run = false;

void say_run(Thread& /*self*/, shared_w<long> object) {
    object = 1;
    next_has_run = true;
}

void fork_one(Thread& self, shared_wp<long> object) {
    next_has_run = false;
    self.fork<say_run>(object);
    EXPECT_FALSE(next_has_run);
}

struct Large {
    std::array<std::byte, 2 * Stack::block_bytes> bytes;
};

// The body fills a block by an object, and forks nothing afterwards.
TEST(DataflowWindow, OfOneBodyDoesNotMakeTheNextWait) {
    inprocess::InprocessBackend backend({});
    const auto make = [&](NodeId) {
        return std::make_unique<MainTask>(
            [&](Thread& self) {
                shared<long> object(self);
                self.fork<fork_one>(object);
                self.fork<fork_one>(object);
                const shared<Large> large(self);
            },
            2);
    };
    runtime::Execution(backend, {}, make).run();
    EXPECT_TRUE(next_has_run);
}

/// A value with a destructor, which is counted.
struct Counted {
    explicit Counted(std::atomic<int>* among) : count(among) { ++*count; }
    Counted(const Counted& other) : count(other.count) { ++*count; }
    Counted& operator=(const Counted&) = default;
    ~Counted() { --*count; }
    static constexpr bool stays_on_node = true;
    std::atomic<int>* count;
};

void copy_counted(Thread& /*self*/, Counted /*value*/, shared_r<Counted> from, shared_w<Counted> to) {
    to.make(from.read());
}

TEST_P(Dataflow, EndsEveryValue) {
    std::atomic<int> count{0};
    run(1, 3, [&](Thread& self) {
        shared<Counted> first(self, Counted(&count));
        for (int i = 0; i < 50; ++i) {
            shared<Counted> next(self);
            self.fork<copy_counted>(Counted(&count), first, next);
            self.fork<copy_counted>(Counted(&count), next, first);
        }
    });
    EXPECT_EQ(count, 0);
}

void give_twice(Thread& self, shared_w<long> to) {
    self.fork<set>(1, to);
    self.fork<set>(2, to);
}

void write_after(Thread& self, shared_w<long> to) {
    self.fork<set>(1, to);
    to = 2;
}

void only_here(Thread& /*self*/, int* /*address*/) {}

/// What ends a run on `nodes` nodes of the small world.
std::string error_of(NodeId nodes, const MainTask::Body& body) {
    return testing_strands::error_of([&] {
        testing_strands::inprocess_world("errors", 1, true).run(nodes, 2, [&](NodeId) {
            return std::make_unique<MainTask>(body);
        });
    });
}

TEST(DataflowErrors, AReadBeforeAnyWrite) {
    const std::string error = error_of(1, [](Thread& self) {
        shared<long> empty(self);
        shared<long> to(self);
        self.fork<sum>(empty, empty, to);
    });
    EXPECT_THAT(error, testing::HasSubstr("no task has written before"));
}

TEST(DataflowErrors, AnObjectPassedOnToBeWrittenAndThenWritten) {
    for (const bool twice : {false, true}) {
        const std::string error = error_of(1, [&](Thread& self) {
            shared<long> to(self);
            twice ? self.fork<give_twice>(to) : self.fork<write_after>(to);
        });
        EXPECT_THAT(error, testing::HasSubstr("after it has passed it on"));
    }
}

TEST(DataflowErrors, AReadWhileTasksMayWrite) {
    const std::string error = error_of(1, [](Thread& self) {
        shared<long> to(self);
        self.fork<set>(1, to);
        static_cast<void>(to.read());
    });
    EXPECT_THAT(error, testing::HasSubstr("call sync()"));
}

TEST(DataflowErrors, AParameterThatCannotTravel) {
    const MainTask::Body body = [](Thread& self) { self.fork<only_here>(nullptr); };
    EXPECT_EQ(error_of(1, body), "no error");
    EXPECT_THAT(error_of(2, body), testing::HasSubstr("cannot travel"));
}

TEST(DataflowStack, GivesContiguousMemoryOfAnySizeAndTakesItBack) {
    Stack stack;
    std::byte* const begin = stack.top();
    static_cast<void>(stack.take(100));
    std::byte* const mark = stack.top();
    for (std::size_t bytes = 16; bytes < 4 * Stack::block_bytes; bytes *= 2)
        std::memset(stack.take(bytes), 1, bytes);
    EXPECT_GE(stack.bytes(), 4 * Stack::block_bytes);
    stack.back_to(mark);
    EXPECT_EQ(stack.top(), mark);
    stack.back_to(begin);
    EXPECT_LE(stack.bytes(), Stack::block_bytes);  // one is kept
}

}  // namespace
}  // namespace heddle::dataflow
