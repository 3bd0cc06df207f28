// Collective calls of arrays that are only declared: they pass in every world, take as long as with elements
// in simulation, and end in an error where one rank has elements and another one has none.
#include "model/spmd/declared.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/spmd/redistribution.hpp"
#include "runtime/run/execution.hpp"
#include "tests/spmd_programs.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;
using testing::HasSubstr;
using testing_strands::World;
using testing_strands::worlds;

/// Each operation by each algorithm, and a transpose. A node's threads share its arrays.
class Calls final : public SpmdProgram {
public:
    Calls(SpmdOptions options, Index count, bool declared)
        : SpmdProgram(std::move(options)), count_(count), declared_(declared) {}

    void main(Spmd& self) override {
        const bool alone = self.ranks() != self.nodes();
        Arrays own;
        Arrays& arrays = alone ? own : shared_;
        const bool first = alone || self.thread_rank() == 0;
        for (const Algorithm& algorithm : all_algorithms()) {
            const Task task{algorithm.operation, self.ranks(), self.ranks() / 2, count_, 1, true};
            const Index in = input_size(task, self.rank());
            const Index out = output_size(task, self.rank());
            if (first && !declared_) arrays = {std::vector<Value>(in), std::vector<Value>(out)};
            self.barrier();
            if (declared_) {
                call_with(self, task, algorithm.name, Declared<Value>(in), Declared<Value>(out), add);
            } else {
                call_with(self, task, algorithm.name, arrays.in, arrays.out, add);
            }
        }
        transpose(self, arrays, first);
    }
    runtime::Answer answer() const override { return {}; }

private:
    struct Arrays {
        std::vector<Value> in, out;
    };

    void transpose(Spmd& self, Arrays& arrays, bool first) const {
        const Dimension dealt{
            .extent = 2 * self.ranks() + 1, .nodes = Distribution::cyclic(), .node_parts = self.ranks()};
        const Layout from({dealt, {.extent = count_}});
        const Layout to({{.extent = count_}, dealt});
        const auto what = Redistribution::transposed(from, to);
        const Index in = what.input_elements(self.rank());
        const Index out = what.output_elements(self.rank());
        if (declared_) return redistribute(self, what, Declared<Value>(in), Declared<Value>(out));
        if (first) arrays = {std::vector<Value>(in), std::vector<Value>(out)};
        redistribute(self, what, arrays.in, arrays.out);
    }

    Index count_;
    bool declared_;
    Arrays shared_;
};

class SpmdDeclared : public testing::TestWithParam<World> {
protected:
    static NodeId nodes(NodeId wanted) { return GetParam().one_node ? 1 : wanted; }
};

INSTANTIATE_TEST_SUITE_P(Worlds, SpmdDeclared, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

// Each receive compares what has come with what its step expects. 70,000 elements of 16 bytes travel in two
// parts.
TEST_P(SpmdDeclared, PassesInEveryWorld) {
    for (const Index count : {1U, 3000U, 70'000U})
        GetParam().run(nodes(3), 2,
                       [&](NodeId) { return std::make_unique<Calls>(SpmdOptions{}, count, true); });
    GetParam().run(nodes(2), 2,
                   [&](NodeId) { return std::make_unique<Calls>(SpmdOptions{.ranks = flat}, 3000, true); });
}

#ifdef HEDDLE_SIM
struct Outcome {
    Time makespan;
    std::uint64_t messages;
    std::uint64_t bytes;
    std::vector<double> collective;

    bool operator==(const Outcome&) const = default;
};

Outcome simulated(const SpmdOptions& options, NodeId nodes, CoreId cores, Index count, bool declared) {
    Platform platform;
    platform.nodes = nodes;
    platform.cores = cores;
    sim::SimBackend backend(platform);
    const auto make = [&](NodeId) { return std::make_unique<Calls>(options, count, declared); };
    const runtime::RunResult result = runtime::Execution(backend, {}, make).run();
    Outcome outcome{result.makespan, result.total.messages, result.total.bytes, {}};
    for (const runtime::AnswerValue& value : result.answer) outcome.collective.push_back(value.value);
    return outcome;
}

// To the picosecond: copies and operators cost time there, and idle threads steal.
TEST(SpmdDeclaredSimulated, IsAsWithElements) {
    SpmdOptions overlapping;
    overlapping.crew.overlap = true;
    overlapping.crew.communicators = 2;
    for (const SpmdOptions& options : {SpmdOptions{}, overlapping, SpmdOptions{.ranks = flat}}) {
        for (const auto& [nodes, count] : {std::pair{5U, 1U}, {3U, 3000U}, {2U, 70'000U}}) {
            const Outcome expected = simulated(options, nodes, 2, count, false);
            EXPECT_EQ(simulated(options, nodes, 2, count, true), expected)
                << count << " elements, " << nodes << " nodes";
            EXPECT_GT(expected.bytes, count * sizeof(Value));
        }
    }
}

// 16 arrays of 16 GiB.
TEST(SpmdDeclaredSimulated, TakesNoMemory) {
    const auto make = [](NodeId) {
        return std::make_unique<MainFunction>(SpmdOptions{}, [](Spmd& self) {
            self.all_gather(Declared<double>(Index{1} << 27U),
                            Declared<double>((Index{1} << 27U) * self.ranks()));
        });
    };
    Platform platform;
    platform.nodes = 16;
    platform.cores = 1;
    sim::SimBackend backend(platform);
    const runtime::RunResult result = runtime::Execution(backend, {}, make).run();
    EXPECT_GT(result.total.bytes, std::uint64_t{16} * 15 << 30U);
}
#endif

TEST(SpmdDeclaredRefused, WhereOneRankHasElements) {
    const auto make = [](NodeId) {
        return std::make_unique<MainFunction>(SpmdOptions{}, [](Spmd& self) {
            std::vector<double> data(100);
            if (self.rank() == 0) return self.broadcast(data, 0);
            self.broadcast(Declared<double>(100), 0);
        });
    };
    inprocess::InprocessBackend backend({2, 1});
    EXPECT_THAT(
        testing_strands::error_of([&] { runtime::Execution(backend, {}, make).run(); }),
        HasSubstr("call 1 of rank 1 is broadcast (binomial) of 100 elements of 8 bytes with root 0, whose "
                  "data are only declared"));
}

}  // namespace
}  // namespace heddle::spmd
