// Runs fork/join programs in the in-process world: every stealing policy and many interleavings, one answer.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <tuple>

#include "base/error.hpp"
#include "model/fork_join.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/stealing/policy.hpp"

namespace heddle {
namespace {

using model::Strand;

struct TestFib {
    static std::uint64_t run(Strand strand, std::uint32_t n) {
        strand.work();
        if (n < 2) return n;
        strand.fork<TestFib>(n - 1);
        const auto second = strand.call<TestFib>(n - 2);
        return strand.join<TestFib>() + second;
    }
};

/// Forks all children before it joins any: a wide, shallow deque, and arguments of several types.
struct Wide {
    static std::uint64_t run(Strand strand, std::uint32_t children, std::uint8_t depth, double weight) {
        strand.work();
        if (depth == 0) return static_cast<std::uint64_t>(weight);
        for (std::uint32_t i = 0; i < children; ++i) {
            strand.fork<Wide>(children, static_cast<std::uint8_t>(depth - 1), weight + i);
        }
        std::uint64_t sum = 0;
        strand.join_all<Wide>(static_cast<std::int32_t>(children),
                              [&](std::uint64_t below) { sum += below; });
        return sum;
    }
};

struct Triple {
    std::uint64_t first;
    std::uint64_t second;
    std::uint64_t more;  ///< makes it one that a function returns in memory
};

/// What a function that reads its arguments in place must not notice: that its result is made where they
/// were, and that its first fork is.
struct Mirror {
    static constexpr bool in_place = true;
    static Triple run(Strand strand, const Triple& given, const std::uint32_t& depth) {
        strand.work();
        Triple result{};
        if (depth == 0) {
            put(result.first, given.second);
            put(result.second, given.first);
            put(result.more, 1);
            return result;
        }
        const auto [first, second, more] = given;
        const std::uint32_t below = depth - 1;
        strand.fork<Mirror>(Triple{first + below, second, more}, below);
        strand.fork<Mirror>(Triple{second, first, more}, below);
        for (int i = 0; i < 2; ++i) {
            const Triple part = strand.join<Mirror>();
            result.first += part.first;
            result.second += 3 * part.second;
            result.more += part.more;
        }
        return result;
    }
    static Triple alone(Triple given, std::uint32_t depth) {
        if (depth == 0) return {given.second, given.first, 1};
        const Triple a = alone({given.first + depth - 1, given.second, 0}, depth - 1);
        const Triple b = alone({given.second, given.first, 0}, depth - 1);
        return {a.first + b.first, 3 * (a.second + b.second), a.more + b.more};
    }

private:
    [[gnu::noinline]] static void put(std::uint64_t& to, std::uint64_t value) { to = value; }
};

/// Structs that go in one register and in two, the second with a hole, beside an odd byte.
struct Range {
    std::uint16_t from;
    std::uint16_t step;
    std::uint32_t count;
};
struct Scale {
    std::uint8_t times;
    double offset;
};
struct Sum {
    static double run(Strand strand, Range range, std::uint8_t depth, Scale scale) {
        strand.work();
        if (range.count == 1 || depth == 0) return alone(range, scale);
        const std::uint32_t half = range.count / 2;
        const auto upper = static_cast<std::uint16_t>(range.from + range.step * half);
        const auto below = static_cast<std::uint8_t>(depth - 1);
        strand.fork<Sum>(Range{range.from, range.step, half}, below, [&] { return scale; });
        strand.fork<Sum>(Range{upper, range.step, range.count - half}, below, scale);
        const double sum = strand.join<Sum>();
        return sum + strand.join<Sum>();
    }
    static double alone(Range range, Scale scale) {
        double sum = 0;
        double value = range.from;
        for (std::uint32_t i = 0; i < range.count; ++i, value += range.step)
            sum += scale.times * value + scale.offset;
        return sum;
    }
};

class FunctionProgram final : public model::ForkJoinProgram {
public:
    explicit FunctionProgram(std::function<double(Strand)> function) : function_(std::move(function)) {}
    runtime::Work unit() const override { return {1, 0}; }
    void root(Strand strand) override { answer_ = {{"value", function_(strand)}}; }
    runtime::Answer answer() const override { return answer_; }

private:
    std::function<double(Strand)> function_;
    runtime::Answer answer_;
};

struct Shape {
    NodeId nodes;
    CoreId cores;
};

runtime::RunResult run(const inprocess::Options& options, const runtime::Schedule& schedule,
                       const std::function<double(Strand)>& function) {
    inprocess::InprocessBackend backend(options);
    runtime::Execution execution(backend, schedule,
                                 [&](NodeId) { return std::make_unique<FunctionProgram>(function); });
    return execution.run();
}

double fib15(Strand strand) {
    return static_cast<double>(strand.call<TestFib>(15U));
}
double wide(Strand strand) {
    return static_cast<double>(strand.call<Wide>(5U, std::uint8_t{4}, 1.0));
}

double wider(Strand strand) {
    return static_cast<double>(strand.call<Wide>(11U, std::uint8_t{2}, 1.0));
}
double mirror(Strand strand) {
    const Triple pair = strand.call<Mirror>(Triple{2, 5, 0}, 8U);
    return static_cast<double>((pair.first * 1'000'000 + pair.second) * 1'000 + pair.more);
}

double structs(Strand strand) {
    return strand.call<Sum>(Range{3, 7, 100}, std::uint8_t{5}, Scale{2, 0.25});
}

class CoreUnderPolicy
    : public testing::TestWithParam<std::tuple<std::string, bool, runtime::Stealing::Amount>> {};

TEST_P(CoreUnderPolicy, GivesTheSequentialAnswerInEveryInterleaving) {
    const auto& [victim, gate_open, amount] = GetParam();
    runtime::Schedule schedule;
    schedule.stealing.victim = victim;
    schedule.stealing.amount = amount;
    schedule.stealing.retries = 2;
    // Short against the length of the runs, so that thieves are everywhere.
    schedule.stealing.back_off_min = std::chrono::nanoseconds(2);
    schedule.stealing.back_off_max = std::chrono::nanoseconds(50);
    std::uint64_t steals = 0;
    for (const Shape shape : {Shape{1, 1}, Shape{1, 3}, Shape{2, 1}, Shape{3, 2}, Shape{7, 2}}) {
        for (std::uint64_t seed = 0; seed < 24; ++seed) {
            schedule.seed = seed;
            schedule.stealing.busy =
                seed % 2 == 0 ? runtime::Stealing::Busy::refuse : runtime::Stealing::Busy::wait;
            inprocess::Options options{shape.nodes, shape.cores, seed, gate_open};
            for (NodeId node = 0; node < shape.nodes; ++node)
                options.group.push_back(static_cast<std::uint32_t>(node % (1 + seed % 3)));
            // fib(15) makes 1,973 calls, of which 986 are forks (OEIS A001595); 5^4 leaves of Wide carry 1 +
            // the digits of their path.
            const auto fib = run(options, schedule, fib15);
            ASSERT_EQ(fib.answer.at(0).value, 610);
            ASSERT_EQ(fib.total.tasks, 987);
            const auto tree = run(options, schedule, wide);
            ASSERT_EQ(tree.answer.at(0).value, 625 * (1 + 4 * 2));
            ASSERT_EQ(tree.total.tasks, 1 + 5 + 25 + 125 + 625);
            ASSERT_EQ(run(options, schedule, wider).answer.at(0).value, 121 * (1 + 5 * 2));
            const auto in_place = run(options, schedule, mirror);
            const Triple alone = Mirror::alone({2, 5, 0}, 8);
            ASSERT_EQ(in_place.answer.at(0).value,
                      static_cast<double>((alone.first * 1'000'000 + alone.second) * 1'000 + alone.more));
            // 100 terms of 2 (3 + 7 i) + 1/4.
            ASSERT_EQ(run(options, schedule, structs).answer.at(0).value, 2 * (300 + 7 * 4950) + 25);
            steals += fib.total.steals_within_node + fib.total.steals_between_nodes;
            std::uint64_t matrix = 0;
            for (const auto& [pair, tasks] : fib.steals) {
                ASSERT_NE(pair.first, pair.second);
                matrix += tasks;
            }
            ASSERT_EQ(matrix, fib.total.steals_between_nodes);
        }
    }
    if (victim == "none") {
        EXPECT_EQ(steals, 0);
    } else if (!gate_open) {
        EXPECT_GT(steals, 1000);  // over 240 runs
    }
}

std::string name_of(runtime::Stealing::Amount amount) {
    constexpr std::array names{"_one", "_half", "_donation"};
    return names.at(static_cast<std::size_t>(amount));
}

INSTANTIATE_TEST_SUITE_P(All, CoreUnderPolicy,
                         testing::Combine(testing::ValuesIn(runtime::victim_policies()), testing::Bool(),
                                          testing::Values(runtime::Stealing::Amount::one,
                                                          runtime::Stealing::Amount::half,
                                                          runtime::Stealing::Amount::donation)),
                         [](const auto& parameters) {
                             return std::get<0>(parameters.param) +
                                    (std::get<1>(parameters.param) ? "_open" : "_charged") +
                                    name_of(std::get<2>(parameters.param));
                         });

TEST(Core, ReplaysASeedExactly) {
    runtime::Schedule schedule;
    schedule.stealing.victim = "hierarchical";
    const auto once = [&](std::uint64_t seed) {
        const auto result = run({4, 2, seed}, schedule, fib15);
        return std::tuple(result.makespan, result.total.steals_within_node, result.steals,
                          result.total.messages);
    };
    EXPECT_EQ(once(5), once(5));
    EXPECT_NE(once(5), once(6));
}

// A busy node holds a request until it has a task to answer with: few requests fail.
TEST(Core, RequestsThatWaitAreSeldomInVain) {
    runtime::Schedule schedule;
    schedule.stealing.victim = "random";
    const auto in_vain = [&](runtime::Stealing::Busy busy) {
        schedule.stealing.busy = busy;
        double attempts = 0, steals = 0;
        for (schedule.seed = 0; schedule.seed < 50; ++schedule.seed) {
            const auto result = run({2, 1, schedule.seed}, schedule, fib15);
            EXPECT_EQ(result.answer.at(0).value, 610);
            attempts += static_cast<double>(result.total.steal_attempts);
            steals += static_cast<double>(result.total.steals_between_nodes);
        }
        EXPECT_GT(steals, 20);
        return 1 - steals / attempts;
    };
    EXPECT_LT(in_vain(runtime::Stealing::Busy::wait), in_vain(runtime::Stealing::Busy::refuse) / 2);
}

TEST(Core, FullDequeIsAnErrorThatNamesTheSetting) {
    runtime::Schedule schedule;
    schedule.deque_slots = 100;
    try {
        run({1, 1}, schedule,
            [](Strand strand) { return static_cast<double>(strand.call<Wide>(200U, std::uint8_t{1}, 0.0)); });
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("schedule.deque_slots"), std::string::npos);
    }
}

TEST(Core, UnknownPolicyNamesTheNearest) {
    runtime::Schedule schedule;
    schedule.stealing.victim = "hirarchical";
    try {
        run({1, 1}, schedule, fib15);
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("hierarchical"), std::string::npos);
    }
}

struct LocalOnly {
    static const char* run(Strand, const char* text) { return text; }
};
struct Travels {
    static void run(Strand, std::uint32_t, double) {}
};

TEST(Core, ATaskWithAnAddressDoesNotTravel) {
    EXPECT_FALSE(model::TaskFunction<LocalOnly>::type.travels());
    EXPECT_TRUE(model::TaskFunction<Travels>::type.travels());
}

}  // namespace
}  // namespace heddle
