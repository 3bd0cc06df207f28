// Tests that a run of more than two seconds prints its progress, but only on a terminal or if asked to.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "model/fork_join.hpp"
#include "tests/cli_testing.hpp"
#include "workloads/workload.hpp"

namespace heddle::testing_cli {
namespace {

class Sleeper final : public model::ForkJoinProgram {
public:
    void root(model::Strand) override { std::this_thread::sleep_for(std::chrono::milliseconds(2800)); }
    runtime::Answer answer() const override { return {{"value", 1}}; }
};
class SleeperWorkload final : public workloads::Workload {
public:
    std::unique_ptr<runtime::Program> program(NodeId) const override { return std::make_unique<Sleeper>(); }
    workloads::Verdict check(const runtime::RunResult&) const override { return {}; }
    std::vector<const runtime::TaskType*> tasks() const override { return {}; }
};
const workloads::Registration registration{
    {"sleeper", "for this test", {}, [](const Settings&) -> std::unique_ptr<workloads::Workload> {
         return std::make_unique<SleeperWorkload>();
     }}};

class Progress : public Folder {};

TEST_F(Progress, IsALineOnStandardErrorWhereItIsAskedFor) {
    const std::string path = file("slow.yaml", "workload: {name: sleeper}\nplatform: {cores: 1}\n");
    const Said asked = heddle({"run", path, "--json", "--progress"});
    EXPECT_EQ(asked.code, 0);
    EXPECT_THAT(asked.err, testing::MatchesRegex("slow, seed 1: 1 tasks, at 2.* s, 2 s\n"));
    EXPECT_THAT(asked.out, testing::StartsWith("{"));
    const Said quiet = heddle({"run", path, "--json"});
    EXPECT_THAT(quiet.err, testing::IsEmpty());
}

}  // namespace
}  // namespace heddle::testing_cli
