// Tests programs while nodes join and leave, at a hundred seeds of interleavings and more.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "model/fork_join.hpp"
#include "runtime/core/node.hpp"
#include "tests/members_testing.hpp"
#include "tests/seeds.hpp"

namespace heddle {
namespace {

TEST(Members, NodesJoinAndLeaveAtAnyTimeAndTheAnswerStaysRight) {
    const testing_members::Changes changes = testing_members::run_seeds(1, testing_seeds::seeds(1200));
    // Else the test would show nothing.
    EXPECT_GT(changes.joined, testing_seeds::seeds(200));
    EXPECT_GT(changes.left, testing_seeds::seeds(400));
    EXPECT_GT(changes.joined_networks, testing_seeds::seeds(20));
    EXPECT_GT(changes.left_networks, testing_seeds::seeds(40));
}

// A leaver gives tasks to the next member in turn, which may have asked to leave.
TEST(Members, SeveralNodesLeaveWithinAFewSteps) {
    const auto all = testing_members::all_workloads();
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(600); ++seed) {
        const auto& stated = all[seed % all.size()];
        SCOPED_TRACE(stated.name + ", seed " + std::to_string(seed));
        auto [options, schedule] = testing_members::draw_changing_machine(seed);
        Random random = Random(seed).split(12);
        options.nodes = 4 + static_cast<NodeId>(random.below(3));
        options.cores = 2;
        options.routes = {};
        options.at_start = options.nodes;
        options.faults.delay_max = 1 + random.below(60);
        options.member_events.clear();
        std::uint64_t at = random.below(400);
        for (NodeId node = 1; node + 1 < options.nodes; ++node) {
            options.member_events.push_back({std::chrono::nanoseconds(at), node, false});
            at += random.below(40);
        }
        ASSERT_NO_THROW(testing_faults::run(stated, options, schedule));
        if (::testing::Test::HasFailure()) break;
    }
}

/// A tree that would take long; the leaf after `left` others ends the run.
struct Search {
    static std::uint64_t run(model::Strand strand, std::uint64_t left, std::uint32_t depth);
};

class SearchProgram final : public model::ForkJoinProgram {
public:
    explicit SearchProgram(std::atomic<std::int64_t>& left) : left_(left) {}
    void root(model::Strand strand) override { (void)strand.call<Search>(std::uint64_t{0}, 0U); }
    runtime::Answer answer() const override { return {}; }
    bool last() { return --left_ == 0; }

private:
    std::atomic<std::int64_t>& left_;
};

std::uint64_t Search::run(model::Strand strand, std::uint64_t path, std::uint32_t depth) {
    if (depth == 14) {
        runtime::Worker& worker = strand.worker();
        if (strand.program<SearchProgram>().last()) worker.node().end_run(worker, worker.outbox());
        return 1;
    }
    strand.fork<Search>(2 * path, depth + 1);
    const auto second = strand.call<Search>(2 * path + 1, depth + 1);
    return second + strand.join<Search>();
}

TEST(Members, DoNotStartAlongATree) {
    auto [options, schedule] = testing_members::draw_changing_machine(1);
    schedule.start = runtime::Start::tree;
    inprocess::InprocessBackend backend(options);
    std::atomic<std::int64_t> left = 0;
    EXPECT_THROW(
        runtime::Execution(backend, schedule, [&](NodeId) { return std::make_unique<SearchProgram>(left); }),
        Error);
}

TEST(Members, AProgramEndsItsRunWhileNodesJoinAndLeave) {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE(seed);
        auto [options, schedule] = testing_members::draw_changing_machine(seed);
        std::atomic<std::int64_t> left = static_cast<std::int64_t>(1 + Random(seed).below(1500));
        inprocess::InprocessBackend backend(options);
        runtime::Execution execution(backend, schedule,
                                     [&](NodeId) { return std::make_unique<SearchProgram>(left); });
        ASSERT_NO_THROW((void)execution.run());
    }
}

}  // namespace
}  // namespace heddle
